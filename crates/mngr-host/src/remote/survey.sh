# Everything that one look at a host's agents needs, in one go. POSIX sh with find, tar and the usual tools; the number of
# processes does not grow with the number of agents, but for one for each recorded process.
#
# $1: the host dir; $2: a word nobody can guess; $3: one agent's id, or nothing for all.
#
# Prints lines of facts, then an empty line, then a tar of small files. What an agent can write is only copied: never
# waited for, never evaluated.
LC_ALL=C
export LC_ALL
exec 3>&1
guess=$2
{ read -r list </sys/devices/system/cpu/online && printf 'processors %s\n' "$list"; } 2>/dev/null
{ read -r total </proc/meminfo && printf 'memory %s\n' "$total"; } 2>/dev/null
# What a host that stops by itself counts as its use.
if [ -z "${3:-}" ] && [ -f "$1/data.json" ] && [ -f "$1/commands/activity_watcher.sh" ]; then
    printf 'host %s\n' "$(head -c 65536 "$1/data.json" | base64 | tr -d '\n')"
    for source in boot user ssh; do
        [ -f "$1/activity/$source" ] && printf 'activity %s %s\n' "$source" "$(stat -c %Y "$1/activity/$source")"
    done
fi
# A first creation that died may have left a journal and no agents.
[ -n "${3:-}" ] ||
    (cd "$1/journal" 2>/dev/null && for name in *; do [ -e "$name" ] && printf 'journal %s\n' "$name"; done)
cd "$1/agents" 2>/dev/null || { printf 'none\n\n'; exit 0; }
if [ -n "${3:-}" ]; then
    set -- "$3"
else
    set -- agent-*
fi
# A link that leads nowhere hides nothing: the others are looked at.
[ -d "$1" ] || [ "$#" -gt 1 ] || { printf 'none\n\n'; exit 0; }
read -r boot </proc/sys/kernel/random/boot_id && printf 'boot %s\n' "$boot"
read -r uptime rest </proc/uptime && printf 'uptime %s\n' "$uptime"
printf 'now %s\n' "$(date +%s.%N)"
stat -c 'folder %Y %n' "$@"

# Ordinary files of a few names, none of them large.
files=$(
    find "$@" -maxdepth 3 -type f -size -8192 \( -path '*/data.json' -o -path '*/process' -o -path '*/active' \
        -o -path '*/waiting' -o -path '*/failure' -o -path '*/status/url' -o -path '*/activity/*' \
        -o -path '*/events/messages/events.jsonl' \) -print 2>/dev/null
)

# Processes that the records name, and whose each says it is.
pids=$(printf '%s\n' "$files" | sed -n '/^[^/]*\/process$/p' | tr '\n' '\000' |
    xargs -0 sed -n 's/.* supervisor=\([0-9]*\):.*/\1/p; s/^agent pid=\([0-9]*\):.*/\1/p' 2>/dev/null | sort -u)
for pid in $pids; do
    { read -r stat <"/proc/$pid/stat"; } 2>/dev/null && printf 'stat %s\n' "$stat"
done
for pid in $pids; do
    printf '\n%s %s\n' "$guess" "$pid"
    cat "/proc/$pid/environ" 2>/dev/null
done | tr '\000' '\n' | sed -n "s/^$guess \([0-9]*\)\$/owner \1/p; s/^MNGR_AGENT_ID=\(agent-[0-9a-f]*\)\$/mark \1/p"

# Where a record names files of the program's own, those too: they may lie behind a link. Of one that may be long the
# end is enough.
own=$(
    printf '%s\n' "$files" | sed -n '/^[^/]*\/data\.json$/p' | tr '\n' '\000' |
        xargs -0 grep -l '"status_file": *"' 2>/dev/null | while IFS= read -r record; do
        agent=${record%/*}
        text=$(tr -d '\n' <"$record")
        pid=
        [ -f "$agent/process" ] &&
            pid=$(head -c 65536 "$agent/process" 2>/dev/null | sed -n 's/^agent pid=\([0-9]*\):.*/\1/p' | tail -n 1)
        for key in status_file ready_folder; do
            path=$(printf '%s\n' "$text" | sed -n "s/.*\"$key\": *\"\([^\"\\\\]*\)\".*/\1/p" | sed "s/{pid}/$pid/")
            case $path in '' | /* | *..*) continue ;; esac
            if [ "$key" = ready_folder ]; then
                [ -d "$agent/$path" ] && printf '%s\n' "$agent/$path"/*
            elif [ -f "$agent/$path" ]; then
                printf 'end %s %s %s\n' "$(stat -L -c '%s %.Y' "$agent/$path" 2>/dev/null || stat -L -c '%s %Y' "$agent/$path")" \
                    "$(tail -c 262144 "$agent/$path" | base64 | tr -d '\n')" "$agent/$path" >&3
            fi
        done
    done
)
printf '\n'
format=
case $(tar --version 2>/dev/null) in *GNU*) format=--format=posix ;; esac
# Names of our own making: none holds a newline. Busybox' tar takes no list, so the names are words.
printf '%s\n%s\n' "$files" "$own" | while IFS= read -r path; do [ -f "$path" ] && printf '%s\n' "$path"; done |
    tr '\n' '\000' | xargs -0 tar $format -chf - 2>/dev/null
