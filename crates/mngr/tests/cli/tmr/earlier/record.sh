#!/bin/sh
# Records the two runs of this folder anew. usage: record.sh BINARY
#
# `done` is a finished run, `cut` is one whose orchestrator was killed (kill -9) while the agent of `late` worked.
# Whatever tells where they were recorded is written as @ROOT@. Nothing is left behind.
set -eu
HERE=$(cd "$(dirname "$0")" && pwd)
ROOT=$(mktemp -d /tmp/mtXXXXXX)
MNGR="$ROOT/mngr"
ln -s "$(realpath "$1")" "$MNGR"
export HOME="$ROOT/home" MNGR_HOST_DIR="$ROOT/host" TMUX_TMPDIR="$ROOT/t" TMPDIR="$ROOT/tmp" STAGE="$ROOT/stage"
export GIT_CONFIG_GLOBAL="$HOME/.gitconfig" GIT_CONFIG_SYSTEM=/dev/null SHELL=/bin/sh LC_ALL=C.UTF-8 TZ=UTC
export DOCKER_HOST="unix://$ROOT/no-engine"
unset TMUX TMUX_PANE
mkdir -p "$HOME" "$MNGR_HOST_DIR" "$TMUX_TMPDIR" "$TMPDIR" "$STAGE/parts" "$ROOT/work"
git config --global user.name 'Test User'
git config --global user.email test@example.com
git config --global init.defaultBranch main

# The agents, each with its part.
cp "$HERE/../project/behave.sh" "$STAGE/behave.sh"
cp "$HERE"/parts/* "$STAGE/parts/"
SETTINGS=$("$MNGR" config path --scope user)
mkdir -p "$(dirname "$SETTINGS")"
cp "$HERE/settings.toml" "$SETTINGS"

# The project.
cd "$ROOT/work"
git init --quiet
cp -R "$HERE/project/." .
git add --all
git commit --quiet --message 'the project'

# Told once: a run keeps how it was called.
set -- tmr --collector parts --agent-type player --yes --all --retries 1 --max-agents 12 --run-name

# A finished run.
touch "$STAGE/go"
"$MNGR" "$@" done

# One that is killed: everything but `late` was measured.
rm "$STAGE/go"
"$MNGR" "$@" cut >"$ROOT/cut" 2>&1 &
ORCHESTRATOR=$!
measured() { grep -c '"stage":"verified"' tmr_cut/run.jsonl 2>/dev/null || true; }
at_work() { grep '"stage":"working"' tmr_cut/run.jsonl 2>/dev/null | grep -q 'tests/late.sh'; }
until [ "$(measured)" = 4 ] && at_work; do sleep 0.1; done
kill -9 "$ORCHESTRATOR"
wait "$ORCHESTRATOR" 2>/dev/null || true
"$MNGR" list --ids | "$MNGR" destroy --force - >/dev/null

# What is kept of them.
for run in done cut; do
    rm -rf "${HERE:?}/$run"
    rm -rf "tmr_$run/report"
    cp -R "tmr_$run" "$HERE/$run"
    # Git would keep nothing beside it.
    rm -f "$HERE/$run/.gitignore"
done
git fast-export --branches >"$HERE/repository"
grep -rlIZ "$ROOT" "$HERE/done" "$HERE/cut" "$HERE/repository" | xargs -0 -r sed -i "s|$ROOT|@ROOT@|g"
cd /
rm -rf "$ROOT"
