# What an agent of a test does with one message: the words below, then the part that the test has written for it.
# usage: behave.sh PROCESS_OF_THE_AGENT
set -eu
AGENT=$1
# The integrator has no test of its own.
NAME=$(basename "${MNGR_TMR_TASK:-integrator}" .sh)
ARCHIVE=$MNGR_AGENT_STATE_DIR/plugin/tmr/outputs.tar.gz
DESK=$MNGR_AGENT_STATE_DIR/plugin/desk
mkdir -p "$DESK" "${ARCHIVE%/*}"
# Which message this is: 1 is the task.
echo >>"$DESK/turns"
TURN=$(grep -c '' "$DESK/turns")

# commit SUBJECT: everything in the work dir.
commit() { git add --all && git commit --quiet --message "$1"; }

# mend: makes the test pass.
mend() {
    echo good >"parts/$NAME"
    commit "[FIX_IMPL] $NAME is good"
}

# say JSON: publishes this as the outcome.
say() {
    printf '%s\n' "$1" >"$DESK/outcome.json"
    "$MNGR_AGENT_STATE_DIR/commands/publish" "$DESK/outcome.json"
}

# outcome: one that says that the last commit made the test pass.
outcome() {
    subject=$(git log -1 --format=%s)
    kind=${subject%%]*}
    echo '{"result": "fixed", "summary_markdown": "Done.", "tests_passing_before": false, "tests_passing_after": true,
        "changes": [{"kind": "'"${kind#?}"'", "summary_markdown": "Done."}]}'
}

# answer: what an integrator says that has brought in the change of `right`.
answer() {
    echo '{"reviewer_markdown": "Both sides are kept.", "merged": [{"test": "tests/right.sh", "how_markdown": "Both."}],
        "importance": [{"test": "tests/right.sh", "reason_markdown": "Users see the right side first."},
            {"test": "tests/left.sh", "reason_markdown": "Rarely seen."}]}'
}

# publish: hands that over.
publish() { if [ "$NAME" = integrator ]; then say "$(answer)"; else say "$(outcome)"; fi; }

# publish_clean: says that nothing had to be done.
publish_clean() {
    if [ "$NAME" = integrator ]; then
        say '{"reviewer_markdown": "Nothing can be brought in."}'
    else
        say '{"result": "clean", "summary_markdown": "Fine.", "tests_passing_after": true}'
    fi
}

# fix: good work.
fix() { mend && publish; }

# die: the agent's program ends at once.
die() { kill -9 "$AGENT" && exit; }

# wait_for FILE: until a test has made it.
wait_for() { until [ -e "$1" ]; do sleep 0.05; done; }

# hang: works for ever, without a sign of it.
hang() { while :; do sleep 3600; done; }

# shellcheck source=/dev/null
. "$(dirname "$0")/parts/$NAME"
