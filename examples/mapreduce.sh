#!/usr/bin/env bash
# A test map-reduce in plain mngr verbs: one agent for each failing test, then one branch with what really helped.
#
# usage: mapreduce.sh LIST_TESTS RUN_TEST [OPTION OF mngr create]...
#
#   examples/mapreduce.sh 'ls tests/*.sh' sh --type claude
#
# LIST_TESTS prints the tests, one per line. RUN_TEST runs the one whose name follows it. At most $CAP agents (4) work at
# once, each for at most $PATIENCE (30m). Your checkout is not touched: the result is a branch, and its name is printed.
set -euo pipefail
list_tests=${1:?usage: mapreduce.sh LIST_TESTS RUN_TEST [OPTION OF mngr create]...}
run_test=${2:?how is one test run?}
shift 2
run=mapreduce-$(date -u +%Y%m%d%H%M%S)
scratch=$(mktemp -d)
trap 'mngr list --ids --label "run=$run" | mngr destroy --force --quiet - >/dev/null
    git worktree remove --force "$scratch/tree"; rm -rf "$scratch"' EXIT
git worktree add --quiet -b "$run" "$scratch/tree" HEAD

# Whether a test passes on the result so far. What it leaves behind is removed.
passes() {
    local status=0
    (cd "$scratch/tree" && sh -c "$run_test \"\$1\"" sh "$1") </dev/null &>/dev/null || status=$?
    git -C "$scratch/tree" reset --quiet --hard && git -C "$scratch/tree" clean --quiet -dffx
    return "$status"
}

# Map: an agent for one test, until it has finished its turn, ended, or run out of time.
work_on() {
    local task="Make the test $2 pass. Run it with: $run_test $2. Commit what you change. Nobody answers questions."
    mngr create "$1" --no-connect --label "run=$run" --env "TEST=$2" --message "$task" "${@:3}" &&
        mngr wait "$1" --state WAITING --state DONE --state STOPPED --timeout "${PATIENCE:-30m}"
    mngr stop "$1"
}
tests=$(cd "$scratch/tree" && sh -c "$list_tests")
green=() red=()
while read -r test; do if passes "$test"; then green+=("$test"); else red+=("$test"); fi; done <<<"$tests"
echo "${#green[@]} tests pass, ${#red[@]} fail: one agent each"
for i in "${!red[@]}"; do
    while (($(jobs -rp | wc -l) >= ${CAP:-4})); do wait -n || true; done
    work_on "$run-$i" "${red[i]}" "$@" &>"$scratch/$i.log" &
done
wait

# Reduce: a branch stays if its test passes with it, and every test that passed before still does.
judge() {
    (cd "$scratch/tree" && mngr pull "$run-$1" --merge) &>>"$scratch/$1.log" ||
        { sed -n '/^error: /{s//left out: /p;q;}' "$scratch/$1.log"; return; }
    [[ $(git rev-parse "$run") != "$2" ]] || { echo "left out: no commits"; return; }
    passes "${red[$1]}" || { echo "left out: the test still fails"; return; }
    for test in "${green[@]}"; do passes "$test" || { echo "left out: breaks $test"; return; }; done
    echo merged
}
for i in "${!red[@]}"; do
    before=$(git rev-parse "$run")
    verdict=$(judge "$i" "$before")
    if [[ $verdict == merged ]]; then green+=("${red[i]}"); else git -C "$scratch/tree" reset --quiet --hard "$before"; fi
    printf '%-30s %s\n' "${red[i]}" "$verdict"
done
echo "To merge the result: git merge $run"
