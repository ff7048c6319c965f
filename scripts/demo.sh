#!/usr/bin/env bash
# The main job at work: `mngr tmr` with 24 agents on the 24 tests of examples/demo, from the first launch to the report.
#
# usage: [KEEP=FOLDER] scripts/demo.sh MNGR_BINARY
#
# Everything happens in one temporary folder with a home, a host dir and tmux servers of its own. Every end is compared
# with examples/demo/expected.txt. At the end, also after a failure or Ctrl-C, all of it is ended and removed, and that is
# checked; the folder of the run, with its report, is copied to KEEP if that is set.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly demo=$PWD/examples/demo
binary=$(realpath "${1:?the binary, as scripts/build-release prints it}")
keep=${KEEP:+$(realpath -m "$KEEP")}
readonly reap=$PWD/crates/mngr-testkit/src/reap.sh
# Short, because the path of a tmux socket below it has to fit into 108 bytes.
world=$(mktemp -d /tmp/mngr-demo.XXXXXX)
readonly host_dir=$world/host binary keep world

clean_up() {
    local status=$?
    trap - EXIT INT TERM
    # The cleaner finds processes by MNGR_HOST_DIR, so it must not have that variable itself.
    env -u MNGR_HOST_DIR sh "$reap" "$world" "$host_dir" </dev/null || true
    local left
    left=$(env -u MNGR_HOST_DIR grep -lsFzx -e "MNGR_HOST_DIR=$host_dir" /proc/[0-9]*/environ || true)
    if [[ -n $left || -e $world ]]; then
        echo "the demo left something behind: $world $left" >&2
        status=1
    elif ((status == 0)); then
        echo "No process, tmux server or folder of the demo is left."
    fi
    exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fail() {
    echo "the demo failed: $*" >&2
    exit 1
}

# A world of its own: nothing of the user's settings, agents or tmux is seen or touched.
mkdir "$world"/{home,host,t,tmp}
for name in $(compgen -e); do
    case $name in MNGR_* | TMUX* | GIT_*) unset "$name" ;; esac
done
export HOME=$world/home TMPDIR=$world/tmp TMUX_TMPDIR=$world/t MNGR_HOST_DIR=$host_dir SHELL=/bin/sh
export GIT_CONFIG_GLOBAL=$HOME/.gitconfig GIT_CONFIG_SYSTEM=/dev/null
export PATH=${binary%/*}:$PATH
git config --global user.name "Demo User"
git config --global user.email demo@example.com
git config --global init.defaultBranch main
# A collection in the background would outlive the command that started it.
git config --global gc.auto 0
git config --global maintenance.auto false

# Bold on a terminal, unless the user wants none.
bold='' plain=''
if [[ -t 1 && -z ${NO_COLOR:-} ]]; then bold=$'\e[1m' plain=$'\e[0m'; fi

declare -a timings=()
now() { echo "${EPOCHREALTIME//[.,]/}"; }
title() { printf '\n%s== %s%s\n\n' "$bold" "$1" "$plain"; }

# record WHAT START: notes the time since START.
record() {
    local elapsed=$((($(now) - $2) / 1000))
    timings+=("$(printf '  %-36s %6d ms' "$1" "$elapsed")")
    printf '  [%d ms]\n' "$elapsed"
}

# run WHAT COMMAND: shows a command, runs it through the shell, and notes its time under WHAT.
run() {
    printf '%s$ %s%s\n' "$bold" "$2" "$plain"
    local start
    start=$(now)
    bash -c "set -o pipefail; $2" || fail "\`$2\` ended with $?"
    record "$1" "$start"
}

# show COMMAND: the same without a time, for what is only looked at.
show() {
    printf '%s$ %s%s\n' "$bold" "$1" "$plain"
    bash -c "set -o pipefail; $1" || fail "\`$1\` ended with $?"
}

cp -R "$demo/project" "$world/todo"
cd "$world/todo"
git init --quiet
git add . && git commit --quiet --message "A program with some bugs"
export DEMO_AGENTS=$demo/agents

title "A small program with a tutorial and $(find tests -maxdepth 1 -name '*.sh' | wc -l) tests, some of them red"
show "head -3 todo"
show "cat tests/number-after-rm.sh"
show "sh tests/number-after-rm.sh || true"
# Its settings run programs, so the user has to say that they count.
mngr config trust >/dev/null

title "One agent for each test. They ask no model; some of them crash, hang, lie and break things"
run "plan, without agents" "mngr tmr --all --agent-type fixer --dry-run | tail -8"
run "tmr, from launch to report" \
    "mngr tmr --all --agent-type fixer --env DEMO_AGENTS=\"\$DEMO_AGENTS\" --run-name demo --max-parallel-agents 12 --yes"

title "How each test ended"
run "status" "mngr tmr status demo --format '{task:<30} {stage} {kind}' | sort"
# What each agent came to, from the journal: a test that is green in the result is not called failed by `status`.
sed -n 's/.*"event":"stage","task":"\([^"]*\)".*"stage":"\([^"]*\)"\(,"kind":"\([^"]*\)"\)\{0,1\}.*/\1 \2(\4)/p' \
    tmr_demo/run.jsonl | sed 's/()$//' | tac | sort -u -k1,1 | sort >"$world/ends"
sort "$demo/expected.txt" | tr -s ' ' | diff - "$world/ends" || fail "some tests ended differently (<: expected, >: found)"
echo "Every one of them as it should."

title "Claimed and measured: what these agents said was not so"
show "mngr tmr status demo --format '{task}: {evidence}' | grep -E '/(export-comma|number-last|edit-a-done-task)[.]sh:'"

title "The result is one branch, and every commit of it passes"
show "git log --format='%h %s' main..tmr/demo/integrated"
commit=$(git log --format=%h --grep='next number' main..tmr/demo/integrated)
[[ -n $commit ]] || fail "the fix of the numbers is not in the result"
run "why" "mngr tmr why $commit --run demo"
git switch --quiet --detach tmr/demo/integrated
red() { for test in tests/*.sh; do sh "$test" >/dev/null 2>&1 || echo "$test"; done; }
# `pick` passes by chance: what its agent did about that waits for a person.
red=$(red | grep -v pick | tr '\n' ' ')
[[ $red == "tests/due-tomorrow.sh tests/help.sh tests/list-done.sh " ]] || fail "these tests are red in the result: $red"
git switch --quiet --detach tmr/demo/review
red=$(red)
[[ $red == tests/due-tomorrow.sh ]] || fail "these tests are red with what needs review: $red"
git switch --quiet main
echo "In the result 21 of 24 tests pass. Three agents changed only what a test expects: that waits for a person."
show "git log --format='%h %s' tmr/demo/integrated..tmr/demo/review"
show "git log --format='%(trailers:key=Review)' tmr/demo/integrated..tmr/demo/review | grep ."
echo "One test nobody could mend; its agent says why:"
show "mngr tmr status demo --format '{task}: {evidence}' | grep due-tomorrow"

title "The report: every agent's words, transcripts and recordings; it opens from disk"
run "report" "mngr tmr report demo"
[[ -s tmr_demo/report/index.html ]] || fail "there is no report"
if [[ -n $keep ]]; then
    mkdir -p "$keep" && cp -R tmr_demo/. "$keep"
    echo "It is kept: $keep/report/index.html"
else
    echo "It goes away with everything else. To keep it: KEEP=/tmp/demo make demo"
fi
run "destroy, all agents" "mngr list --ids | mngr destroy --force - | tail -1"

title "How long each took"
printf '%s\n' "${timings[@]}"
echo
