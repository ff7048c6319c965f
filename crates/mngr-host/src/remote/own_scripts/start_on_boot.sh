# Starts the agents that are wanted when this host has booted. Written by mngr; plain POSIX sh, no mngr needed.
#
# usage: sh start_on_boot.sh [always]
#
# Once for each boot of the machine, whoever calls it how often; `always` is for a container, which has no boot of its own.
# An agent that runs, or that mngr is working on, is left alone.
cd "$(dirname "$0")/.." || exit 1
umask 077
mkdir -p activity || exit 1
if [ "${1:-}" != always ]; then
    boot=
    [ -r /proc/sys/kernel/random/boot_id ] && read -r boot </proc/sys/kernel/random/boot_id
    last=
    [ -f activity/booted ] && read -r last <activity/booted
    [ -n "$boot" ] && [ "$boot" = "$last" ] && exit 0
    echo "$boot" >activity/booted
fi

# Whether the supervisor in a record lives: its number and its start time are what they were.
lives() {
    supervisor=
    while read -r kind rest; do
        case $kind in start) supervisor=${rest#*supervisor=} supervisor=${supervisor%% *} ;; esac
    done <"$1"
    case ${supervisor%%:*} in '' | *[!0-9]*) return 1 ;; esac
    { read -r stat <"/proc/${supervisor%%:*}/stat"; } 2>/dev/null || return 1
    # shellcheck disable=SC2086 # fields of the kernel
    set -- ${stat##*) }
    [ "$1" != Z ] && [ "${20}" = "${supervisor#*:}" ]
}

exec 9>>host_lock || exit 1
command -v flock >/dev/null 2>&1 && flock 9
for script in agents/agent-*/boot.sh; do
    [ -f "$script" ] || continue
    agent=${script%/boot.sh}
    # A journal means that a command is at work on it, or was cut short: mngr puts that right.
    [ -e "journal/${agent#agents/}.jsonl" ] && continue
    [ -f "$agent/process" ] && lives "$agent/process" && continue
    touch "$agent/activity/start"
    # What is started must not keep the lock.
    sh "$script" 9>&- </dev/null >/dev/null || echo "mngr: $agent could not be started"
done
