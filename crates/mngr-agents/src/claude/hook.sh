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

# A message that goes behind others in the queue is on its way: the turn ends when it is there. Where a turn has ended and the
# queue is not taken up yet, it would be answered before the others.
turn_ends() {
    : >"$state/turn_end"
    turns=0
    while [ -e "$state/sending" ]; do
        turns=$((turns + 1))
        [ "$turns" -le 100 ] || { rm -f "$state/sending" && break; }
        sleep 0.02
    done
}

case $event in
SessionStart)
    gone failure
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
    turn_ends
    printf 'END_OF_TURN\n' >"$state/waiting"
    gone failure
    ;;
StopFailure)
    turn_ends
    printf '%s\n' "$input" >"$state/failure.new" && mv "$state/failure.new" "$state/failure"
    printf 'END_OF_TURN\n' >"$state/waiting"
    ;;
esac
# Last: whoever reads of the event here finds everything else in place.
printf '%s %s\n' "$event" "$input" >>"$state/events/claude/hooks.log"
: >"$state/activity/agent"
[ "$event" = PermissionRequest ] && [ "$2" = allow ] &&
    printf '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}\n'
exit 0
