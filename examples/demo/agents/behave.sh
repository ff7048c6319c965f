#!/bin/sh
# What an agent of the demo does with one message: no thinking, only the plan below.
#
# usage: DEMO_AGENTS=FOLDER_OF_THIS_FILE behave.sh PROCESS_OF_THE_AGENT
#
# It gets what every agent of `mngr tmr` gets: a checkout as its current folder, the test in $MNGR_TMR_TASK, the number of
# the try in $MNGR_TMR_ATTEMPT, and a tool to publish with in $MNGR_AGENT_STATE_DIR/commands.
set -eu
export AGENT="$1" DESK="$MNGR_AGENT_STATE_DIR/plugin/demo" PUBLISH="$MNGR_AGENT_STATE_DIR/commands/publish"
mkdir -p "$DESK"
# The first message is the task; another one follows if nothing, or nothing useful, was published.
echo >>"$DESK/turns"
TURN=$(grep -c '' "$DESK/turns")
export TURN

for file in "$DEMO_AGENTS"/lib/*.sh "$DEMO_AGENTS"/behaviours/*.sh; do
    # shellcheck source=/dev/null
    . "$file"
done

# The integrator has no test of its own.
case ${MNGR_TMR_TASK:-} in
'')                           integrate ;;

# Good work. The same cause behind several tests leads to the same change, which then has as many votes.
tests/add.sh)                 clean ends-in-a-colon ;;
tests/edit.sh)                clean ;;
tests/clear.sh)               change clear-observes-both ;;
tests/help.sh)                change help-rm ;;
tests/pick.sh)                change pick-any ;;
tests/list-done.sh)           change list-done ;;
tests/edit-keeps-state.sh)    change edit-keeps-state ;;
tests/find-any-case.sh)       change find-any-case ;;
tests/number-after-clear.sh)  change next-number ;;
tests/number-after-rm.sh)     change next-number ;;
tests/number-twice.sh)        change next-number ;;

# Good work after a bad start.
tests/find-capital.sh)        crash_once && change find-any-case ;;
tests/tick-unknown.sh)        bad_json_once && change need-task ;;
tests/export-quotes.sh)       forget_once && change export-quotes ;;

# Two ways to write the same line: one of them has to go.
tests/count.sh)               change count-grep ;;
tests/count-done.sh)          change count-awk ;;

# Work that looks good only from near: a test breaks, a contract is rewritten, a claim is not true.
tests/edit-a-done-task.sh)    change edit-always-done ;;
tests/number-last.sh)         change number-last-contract ;;
tests/export-comma.sh)        lie only-a-comment ;;

# No work.
tests/due-tomorrow.sh)        block no-dates ;;
tests/find.sh)                hang ;;
tests/list.sh)                huge_archive ;;
tests/rm.sh)                  no_publish ;;
tests/rm-unknown.sh)          bad_json ;;

*)                            echo "there is no plan for $MNGR_TMR_TASK" ;;
esac
