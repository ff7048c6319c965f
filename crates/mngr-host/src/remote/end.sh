# Ends the request NONCE of the shell ID, with everything in its process group.
#
# usage: sh end.sh ID NONCE; prints `ended` when it was ended
#
# The request may still be on its way: it finds `stop` when it arrives and does not begin.
attempt=0
while [ "$attempt" -lt 20 ]; do
    for base in "${TMPDIR:-/tmp}" /tmp /dev/shm "$HOME"; do
        dir=$base/.mngr-$1
        [ -d "$dir" ] || continue
        echo "$2" >"$dir/stop"
        nonce=; pid=
        read -r nonce pid <"$dir/pid"
        [ "$nonce $pid" = "$2 over" ] && exit 0
        if [ "$nonce" = "$2" ] && { kill -KILL "-$pid" || kill -KILL "$pid"; }; then
            echo ended
            exit 0
        fi
    done 2>/dev/null
    attempt=$((attempt + 1))
    sleep 0.1
done
