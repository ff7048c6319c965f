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

cd "$world/repo"
git init --quiet
echo "# A throw-away repository" >README.md
git add . && git commit --quiet --message "first commit"

# What each agent does instead of asking a model: a note and a commit, a question, the answer and another commit.
readonly steps=('edit notes-of-NAME.txt made by NAME' 'commit NAME: a first note' 'ask may I go on?'
    'edit notes-of-NAME.txt heard: {message}' 'commit NAME: a second note')
names=()
for ((i = 1; i <= agents; i++)); do names+=("$(printf 'demo-%02d' "$i")"); done
# Names and states in five columns, so that all agents fit on the screen.
readonly overview="mngr list --sort name --format '{name} {state:<8}' | paste -d ' ' - - - - -"

title "$agents agents at once, each in a git worktree and a tmux session of its own"
printf "%s\$ mngr create NAME scripted --no-connect -- STEPS...%s   (${names[0]} to ${names[-1]}, in parallel)\n" "$bold" "$plain"
start=$(now)
pids=()
for name in "${names[@]}"; do
    mngr create "$name" scripted --no-connect -- "${steps[@]//NAME/$name}" >"$world/$name.log" 2>&1 &
    pids+=($!)
done
for i in "${!pids[@]}"; do
    wait "${pids[i]}" || { cat "$world/${names[i]}.log" >&2; fail "\`mngr create ${names[i]}\`"; }
done
record "create, $agents in parallel" "$start"
run "wait, until all $agents ask" "mngr list --ids | mngr wait - --state WAITING --timeout 60s --quiet >/dev/null"
run "list" "$overview"

title "They all wait for an answer: give it to all of them, and wait until they are done"
run "message, to all $agents" "mngr list --ids | mngr message - -m 'yes, please' | tail -1"
run "wait, for all $agents" "mngr list --ids | mngr wait - --state DONE --timeout 60s >/dev/null"
show "$overview"

title "Their commits come home"
run "pull, one agent" "mngr pull ${names[0]} --merge"
run "pull, the other $((agents - 1))" "for name in demo-{02..$agents}; do mngr pull \$name --merge || exit; done >/dev/null"
for name in "${names[@]}"; do
    grep -q "heard: yes, please" "notes-of-$name.txt" || fail "the commits of $name did not arrive"
done
echo "All $agents agents' commits are on $(git branch --show-current): $(git rev-list --count --no-merges HEAD) commits, $(find . -maxdepth 1 -name 'notes-of-*' | wc -l) notes."

title "A state is never a guess: one agent is killed, and mngr says how it knows"
run "create, one agent" "mngr create clumsy scripted --no-connect -- 'say oops' crash"
show "mngr wait clumsy --timeout 60s"
run "explain" "mngr explain clumsy | head -4"

title "Nothing is lost: destroy an agent with unsaved work, and undo it"
run "exec" "mngr exec ${names[6]} 'echo \"never committed\" >draft.txt'"
run "destroy" "mngr destroy --force ${names[6]}"
run "undo" "mngr undo ${names[6]}"
show "mngr exec ${names[6]} 'cat draft.txt'"
[[ $(mngr exec "${names[6]}" 'cat draft.txt') == "never committed" ]] || fail "the draft of ${names[6]} did not come back"
run "destroy, all $((agents + 1))" "mngr list --ids | mngr destroy --force - | tail -1"

title "How long each took"
printf '%s\n' "${timings[@]}"
echo
