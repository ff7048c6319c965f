#!/usr/bin/env bash
# The main job at work: 20 agents in parallel in a throw-away repository, from create to undo.
#
# usage: scripts/demo.sh MNGR_BINARY
#
# Everything happens in one temporary folder with a home, a host dir and tmux servers of its own. At the end,
# also after a failure or Ctrl-C, all of it is ended and removed, and that is checked.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly agents=20
readonly binary=$(realpath "${1:?the binary, as scripts/build-release prints it}")
readonly reap=$PWD/crates/mngr-testkit/src/reap.sh
# Short, because the path of a tmux socket below it has to fit into 108 bytes.
readonly world=$(mktemp -d /tmp/mngr-demo.XXXXXX)
readonly host_dir=$world/host

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
mkdir "$world"/{home,host,t,tmp,repo}
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

declare -a timings=()
now() { echo "${EPOCHREALTIME//[.,]/}"; }

# record WHAT START: notes the time since START.
record() {
    local elapsed=$((($(now) - $2) / 1000))
    timings+=("$(printf '%-34s %6d ms' "$1" "$elapsed")")
    printf '  [%d ms]\n\n' "$elapsed"
}

# run WHAT COMMAND: shows a command, runs it through the shell, and notes its time under WHAT.
run() {
    printf '$ %s\n' "$2"
    local start
    start=$(now)
    bash -c "set -o pipefail; $2" || fail "\`$2\` ended with $?"
    record "$1" "$start"
}

cd "$world/repo"
git init --quiet
echo "# A throw-away repository" >README.md
git add . && git commit --quiet --message "first commit"

# What each agent does: one note and a commit, wait for a message, then a second note and a commit.
readonly work='
note=notes-of-$MNGR_AGENT_NAME.txt
echo "made by $MNGR_AGENT_NAME" >"$note"
git add "$note" && git commit --quiet --message "$MNGR_AGENT_NAME: a first note"
read -r message
echo "heard: $message" >>"$note"
git commit --quiet --all --message "$MNGR_AGENT_NAME: a second note"
'
names=()
for ((i = 1; i <= agents; i++)); do names+=("$(printf 'demo-%02d' "$i")"); done

echo "== $agents agents at once, each in a git worktree and a tmux session of its own"
echo "\$ mngr create NAME --type command --no-connect -- sh -c '...'    (for ${names[0]} to ${names[-1]}, in parallel)"
start=$(now)
pids=()
for name in "${names[@]}"; do
    mngr create "$name" --type command --no-connect -- sh -c "$work" >"$world/$name.log" 2>&1 &
    pids+=($!)
done
for i in "${!pids[@]}"; do
    wait "${pids[i]}" || { cat "$world/${names[i]}.log" >&2; fail "\`mngr create ${names[i]}\`"; }
done
record "create, $agents in parallel" "$start"

run "list" "mngr list"
run "message, to all $agents" "mngr list --ids | mngr message - -m 'one more note, please'"
run "wait, for all $agents" "mngr list --ids | mngr wait - --state DONE --all --timeout 60s"

echo "== Their commits come home"
run "pull, one agent" "mngr pull ${names[0]} --merge"
run "pull, the other $((agents - 1))" "for name in demo-{02..$agents}; do mngr pull \$name --merge || exit; done >/dev/null"
for name in "${names[@]}"; do
    grep -q "heard: one more note, please" "notes-of-$name.txt" || fail "the commits of $name did not arrive"
done
echo "All $agents agents' commits are on $(git branch --show-current): $(git rev-list --count --no-merges HEAD) commits, $(find . -maxdepth 1 -name 'notes-of-*' | wc -l) notes."
echo

echo "== Nothing is lost: destroy an agent with unsaved work, and undo it"
run "exec" "mngr exec ${names[6]} 'echo \"never committed\" >draft.txt'"
run "destroy" "mngr destroy --force ${names[6]}"
run "undo" "mngr undo ${names[6]}"
run "exec" "mngr exec ${names[6]} 'cat draft.txt'"
[[ $(mngr exec "${names[6]}" 'cat draft.txt') == "never committed" ]] || fail "the draft of ${names[6]} did not come back"

run "destroy, all $agents" "mngr list --ids | mngr destroy --force - >/dev/null"

echo "== How long each took"
printf '%s\n' "${timings[@]}"
