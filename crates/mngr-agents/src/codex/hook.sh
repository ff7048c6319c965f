#!/bin/sh
# Written by mngr. Called by Codex for every event, with its JSON on standard input. Plain sh, nothing to install.
event=$1
state=$MNGR_AGENT_STATE_DIR
input=$(cat)

# A Codex started by the agent itself uses the same settings: its events are not the agent's. Codex is the agent's
# process or its server's, or the only child of it where the process is npm's wrapper.
agent=0 server=0
while read -r kind rest; do
    case $kind in
    start) server=0 ;;
    agent) agent=${rest#pid=} agent=${agent%%:*} ;;
    server) server=${rest#pid=} server=${server%%:*} ;;
    esac
done <"$state/process"
pid=$PPID
if [ "$pid" != "$agent" ] && [ "$pid" != "$server" ]; then
    if [ -r "/proc/$pid/stat" ] && read -r line <"/proc/$pid/stat"; then
        line=${line##*) }
        line=${line#* }
        pid=${line%% *}
    else
        pid=$(ps -o ppid= -p "$pid" | tr -d ' ')
    fi
fi
[ "$pid" = "$agent" ] || [ "$pid" = "$server" ] || exit 0

# Only what stands before what a user or a model wrote is Codex's word.
head=${input%%\"tool_input\"*}
head=${head%%\"prompt\"*}
value() {
    case $head in *"\"$1\":\""*) ;; *) return ;; esac
    rest=${head#*"\"$1\":\""}
    printf '%s' "${rest%%\"*}"
}
# Readers see the old or the new file, never a part.
put() { printf '%s\n' "$2" >"$state/$1.new" && mv "$state/$1.new" "$state/$1"; }
link() { ln -sf "$2" "$state/$1.new" && mv "$state/$1.new" "$state/$1"; }

# The thread of a sub-agent; the agent's own events name none.
subagent=$(value agent_id)
case $subagent in *[!0-9a-f-]*) exit 0 ;; esac
rollout=$(value transcript_path)

# The records of sub-agents stand beside the agent's own, until they have ended and another one begins.
remember_subagent() {
    mkdir -p "$state/subagents"
    for old in "$state"/subagents/*; do
        [ -f "$old" ] || continue
        end=$(tail -c 4096 "$old")
        for word in task_complete turn_aborted; do
            after=${end##*\"$word\"}
            [ "$after" = "$end" ] && continue
            case $after in *'"task_started"'*) ;; *) rm -f "$old" ;; esac
        done
    done
    link "subagents/$subagent" "$rollout"
}

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
    if [ -n "$subagent" ]; then
        [ -z "$rollout" ] || [ "$event" = SessionStart ] || remember_subagent
    else
        thread=$(value session_id)
        [ -z "$thread" ] || { put plugin/codex/thread "$thread"; entitle "$thread"; }
        [ -z "$rollout" ] || link plugin/codex/rollout "$rollout"
        # A dialog of a sub-agent may still be open.
        marker=
        [ "$event" = SessionStart ] || { [ -f "$state/waiting" ] && read -r marker <"$state/waiting"; }
        [ "$marker" != END_OF_TURN ] || rm -f "$state/waiting"
    fi
    ;;
PermissionRequest)
    if [ "$2" = allow ]; then
        printf '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}\n'
    else
        put waiting PERMISSIONS
    fi
    ;;
PreToolUse)
    case $head in
    *'"tool_name":"request_user_input"'*)
        # Outside of plan mode Codex refuses to ask, unless its settings allow it. What mode a turn is in stands where it
        # begins.
        asks=${2#-}
        [ -n "$asks" ] || case $(grep '"type":"task_started"' "$rollout" | tail -n 1) in
        *'"collaboration_mode_kind":"plan"'*) asks=asks ;;
        esac
        [ -z "$asks" ] || put waiting QUESTION
        ;;
    esac
    ;;
PostToolUse)
    # Before its own record is there, a new sub-agent is known by its number alone.
    case $input in *'agent_id\":\"'*) rest=${input#*'agent_id\":\"'} rest=${rest%%\\*} ;; *) rest= ;; esac
    case $rest in
    '' | *[!0-9a-f-]*) ;;
    *) mkdir -p "$state/subagents" && { [ -e "$state/subagents/$rest" ] || : >"$state/subagents/$rest"; } ;;
    esac
    ;;
# A sub-agent that is interrupted does not end the agent's turn.
Interrupt) [ -n "$subagent" ] || put waiting END_OF_TURN ;;
esac
# Last: whoever reads of the event here finds everything else in place.
printf '%s %s\n' "$event" "$input" >>"$state/events/codex/hooks.log"
: >"$state/activity/agent"
# The judge knows what the agent of a run may do. What it does not refuse runs in the sandbox, without a question.
if [ "$event" = PreToolUse ] && [ "$3" = permit ]; then
    printf '%s' "$input" | "$4" tmr-permit && exit 0
    printf '%s\n' "$input" >>"$state/plugin/tmr/refused.jsonl"
    printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"%s"}}\n' \
        'What this run allows cannot be read. Do without it, or say in the outcome what you needed it for.'
fi
exit 0
