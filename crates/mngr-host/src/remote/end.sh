# Ends the request NONCE of the shell ID, with everything in its process group.
#
# usage: sh end.sh ID NONCE; prints `ended` when it was ended
#
# The request may still be on its way: it finds `stop` when it arrives and does not begin. One that has begun may tidy up
# for a second: git removes its lock files, which would otherwise stand in everybody's way.
attempt=0
while [ "$attempt" -lt 20 ]; do
    for base in "${TMPDIR:-/tmp}" /tmp /dev/shm "$HOME"; do
        dir=$base/.mngr-$1
        [ -d "$dir" ] || continue
        echo "$2" >"$dir/stop"
        nonce=; pid=
        read -r nonce pid <"$dir/pid"
        [ "$nonce $pid" = "$2 over" ] && exit 0
        if [ "$nonce" = "$2" ] && { kill -TERM "-$pid" || kill -TERM "$pid"; }; then
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
