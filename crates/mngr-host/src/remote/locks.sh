# Holds locks on files until its input ends; nobody is waited for.
#
# take WORD FD PATH [LINE]  takes the lock on PATH with the descriptor FD, adds LINE to the file, and says `WORD held PID
#                           BORN`, `WORD busy` or `WORD refused WHY`; PATH and LINE are quoted. PID is this shell and BORN
#                           when it began, as /proc has it: by them a request is told whether the lock is still held
# drop FD                   lets go of it
#
# What it says from time to time makes the system there notice that this machine has vanished from the network. It starts
# before there is any lock, so that it holds none; its last `sleep` outlives it and must hold no output: an engine of
# containers waits for the end of each.
{ while sleep 20 >/dev/null 2>&1; do echo; done; } </dev/null &
beat=$!
born=
if [ -r "/proc/$$/stat" ]; then
    read -r born <"/proc/$$/stat"
    set -- ${born##*')' }
    born=${20}
fi
refusal=
command -v flock >/dev/null || refusal='`flock` is not installed there'
while read -r verb word fd rest; do
    if [ "$verb" = drop ]; then
        eval "exec $word>&-"
        continue
    fi
    eval "set -- $rest"
    why=$refusal
    # A shell ends when `exec` cannot open a file, so that is tried before.
    [ -n "$why" ] || why=$( { : >>"$1"; } 2>&1 ) || why=${why:-it cannot be opened}
    if [ -n "$why" ]; then
        echo "$word refused $why"
        continue
    fi
    eval "exec $fd>>\"\$1\""
    if ! flock -n "$fd"; then
        said=busy
    elif [ $# -gt 1 ] && ! eval "printf '%s\\n' \"\$2\" >&$fd" 2>/dev/null; then
        # The shell does not say what is wrong; a program does.
        why=$( { eval "printf '\\n' | cat >&$fd"; } 2>&1 )
        said="refused ${why:-it cannot be written}"
    else
        echo "$word held $$ $born"
        continue
    fi
    eval "exec $fd>&-"
    echo "$word $said"
done
kill "$beat"
