# PID START TMUX WORD...: has the tmux server of the pane whose first process is PID, started at START, make its socket
# again, unless the words get an answer from a server. Prints one of
#   none                  that process is gone, or its parent is no tmux
#   answers PID           a server answers, so nothing was done
#   asked PID SOCKET      the server was told; its socket will be there
none() { echo none; exit 0; }

{ IFS= read -r line <"/proc/$1/stat"; } 2>/dev/null || none
supervisor=$1
start=$2
shift 2
# The name of a program may hold anything, so fields are counted from the last parenthesis. They are split on purpose.
parent=$(set -- ${line##*) } && shift 1 && parent=$1 && shift 18 && [ "$1" = "$start" ] && echo "$parent") || none
[ "${parent:-0}" -gt 1 ] || none
# The signal would end a stranger.
{ IFS= read -r name <"/proc/$parent/comm"; } 2>/dev/null || none
case $name in tmux*) ;; *) none ;; esac

# tmux would make its socket again even where another server has one: that server could not be reached any more.
answering=$("$@" 2>/dev/null)
if [ -n "$answering" ]; then
    echo "answers $answering"
    exit 0
fi
socket=$(tr '\0' '\n' <"/proc/$supervisor/environ" | sed -n 's/^TMUX=\(.*\),[0-9]*,[0-9]*$/\1/p' | head -n 1)
# Where the whole of TMUX_TMPDIR is gone, tmux looks in /tmp instead.
folder=${socket%/*}
case $folder in */tmux-*) [ -d "$folder" ] || mkdir -p -m 700 "$folder" 2>/dev/null ;; esac
kill -USR1 "$parent" && echo "asked $parent $socket"
