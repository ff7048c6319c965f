#!/bin/sh
# Written by mngr. Called by Codex for every event, with its JSON on standard input. Plain sh, nothing to install.
event=$1
state=$MNGR_AGENT_STATE_DIR
input=$(cat)

# A Codex started by the agent itself uses the same settings: its events are not the agent's. Codex is the agent's
# process, or the only child of it where the process is npm's wrapper.
agent=0
while read -r kind rest; do
    case $kind in agent) agent=${rest#pid=} agent=${agent%%:*} ;; esac
done <"$state/process"
pid=$PPID
if [ "$pid" != "$agent" ]; then
    if [ -r "/proc/$pid/stat" ] && read -r line <"/proc/$pid/stat"; then
        line=${line##*) }
        line=${line#* }
        pid=${line%% *}
    else
        pid=$(ps -o ppid= -p "$pid" | tr -d ' ')
    fi
fi
[ "$pid" = "$agent" ] || exit 0

# The first value of this name: what a user wrote comes later, and its quotes are escaped.
value() {
    case $input in *"\"$1\":\""*) ;; *) return ;; esac
    rest=${input#*"\"$1\":\""}
    printf '%s' "${rest%%\"*}"
}
# Readers see the old or the new file, never a part.
put() { printf '%s\n' "$2" >"$state/$1.new" && mv "$state/$1.new" "$state/$1"; }

# What Codex calls a conversation is in its list of names; the last one counts. It is kept as the JSON string that it is.
entitle() {
    names=$state/plugin/codex/home/session_index.jsonl
    [ -f "$names" ] || return 0
    title=
    while IFS= read -r line; do
        case $line in *"\"id\":\"$1\""*'"thread_name":"'*) title=${line#*'"thread_name":'} ;; esac
    done <"$names"
    title=${title%',"updated_at"'*}
    [ -z "$title" ] || put status/title "$title"
}

case $event in
SessionStart | UserPromptSubmit)
    thread=$(value session_id)
    rollout=$(value transcript_path)
    [ -z "$thread" ] || { put plugin/codex/thread "$thread"; entitle "$thread"; }
    [ -z "$rollout" ] || { ln -sf "$rollout" "$state/plugin/codex/rollout.new" &&
        mv "$state/plugin/codex/rollout.new" "$state/plugin/codex/rollout"; }
    [ "$event" = SessionStart ] || rm -f "$state/waiting"
    ;;
PermissionRequest)
    if [ "$2" = allow ]; then
        printf '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}\n'
    else
        put waiting PERMISSIONS
    fi
    ;;
PreToolUse)
    # Only what stands before the tool's own input is Codex's word.
    case ${input%%\"tool_input\"*} in *'"tool_name":"request_user_input"'*) put waiting QUESTION ;; esac
    ;;
Interrupt) put waiting END_OF_TURN ;;
esac
# Last: whoever reads of the event here finds everything else in place.
printf '%s %s\n' "$event" "$input" >>"$state/events/codex/hooks.log"
: >"$state/activity/agent"
exit 0
