#!/bin/sh
# Written by mngr. Called by Claude Code for every event, with its JSON on standard input. Plain sh, nothing to install.
event=$1
state=$MNGR_AGENT_STATE_DIR
input=$(cat)

session_of_event() { printf '%s' "$input" | sed -n 's/.*"session_id":"\([A-Za-z0-9-]*\)".*/\1/p'; }

note_session() {
    session=$(session_of_event)
    [ -n "$session" ] || return 0
    printf '%s\n' "$session" >"$state/claude_session_id.new" && mv "$state/claude_session_id.new" "$state/claude_session_id"
    printf '%s\n' "$session" >>"$state/claude_session_id_history"
}

# When a process started, in the kernel's unit: tells it from a later one with the same number.
start_of() {
    read -r line <"/proc/$1/stat" || return 1
    set -f
    set -- ${line##*) }
    shift 19
    printf '%s' "$1"
}

# A Claude Code started by the agent itself uses the same settings: its events are not the agent's.
agent=0
while read -r kind rest; do
    case $kind in agent) agent=${rest#pid=} agent=${agent%%:*} ;; esac
done <"$state/process"
pid=$PPID
mover=
for _ in 1 2 3; do
    [ "$pid" = "$agent" ] && break
    [ -e "$CLAUDE_CONFIG_DIR/sessions/$pid.json" ] && mover=$pid
    [ -r "/proc/$pid/stat" ] || break
    read -r line <"/proc/$pid/stat" || break
    line=${line##*) }
    line=${line#* }
    pid=${line%% *}
done
if [ "$pid" != "$agent" ]; then
    # Unless it is one of the agent view, which lives in the background and has a folder for its job. The one that begins
    # as a fork is the agent's own conversation, moved: it goes on there, as soon as there is more than the agent has.
    [ -n "$CLAUDE_JOB_DIR" ] || exit 0
    if [ "$event" = SessionStart ]; then
        [ -n "$mover" ] && start=$(start_of "$mover") && printf '%s:%s\n' "$mover" "$start" >>"$state/elsewhere"
        case $input in *'"source":"fork"'*) session_of_event >"$state/moved" ;; esac
    elif [ -e "$state/moved" ]; then
        read -r moved <"$state/moved"
        read -r known <"$state/claude_session_id"
        # It is written late: without it there would be nothing to go on with.
        transcript=${input#*'"transcript_path":"'}
        [ "$moved" = "$(session_of_event)" ] && [ "$moved" != "$known" ] && [ -s "${transcript%%'"'*}" ] && note_session
    fi
    exit 0
fi

# Claude Code waits for this script: most of the time there is nothing to remove, and no process is needed.
gone() { for name; do [ ! -e "$state/$name" ] || rm -f "$state/$name"; done; }

# A line about background work. The time zone is that of the schedules.
background() { printf '%s %s %s\n' "$1" "$(date '+%s %z')" "$2" >>"$state/background"; }

# All there is now. An agent that never had anything in the background keeps no file.
snapshot() {
    case $input in *'"background_tasks":['*) ;; *) return ;; esac
    # No text can hold this: quotes in a text are escaped.
    tasks="[${input#*'"background_tasks":['}"
    case $tasks in '[],"session_crons":[]}'*) [ -e "$state/background" ] || return ;; esac
    who=${input#*'"agent_id":"'}
    case $event in SubagentStop) tasks="${who%%'"'*} $tasks" ;; esac
    background "$event" "$tasks"
    [ "$(wc -l <"$state/background")" -gt 200 ] || return
    # What was noted at the start of each is kept for its time.
    {
        grep -e '^Shell ' -e '^SubagentStart ' "$state/background" | tail -n 40
        tail -n 60 "$state/background"
    } >"$state/background.new" && mv "$state/background.new" "$state/background"
}

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
    case $input in *'"source":"clear"'*) gone status/title ;; esac
    case $input in *'"source":"startup"'* | *'"source":"resume"'*) gone background elsewhere moved ;; esac
    note_session
    [ -e "$state/waiting" ] || printf 'END_OF_TURN\n' >"$state/waiting"
    gone queued
    ;;
UserPromptSubmit)
    case $input in
    *'"prompt":"<task-notification>'*'<task-id>'*)
        over=${input#*<task-id>}
        background Over "${over%%</task-id>*}"
        ;;
    # This comes when it is typed, which may be in the middle of a turn.
    *) [ -e "$state/waiting" ] || : >"$state/queued" ;;
    esac
    : >"$state/active"
    gone waiting failure
    ;;
# One that is answered here opens no dialog.
PermissionRequest) [ "$2" = permit ] || printf 'PERMISSIONS\n' >"$state/waiting" ;;
PostToolUse | PostToolUseFailure)
    gone waiting
    case $input in *'"backgroundTaskId":"'*) background Shell "$input" ;; esac
    ;;
SubagentStart) background SubagentStart "$input" ;;
SubagentStop) snapshot ;;
Stop)
    turn_ends
    snapshot
    # What was typed meanwhile begins the next turn at once, unless it was taken into this one.
    if [ -e "$state/queued" ]; then gone queued waiting; else printf 'END_OF_TURN\n' >"$state/waiting"; fi
    gone failure
    ;;
StopFailure)
    turn_ends
    printf '%s\n' "$input" >"$state/failure.new" && mv "$state/failure.new" "$state/failure"
    printf 'END_OF_TURN\n' >"$state/waiting"
    ;;
SessionEnd)
    # The agent view has a service of its own, which goes on with a conversation that was moved there.
    lock=$CLAUDE_CONFIG_DIR/daemon.lock
    if [ -e "$lock" ]; then
        service=$(tr -d ' \n"' <"$lock" | sed -n 's/^{pid:\([0-9]*\),.*procStart:\([0-9]*\).*/\1:\2/p')
        [ -z "$service" ] || printf '%s\n' "$service" >>"$state/elsewhere"
    fi
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
# The judge knows what the agent of a run may do. Without one, what the program's own rules do not cover is refused.
if [ "$event" = PermissionRequest ] && [ "$2" = permit ]; then
    [ -n "$3" ] && [ -x "$3" ] && printf '%s' "$input" | "$3" tmr-permit && exit 0
    printf '%s\n' "$input" >>"$state/plugin/tmr/refused.jsonl"
    printf '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"%s"}}}\n' \
        'This run allows only what the task needs: change files of the work dir, run commands that only read, the test, git add, commit, diff, log, show and status, and publish. Do without it, or say in the outcome what you needed it for.'
    exit 0
fi
[ "$event" = PermissionRequest ] && [ "$2" = allow ] &&
    printf '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}\n'
exit 0
