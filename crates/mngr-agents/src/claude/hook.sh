#!/bin/sh
# Written by mngr. Called by Claude Code for every event, with its JSON on standard input. Plain sh, nothing to install.
event=$1
state=$MNGR_AGENT_STATE_DIR
input=$(cat)

# A Claude Code started by the agent itself uses the same settings: its events are not the agent's.
agent=0
while read -r kind rest; do
    case $kind in agent) agent=${rest#pid=} agent=${agent%%:*} ;; esac
done <"$state/process"
pid=$PPID
for _ in 1 2 3; do
    [ "$pid" = "$agent" ] && break
    [ -r "/proc/$pid/stat" ] || break
    read -r line <"/proc/$pid/stat" || break
    line=${line##*) }
    line=${line#* }
    pid=${line%% *}
done
[ "$pid" = "$agent" ] || exit 0

# Claude Code waits for this script: most of the time there is nothing to remove, and no process is needed.
gone() { for name; do [ ! -e "$state/$name" ] || rm -f "$state/$name"; done; }

# What Claude Code calls the conversation is in its record, again and again; a name of the user's comes first. It is kept as
# the JSON string that it is.
entitle() {
    record=${input#*'"transcript_path":"'}
    tail -c 262144 "${record%%\"*}" | sed -n \
        -e 's/^{"type":"custom-title","customTitle":\(".*"\),"sessionId".*/2 \1/p' \
        -e 's/^{"type":"ai-title","aiTitle":\(".*"\),"sessionId".*/1 \1/p' | {
        best=1 title=
        while read -r rank text; do [ "$rank" -lt "$best" ] || { best=$rank title=$text; }; done
        [ -z "$title" ] || { printf '%s\n' "$title" >"$state/status/title.new" &&
            mv "$state/status/title.new" "$state/status/title"; }
    }
}

case $event in
SessionStart)
    gone failure
    case $input in *'"source":"clear"'*) gone status/title ;; esac
    session=$(printf '%s' "$input" | sed -n 's/.*"session_id":"\([A-Za-z0-9-]*\)".*/\1/p')
    if [ -n "$session" ]; then
        printf '%s\n' "$session" >"$state/claude_session_id.new" && mv "$state/claude_session_id.new" "$state/claude_session_id"
        printf '%s\n' "$session" >>"$state/claude_session_id_history"
    fi
    ;;
UserPromptSubmit)
    : >"$state/active"
    gone waiting failure
    ;;
PermissionRequest) printf 'PERMISSIONS\n' >"$state/waiting" ;;
PostToolUse | PostToolUseFailure) gone waiting ;;
Stop)
    printf 'END_OF_TURN\n' >"$state/waiting"
    gone failure
    ;;
StopFailure)
    printf '%s\n' "$input" >"$state/failure.new" && mv "$state/failure.new" "$state/failure"
    printf 'END_OF_TURN\n' >"$state/waiting"
    ;;
esac
# Last: whoever reads of the event here finds everything else in place.
printf '%s %s\n' "$event" "$input" >>"$state/events/claude/hooks.log"
: >"$state/activity/agent"
case $event in
# Nobody waits for a title, but that it must not outlive the program.
Stop) entitle </dev/null >/dev/null 2>&1 & ;;
SessionEnd) entitle >/dev/null 2>&1 ;;
esac
[ "$event" = PermissionRequest ] && [ "$2" = allow ] &&
    printf '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}\n'
exit 0
