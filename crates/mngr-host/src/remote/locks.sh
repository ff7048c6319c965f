# Holds locks on files until its input ends; nobody is waited for.
#
# take WORD FD PATH    takes the lock on PATH, a quoted word, with the descriptor FD, and says `WORD held`, `WORD busy`
#                      or `WORD refused WHY`
# drop FD              lets go of it
#
# What it says from time to time makes the system there notice that this machine has vanished from the network. It starts
# before there is any lock, so that it holds none; its last `sleep` outlives it and must hold no output: an engine of
# containers waits for the end of each.
{ while sleep 20 >/dev/null 2>&1; do echo; done; } </dev/null &
beat=$!
refusal=
command -v flock >/dev/null || refusal='`flock` is not installed there'
while read -r verb word fd path; do
    if [ "$verb" = drop ]; then
        eval "exec $word>&-"
        continue
    fi
    eval "path=$path"
    why=$refusal
    # A shell ends when `exec` cannot open a file, so that is tried before.
    [ -n "$why" ] || why=$( { : >>"$path"; } 2>&1 ) || why=${why:-it cannot be opened}
    if [ -n "$why" ]; then
        echo "$word refused $why"
        continue
    fi
    eval "exec $fd>>\"\$path\""
    if flock -n "$fd"; then
        echo "$word held"
    else
        eval "exec $fd>&-"
        echo "$word busy"
    fi
done
kill "$beat"
