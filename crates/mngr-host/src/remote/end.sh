# Ends the request NONCE of the shell ID, with everything in its process group.
#
# usage: sh end.sh ID NONCE REPOSITORY; prints `ended` when it was ended
#
# The request may still be on its way: it finds `stop` when it arrives and does not begin. One that has begun may tidy up
# for a second: git removes its lock files, which would otherwise stand in everybody's way. It removes only those it has
# noted, so a request that works in a REPOSITORY is stopped, looked at, and asked when it has none open.

# Prints what is open in the group $1.
open_in() {
    for process in /proc/[0-9]*; do
        { IFS= read -r line <"$process/stat"; } || continue
        # The words are split on purpose.
        set -- "$1" ${line##*) }
        [ "$4" = "$1" ] || continue
        # One that does not stand still yet may hold anything.
        case $2 in T | t | Z | X | x) ;; *) echo running.lock ;; esac
        ls -l "$process/fd"
    done
}

# Whether the group $1 has a lock file of git open, or one that is newer than the request $2 is in the repository $3.
has_locks() {
    case $(open_in "$1" | grep '\.lock$' | grep -v '/mngr-[a-z]*\.lock$') in ?*) return 0 ;; esac
    own=$(cd "$3" && git rev-parse --git-dir --git-common-dir) || return 1
    (
        cd "$3" || exit 1
        printf '%s\n' "$own" | while IFS= read -r folder; do
            find "$folder" -maxdepth 1 -name '*.lock' ! -name 'mngr-*.lock' -newer "$2"
        done
    ) | grep -q .
}

attempt=0
while [ "$attempt" -lt 20 ]; do
    for base in "${TMPDIR:-/tmp}" /tmp /dev/shm "$HOME"; do
        dir=$base/.mngr-$1
        [ -d "$dir" ] || continue
        echo "$2" >"$dir/stop"
        nonce=; pid=
        read -r nonce pid <"$dir/pid"
        [ "$nonce $pid" = "$2 over" ] && exit 0
        [ "$nonce" = "$2" ] || continue
        looks=200
        while [ -n "$3" ] && [ "$looks" -gt 0 ] && kill -STOP "-$pid"; do
            has_locks "$pid" "$dir/run" "$3" || break
            kill -CONT "-$pid"
            looks=$((looks - 1))
            sleep 0.05
        done
        if kill -TERM "-$pid" || kill -TERM "$pid"; then
            kill -CONT "-$pid"
            left=20
            while [ "$left" -gt 0 ] && { kill -0 "-$pid" || kill -0 "$pid"; }; do
                left=$((left - 1))
                sleep 0.05
            done
            kill -KILL "-$pid" || kill -KILL "$pid"
            echo ended
            exit 0
        fi
    done 2>/dev/null
    attempt=$((attempt + 1))
    sleep 0.1
done
