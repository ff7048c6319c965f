# Stops this host when nobody uses it. Written by mngr; plain POSIX sh with stat, flock and tmux.
#
# usage: sh activity_watcher.sh HOST_DIR HOST_ID UPTIME_AT_BOOT [GRACE]
#
# What counts, and for how long, stands in data.json, which is read anew at every look: one key a line, as mngr writes it.
# Without that file, or with that of another host, of which this one is a copy, nothing is ever stopped. A look costs one `stat`, and one `tmux` for each server where that matters;
# between two looks there is only a `sleep`. The host is stopped by commands/shutdown.sh, which is told the state it is in
# then: PAUSED for one that was idle, STOPPED for one that has no agents left or is too old.
#
# Nothing is stopped while mngr works here: it holds the host lock or that of a journal. Times later than now prove
# nothing: what has one is dated now, once. When the host was booted and its agents were created is kept in memory, so
# that touching those files later changes nothing.
LC_ALL=C
export LC_ALL
host_dir=$1
host_id=$2
booted=$3
grace=${4:-120}
cd "$host_dir" || exit 1
umask 077
mkdir -p activity || exit 1
uid=$(id -u)
# Only some versions of `timeout` take the number first. A server that hangs must not hold the watcher.
limit=
timeout 5 true >/dev/null 2>&1 && limit='timeout 5'
known=' '
period=15
created=0
quiet_since=0
floor=0
offset=

is_number() {
    case $1 in '' | *[!0-9]*) return 1 ;; esac
}

read_limits() {
    idle_timeout='' max_age='' sources=' ' prefix='' inside='' whose=''
    [ -f data.json ] || return
    while IFS= read -r line || [ -n "$line" ]; do
        value=${line#*: }
        value=${value%,}
        case $line in
        '  "host_id": "'*) whose=${value#\"} whose=${whose%\"} ;;
        '  "idle_timeout_seconds": '*) idle_timeout=${value%%.*} ;;
        '  "max_host_age": '*) max_age=${value%%.*} ;;
        '  "activity_check_seconds": '*) period=$value ;;
        '  "tmux_session_prefix": "'*) prefix=${value#\"} prefix=${prefix%\"} ;;
        '  "activity_sources": []'*) ;;
        '  "activity_sources": ['*) inside=yes ;;
        '  ]'*) inside= ;;
        '    "'*)
            value=${value#*\"}
            [ -n "$inside" ] && sources="$sources${value%%\"*} "
            ;;
        esac
    done <data.json
    [ "$whose" = "$host_id" ] || idle_timeout='' max_age='' sources=' '
    is_number "$idle_timeout" || idle_timeout=
    is_number "$max_age" || max_age=
    is_number "$period" || period=15
}

counts() {
    case $sources in *" $1 "*) ;; *) return 1 ;; esac
}

# A time at which something happened; a later one wins.
happened() {
    [ "$1" -gt "$newest" ] && newest=$1
}

