# Two things about processes, on a Linux /proc; what to do with them is decided elsewhere.
#
# table MARK            prints `stat LINE` of every process, and `marked PID` of those with MARK in their environment
# signal MS SIGNALS PID:START...
#                       sends the signals to each that still is the one that started then, waits until all are gone but
#                       at most so many milliseconds, and prints `left PID` of those that are not
LC_ALL=C
export LC_ALL

# Whether $1, `PID:START`, lives. The name of a program may hold anything, so fields are counted from the last parenthesis.
lives() {
    { IFS= read -r line <"/proc/${1%%:*}/stat"; } 2>/dev/null || return 1
    wanted=${1##*:}
    # The words are split on purpose.
    set -- ${line##*) }
    case $1 in Z | X | x) return 1 ;; esac
    shift 19
    [ "$1" = "$wanted" ]
}

case $1 in
table)
    for stat in /proc/[0-9]*/stat; do
        { IFS= read -r line <"$stat"; } 2>/dev/null && printf 'stat %s\n' "$line"
    done
    grep -lszxF "$2" /proc/[0-9]*/environ | sed -n 's|^/proc/\([0-9]*\)/environ$|marked \1|p'
    ;;
signal)
    left=$2
    signals=$3
    shift 3
    for process in "$@"; do
        for signal in $signals; do
            lives "$process" && kill -s "$signal" "${process%%:*}" 2>/dev/null
        done
    done
    while :; do
        living=
        for process in "$@"; do lives "$process" && living="$living $process"; done
        [ -n "$living" ] && [ "$left" -gt 0 ] || break
        sleep 0.05
        left=$((left - 50))
    done
    for process in $living; do printf 'left %s\n' "${process%%:*}"; done
    ;;
esac
