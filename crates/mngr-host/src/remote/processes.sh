# Two things about processes, on a Linux /proc; what to do with them is decided elsewhere.
#
# table MARK COMMAND_MARK
#                       prints `stat LINE` of every process, `marked PID` of those with MARK in their environment, and
#                       `command PID WORDS` of those among them with COMMAND_MARK
# end MARK COMMAND_MARK SIGNALS MS KILL_MS PID:START...
#                       sends the signals to each that still is the one that started then and waits until all are gone,
#                       but at most so many milliseconds; kills those that are not and prints `killed PID` of each, waits
#                       once more; then prints the table
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

# Whether $1 ignores SIGTERM, which is bit 14: an interactive shell does. Without a hang-up its whole grace would pass for
# nothing; others get none, which would end them before they have done what SIGTERM made them do.
deaf() {
    while read -r key mask; do
        [ "$key" = SigIgn: ] || continue
        mask=${mask%???}
        case $mask in *[4567cdef]) return 0 ;; esac
        return 1
    done <"/proc/$1/status"
    return 1
} 2>/dev/null

table() {
    for stat in /proc/[0-9]*/stat; do
        { IFS= read -r line <"$stat"; } 2>/dev/null && printf 'stat %s\n' "$line"
    done
    marked=$(grep -lszxF "$1" /proc/[0-9]*/environ)
    [ -n "$marked" ] || return 0
    # The words are split on purpose: paths in /proc hold no blanks.
    for path in $marked; do
        path=${path#/proc/}
        printf 'marked %s\n' "${path%%/*}"
    done
    for path in $(grep -lszxF "$2" $marked); do
        path=${path%/environ}
        printf 'command %s ' "${path#/proc/}"
        tr '\0\n' '  ' <"$path/cmdline" 2>/dev/null | head -c 400
        echo
    done
}

# Sends the signals $1 and waits at most $2 milliseconds; $living are then those of the others that live.
signal() {
    signals=$1
    left=$2
    shift 2
    for process in "$@"; do
        for signal in $signals; do
            lives "$process" && kill -s "$signal" "${process%%:*}" 2>/dev/null
            [ "$signal" = TERM ] && deaf "${process%%:*}" && kill -s HUP "${process%%:*}" 2>/dev/null
        done
    done
    while :; do
        living=
        for process in "$@"; do lives "$process" && living="$living $process"; done
        [ -n "$living" ] && [ "$left" -gt 0 ] || break
        sleep 0.05
        left=$((left - 50))
    done
}

case $1 in
table) table "$2" "$3" ;;
end)
    mark=$2
    command_mark=$3
    signals=$4
    grace=$5
    kill_wait=$6
    shift 6
    signal "$signals" "$grace" "$@"
    for process in $living; do printf 'killed %s\n' "${process%%:*}"; done
    # The words are split on purpose.
    signal KILL "$kill_wait" $living
    table "$mark" "$command_mark"
    ;;
esac