# Whether the process PID:START lives. A zombie does not.
lives() {
    is_number "${1%%:*}" || return 1
    { read -r stat <"/proc/${1%%:*}/stat"; } 2>/dev/null || return 1
    wanted=${1#*:}
    # shellcheck disable=SC2086 # fields of the kernel, from the third on: the name before them may hold blanks
    set -- ${stat##*) }
    [ "$1" != Z ] && [ "${20}" = "$wanted" ]
}

# What the supervisors of agents noted: whether a terminal of one is open, and whether its program lives.
look_at_processes() {
    for file in agents/agent-*/process; do
        [ -f "$file" ] || continue
        supervisor='' program=''
        while read -r kind rest; do
            case $kind in
            start) supervisor=${rest#*supervisor=} supervisor=${supervisor%% *} program= ;;
            agent) program=${rest#pid=} program=${program%% *} ;;
            exit) program= ;;
            esac
        done <"$file"
        lives "$supervisor" && in_use=yes
        if lives "$program"; then
            in_use=yes
            counts process && {
                happened "$now"
                true >"${file%process}activity/process"
            }
        fi
    done 2>/dev/null
}

# Sessions of agents. tmux notes when somebody last typed into one, or looked at it.
look_at_sessions() {
    typed=0
    for socket in "${TMUX_TMPDIR:-/tmp}/tmux-$uid"/*; do
        [ -S "$socket" ] || continue
        while read -r used made name; do
            case $name in "$prefix"*) ;; *) continue ;; esac
            is_number "$used" || continue
            [ -n "$prefix" ] && in_use=yes
            [ "$used" -gt "$made" ] && [ "$used" -gt "$typed" ] && typed=$used
        done <<SESSIONS
$($limit tmux -S "$socket" list-sessions -F '#{session_activity} #{session_created} #{session_name}' 2>/dev/null)
SESSIONS
    done
    # Kept in a file: a server that ends forgets it.
    [ "$typed" -gt 0 ] && [ "$typed" -le "$now" ] && {
        happened "$typed"
        [ "$typed" -gt "${last_typed:-0}" ] && true >activity/user
        last_typed=$typed
    }
}

look() {
    # Not `:`, which ends a shell that cannot write.
    true >activity/.now
    read -r uptime rest </proc/uptime || exit 1
    age=$((${uptime%%.*} - booted))
    now=0 newest=0 in_use=''
    set -- activity/.now agents
    counts user && set -- "$@" activity/user
    counts ssh && set -- "$@" activity/ssh
    counts agent && set -- "$@" agents/agent-*/activity/agent
    counts start && set -- "$@" agents/agent-*/activity/start
    counts create && set -- "$@" agents/agent-*/activity/create
    while read -r time path; do
        is_number "$time" || continue
        case $path in
        activity/.now)
            now=$time
            # A clock that was set makes everything look older or younger than it is.
            drift=$((now - ${uptime%%.*} - ${offset:-$((now - ${uptime%%.*}))}))
            [ "${drift#-}" -gt 5 ] && floor=$now
            offset=$((now - ${uptime%%.*}))
            [ "$quiet_since" -gt 0 ] || quiet_since=$((now - age))
            continue
            ;;
        agents)
            [ "$time" -le "$now" ] && [ "$time" -gt "$quiet_since" ] && quiet_since=$time
            continue
            ;;
        esac
        if [ "$time" -gt "$now" ]; then
            touch -c "$path"
            time=$now
        fi
        case $path in
        */create)
            case $known in *" $path "*) continue ;; esac
            known="$known$path "
            [ "$time" -gt "$created" ] && created=$time
            ;;
        *) happened "$time" ;;
        esac
    done <<TIMES
$(stat -c '%Y %n' "$@" 2>/dev/null)
TIMES
    [ "$now" -gt 0 ] || return 1
    counts create && happened "$created"
    counts boot && happened "$((now - age))"
    happened "$floor"
    look_at_processes
    if [ -n "$prefix" ] || counts user; then look_at_sessions; fi
    [ -n "$in_use" ] && quiet_since=$now
    return 0
}

# Sets `reason` to the state in which the host should be, or to nothing, and `why` to what people read.
decide() {
    reason=
    read_limits
    look || return
    if [ -n "$max_age" ] && [ "$age" -ge "$max_age" ]; then
        reason=STOPPED why="it has run for $age s, $max_age s are allowed"
    elif [ "$sources" = ' ' ]; then
        :
    elif [ -n "$prefix" ] && [ -z "$in_use" ] && [ "$age" -ge "$grace" ] && [ "$((now - quiet_since))" -ge "$grace" ]; then
        reason=STOPPED why="no agent has had a session for $((now - quiet_since)) s"
    elif [ -n "$idle_timeout" ] && [ "$((now - newest))" -ge "$idle_timeout" ]; then
        reason=PAUSED why="nothing has happened for $((now - newest)) s"
    fi
}

# Somebody works here as long as a lock is held. The journals come second: whoever opens one holds the host lock.
is_busy() {
    for journal in journal/*.jsonl; do
        [ -f "$journal" ] || continue
        flock -n "$journal" true || return 0
    done
    return 1
}

stop_if_due() {
    decide
    [ -n "$reason" ] || return
    true >>host_lock 2>/dev/null || return
    exec 9>>host_lock
    if flock -n 9 && ! is_busy && decide && [ -n "$reason" ]; then
        generation=0
        [ -f host_lock.generation ] && read -r generation <host_lock.generation
        is_number "$generation" || generation=0
        echo "$((generation + 1))" >.generation.new && mv .generation.new host_lock.generation
        echo "mngr: this host is stopped: $why"
        # The lock is held to the end: whoever waits for it must not begin on a host that is about to go.
        sh commands/shutdown.sh "$reason"
        sleep 10
        exit 0
    fi
    exec 9>&-
}

while :; do
    stop_if_due
    sleep "$period"
done
