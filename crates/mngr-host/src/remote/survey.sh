# Everything that one look at a host's agents needs, in one go. POSIX sh with find, tar and the usual tools; the number of
# processes does not grow with the number of agents, but for some for each that keeps a status file.
#
# $1: the host dir; then the agents, as ids or `name:` and a name, or nothing for all.
#
# Prints lines of facts, then an empty line, then a tar of small files. What an agent can write is only copied: never
# waited for, never evaluated.
LC_ALL=C
export LC_ALL
newline='
'
exec 3>&1
{ read -r list </sys/devices/system/cpu/online && printf 'processors %s\n' "$list"; } 2>/dev/null
{ read -r total </proc/meminfo && printf 'memory %s\n' "$total"; } 2>/dev/null
# What a host that stops by itself counts as its use.
if [ -f "$1/data.json" ] && [ -f "$1/commands/activity_watcher.sh" ]; then
    printf 'host %s\n' "$(head -c 65536 "$1/data.json" | base64 | tr -d '\n')"
    for source in boot user ssh; do
        [ -f "$1/activity/$source" ] && printf 'activity %s %s\n' "$source" "$(stat -c %Y "$1/activity/$source")"
    done
fi
# A first creation that died may have left a journal and no agents.
(cd "$1/journal" 2>/dev/null && for name in *; do [ -e "$name" ] && printf 'journal %s\n' "$name"; done)
cd "$1/agents" 2>/dev/null || { printf 'none\n\n'; exit 0; }
shift
if [ "$#" -gt 0 ]; then
    ids=
    names=
    for word in "$@"; do
        case $word in name:*) names="$names${names:+$newline}\"name\": *\"${word#name:}\"" ;; *) ids="$ids $word" ;; esac
    done
    # Only ordinary files are read: a pipe would make us wait. A record that has the name somewhere else is looked at in vain.
    if [ -n "$names" ]; then
        ids="$ids $(find . -mindepth 2 -maxdepth 2 -path './agent-*/data.json' -type f -size -8192 \
            -exec grep -l -e "$names" {} + 2>/dev/null | sed 's|^\./||; s|/data\.json$||')"
    fi
    # Ids have no blanks, and what is no id is no agent's folder.
    set -f
    # shellcheck disable=SC2086
    set -- $ids
    set +f
else
    set -- agent-*
fi
[ "$#" -gt 0 ] || { printf 'none\n\n'; exit 0; }
# A link that leads nowhere hides nothing: the others are looked at.
[ -d "$1" ] || [ "$#" -gt 1 ] || { printf 'none\n\n'; exit 0; }
read -r boot </proc/sys/kernel/random/boot_id && printf 'boot %s\n' "$boot"
read -r uptime rest </proc/uptime && printf 'uptime %s\n' "$uptime"
date '+now %s.%N'
stat -c 'folder %Y %n' "$@"

# Ordinary files of a few names, none of them large. From here on words are lines and stand for nothing but themselves.
files=$(
    find "$@" -maxdepth 3 -type f -size -8192 \( -path '*/data.json' -o -path '*/process' -o -path '*/active' \
        -o -path '*/waiting' -o -path '*/failure' -o -path '*/background' \
        -o -path '*/elsewhere' -o -path '*/status/url' -o -path '*/status/title' -o -path '*/activity/*' \
        -o -path '*/events/messages/events.jsonl' \) -print 2>/dev/null
)
set -f
IFS=$newline

# The files of an agent's own folder that are called $1, for `xargs -0`.
called() {
    for path in $files; do
        case $path in agent-*/*/*) ;; agent-*/"$1") printf '%s\000' "$path" ;; esac
    done
}

# Processes that the records name, and whose each says it is: a variable that holds anything else says nothing.
pids=$(called process |
    xargs -0 sed -n 's/.* supervisor=\([0-9]*\):.*/\1/p; s/^agent pid=\([0-9]*\):.*/\1/p' 2>/dev/null
    called elsewhere | xargs -0 sed -n 's/^\([0-9][0-9]*\):.*/\1/p' /dev/null 2>/dev/null)
for pid in $pids; do
    { read -r stat <"/proc/$pid/stat"; } 2>/dev/null && printf 'stat %s\n' "$stat"
done
for pid in $pids; do printf '/proc/%s/environ\000' "$pid"; done |
    xargs -0 grep -sHzx 'MNGR_AGENT_ID=agent-[0-9a-f]*' /dev/null | tr '\000' '\n'

# Where a record names files of the program's own, those too: they may lie behind a link. Of one that may be long the
# end is enough.
print_end() {
    printf 'end %s %s %s\n' "$(stat -L -c '%s %.Y' "$1" 2>/dev/null || stat -L -c '%s %Y' "$1")" \
        "$(tail -c "$2" "$1" | base64 | tr -d '\n')" "$1" >&3
}
own=$(
    called data.json | xargs -0 grep -l '"status_file": *"' /dev/null 2>/dev/null | while IFS= read -r record; do
        agent=${record%/*}
        text=$(tr -d '\n' <"$record")
        pid=
        [ -f "$agent/process" ] &&
            pid=$(head -c 65536 "$agent/process" 2>/dev/null | sed -n 's/^agent pid=\([0-9]*\):.*/\1/p' | tail -n 1)
        for key in status_file ready_folder; do
            path=$(printf '%s\n' "$text" | sed -n "s/.*\"$key\": *\"\([^\"\\\\]*\)\".*/\1/p" | sed "s/{pid}/$pid/")
            case $path in '' | /* | *..*) continue ;; esac
            if [ "$key" = ready_folder ]; then
                set +f
                [ -d "$agent/$path" ] && printf '%s\n' "$agent/$path"/*
                set -f
            elif [ -f "$agent/$path" ]; then
                print_end "$agent/$path" 262144
            fi
        done
        if [ -d "$agent/subagents" ]; then
            set +f
            for path in "$agent"/subagents/*; do
                case ${path##*/} in *[!A-Za-z0-9._-]*) continue ;; esac
                [ -f "$path" ] && print_end "$path" 65536
            done
            set -f
        fi
    done
)
printf '\n'

# GNU's tar keeps fractions of seconds in this format; busybox' knows no formats and takes no list of names.
pack() { for path in $files$newline$own; do [ -f "$path" ] && printf '%s\000' "$path"; done; }
pack | xargs -0 tar --format=posix -chf - 2>/dev/null || pack | xargs -0 tar -chf - 2>/dev/null
