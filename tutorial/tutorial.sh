#!/bin/bash
# The mngr tutorial: every command, from a first agent to many at once.
#
# Read it from top to bottom, or copy from it. Type the commands in a git repository that you can throw away: some of them
# commit to it. Most use agents that need no account: `command` runs any program, `scripted` plays a script.
# Each block is run by an end-to-end test, and so is the whole.
set -euo pipefail

######################################################################
# A first agent
######################################################################

# Everything there is, on one page
mngr help

# Every command explains itself, with examples. So do topics: states, filters, exit_codes, ...
mngr help create
mngr help config set
mngr help states

# An agent is a program in a terminal, with a git worktree and a branch of its own.
# Any program will do: here, just a shell. At a terminal, --no-connect leaves you where you are
mngr create try-it --no-connect -- sh

# Type a line into it
mngr message try-it "echo hello"

# What is on its screen?
mngr capture try-it

# Sit down at its terminal. Leave with Ctrl-b d (inside another tmux: Ctrl-b Ctrl-b d), and it works on
mngr connect try-it

# Run something beside it, in its folder, without disturbing it
mngr exec try-it 'git status --short'

# Its state, and how mngr knows
mngr explain try-it

# Away with it. --force, because it still runs
mngr destroy --force try-it

# A slip of the finger? Destroying loses nothing: it is back, with its id, its branch and its files
mngr undo try-it

######################################################################
# One task from start to end
######################################################################

# A script plays the agent here, so that it costs nothing and does the same every time:
# it edits a file, commits it, and asks a question
mngr create fix-login scripted --no-connect -- 'edit login.py fixed' 'commit Fix the login' 'ask is that all?'

# A second agent in the same repository, at the same time. They do not see each other's files
mngr create docs --no-connect -- sh

# What are they doing? fix-login waits: it has a question
mngr list

# Look at the question on its own terminal, if you like. Leave with Ctrl-b d, and it still waits
mngr connect fix-login

# Answer it. The command returns once the agent has taken the message, and fails if it did not
mngr message fix-login 'yes, thank you'

# Wait until it has ended
mngr wait fix-login

# Bring its commits here, and merge them into the branch you are on
mngr pull fix-login --merge

# Clear up. It is one command to change your mind
mngr destroy --force docs
mngr undo docs

# Its commits are yours now, so this one can go. An agent that has ended needs no --force
mngr destroy fix-login

######################################################################
# Creating agents
######################################################################

# Some files for the examples below
mkdir -p ~/tutorial/notes
echo 'an idea' >~/tutorial/notes/one.txt
echo 'read the notes' >~/tutorial/task.md
echo 'COLOUR=blue' >~/tutorial/api.env

# At a terminal, create shows you the agent at once. Leave with Ctrl-b d
mngr create pair -- sh

# Nobody has to think of a name
mngr create --no-connect -- sh

# Words after -- are the program and its arguments, taken as they are.
# One word with shell syntax runs through sh
mngr create sleeper --no-connect -- sleep 1000
mngr create lister --no-connect -- 'ls >listing.txt; exec sleep 1000'

# Begin at another branch than the one you are on, and choose what the new branch is called; * is the name
mngr create hotfix --branch 'main:hotfix/*' --no-connect -- sh

# Take your uncommitted changes along. Without the option, create refuses rather than leave something behind
echo 'half a thought' >thought.txt
mngr create go-on --include-unclean --no-connect -- sh
rm thought.txt

# No worktree: work in this very folder
mngr create here --transfer none --no-connect -- sh

# A folder that is no repository is copied
mngr create notes --from ~/tutorial/notes --rsync --no-connect -- sh

# Variables for the agent, one by one or from a file. They never show in a process list
mngr create api --env PORT=8080 --env-file ~/tutorial/api.env --no-connect -- sh

# Make the folder ready before the agent starts: run commands in it, put files into it
mngr create web --extra-provision-command 'mkdir build' --upload-file ~/tutorial/task.md:TASK.md --no-connect -- sh

# More windows beside the agent, for a server or a log
mngr create server --extra-window 'log=echo the log; exec sh' --no-connect -- sh
mngr capture server --window log

# Say what it has to do as soon as it is ready
mngr create greeter scripted --message 'hello' --no-connect

# Write a longer task in your editor; the agent is made meanwhile, and gets what you have saved
mngr create letter scripted --edit-message --no-connect

# In a script that may run twice: take the agent of that name if there is one, start it if it does not run
mngr create greeter --reuse --message 'and again' --no-connect

# A second agent that begins where the first one stands: its files, uncommitted ones too, on a branch of its own
mngr clone try-it second-try --no-connect

# The same once more, but only what is committed, and with a word what to do differently
mngr clone greeter other-way --exclude-unclean --message 'no library this time' --no-connect

# The same as another type of agent: files from one, the work done by another
mngr create review scripted --from try-it --no-connect -- 'run ls' 'ask what shall I look at?'

######################################################################
# Coding agents
######################################################################

# Claude Code at work. mngr reads its state from what it says of itself, and proves every message by its record
mngr create fix-login claude --message 'make the login test pass'

# Codex works the same way, and so does opencode. --yes answers what they ask at the first start in a folder
mngr create second-opinion codex --yes --no-connect --message 'review the last commit'

# What was said, in the same form for all of them
mngr transcript fix-login
mngr transcript fix-login --role assistant --tail 1

# What has it used?
mngr usage fix-login
mngr usage --by model --since 24h

# A budget, here a tenth of a cent: wait until it has spent that, then stop it
mngr usage wait fix-login --until 'total_cost_usd > 0.001' --timeout 2h
mngr stop fix-login

# Away with it, whatever it does. `mngr undo` brings it back, and what was said
mngr destroy --force fix-login

# One question, one answer, for scripts: no terminal, and the agent is gone afterwards
mngr create --type headless_claude --foreground -m 'what does this repository do?'

######################################################################
# Many at once
######################################################################

# Labels say what belongs together
mngr create page --label team=web --no-connect -- sh

# Filters are expressions (CEL), and a template says what is printed
mngr list --include 'labels.team == "web"' --format '{name} {state}'

# Who waits for what, and who failed?
mngr list --fields name,state,waiting_reason,exit_status

# Sorted, and no more than a screenful
mngr list --sort 'state, name desc' --limit 20

# Only agents of the repository you stand in
mngr list --project . --running

# All fields there are, and all of them as JSON
mngr list --schema
mngr list --format json

# Where do they run? Every host, whatever it does, and who is on it
mngr list --hosts

# With its host behind an @ an agent is found at once, and one of the same name elsewhere is not meant. A host alone is @HOST
mngr list --hosts --format '{name} {state}'
mngr file list try-it@localhost
mngr file list @localhost

# A host that mngr made, such as a container, stops with an agent if you like, and starts with it or alone. This machine does neither
mngr stop try-it --stop-host || echo "ended with $?"
mngr start --host localhost || echo "ended with $?"

# Lists feed other commands
mngr list --running --ids | mngr message - -m "please commit what you have"

# Keep it on the screen. It changes when the agents do; leave with Ctrl-c
mngr list --watch

# Every change of every agent, as it happens. Leave with Ctrl-c
mngr observe

# The same for programs: only what they ask for
mngr observe --stream-events | grep AGENT_STATE_CHANGE

# Several hosts can have one name. An agent goes to the one with the fewest agents; here there is only this machine
mngr config set --scope user pools.crew.hosts '["localhost"]'
mngr create anywhere@crew --no-connect -- sh

######################################################################
# Talking with agents
######################################################################

# The same text to several
mngr message greeter second-try -m 'echo stop here'

# Long texts come from standard input, or from a file
git log -1 | mngr message greeter
mngr message greeter --message-file ~/tutorial/task.md

# A script that is run again must not repeat itself: a key is delivered once
mngr message greeter --key nightly-1 -m 'good morning'

# An agent that asks permission can be answered from here, where its program takes an answer: Codex with the setting app_server
mngr message greeter --approve || echo "ended with $?"

# Wait for an agent to wait for you. A timeout has its own exit code, 8
mngr wait greeter WAITING --timeout 10m

# The first of several that ends
mngr create quick --no-connect -- sleep 1
mngr wait greeter sleeper quick --any

# Everything that scrolled away
mngr capture greeter --full

# What happened to it, as JSON lines: only messages, the last one
mngr event greeter messages --tail 1
mngr event greeter --include 'type == "message_sent"'

# Everything that happens to it from now on, too. Leave with Ctrl-c
mngr event greeter --follow

######################################################################
# Running things beside an agent
######################################################################

# The exit code is the command's own, so that it can be used in conditions
mngr exec try-it -- test -e README.md && echo 'there is a README'

# It has the agent's environment
mngr exec api 'echo "$PORT"'

# In all of them at once
mngr list --project . --ids | mngr exec - 'git log --oneline -1'

# Not for ever: 124 is the exit code when the time is up
mngr exec try-it --timeout 0.5s 'sleep 100' || echo "ended with $?"

######################################################################
# Bringing work back and forth
######################################################################

# An agent with something to show: a commit, and a file that it did not commit
mngr create report scripted --no-connect -- 'edit sums.py fixed' 'commit Fix the sums' 'write report.html all is well'
mngr wait report

# Bring its branch here. No file is touched; the command that merges it is printed
mngr pull report

# What would a merge do?
mngr pull report --merge --dry-run

# Your commits to the agent, merged into its branch
mngr push report

# A file, or a folder that is to be the same on both sides
mngr push report ~/tutorial/task.md
mngr push report:notes/ ~/tutorial/notes/ --delete

# One file, committed or not
mngr pull report:report.html .

# All its files as they are. What is in the way here is set aside with git stash
mngr pull report --sync-mode files --uncommitted-changes stash
git add --all && git commit --quiet -m 'The report'

# Plain git, to wherever the agent is. What comes after -- is for git itself
mngr create plain scripted --no-connect -- 'edit plain.py fixed' 'commit Fix it plainly'
mngr wait plain
mngr git pull plain -- --no-rebase
git commit --quiet --allow-empty -m 'News from me'
mngr git push plain
mngr git push plain -- HEAD:refs/heads/from-me

# Plain rsync, in both directions. A slash behind a folder means what is in it
mngr rsync plain:plain.py ~/tutorial/
mngr rsync ~/tutorial/notes/ plain:ideas/ -- --exclude='*.tmp'

# Single files: write, list, read
echo 'look at this' | mngr file put plain ideas/two.txt
mngr file list plain ideas
mngr file get plain ideas/two.txt

# A program stays one with --mode, and --output saves what would be printed
echo 'echo it works' >~/tutorial/run.sh
mngr file put plain run.sh --input ~/tutorial/run.sh --mode 0755
mngr file get plain run.sh --output ~/tutorial/run-again.sh

# A folder with all that is below it; and what mngr itself keeps about the agent
mngr file list plain --recursive --fields name,size
mngr file list plain --relative-to state --format '{path}'
mngr file get plain data.json --relative-to state

######################################################################
# Stopping, tidying up, bringing back
######################################################################

# Stop it for the night. Its terminal goes; its folder and its conversation stay
mngr stop greeter
mngr list --stopped

# Go on in the morning, with a word
mngr start greeter --resume-message 'where were we?'

# Start it afresh although it runs
mngr start greeter --restart

# Several at once: a list says which ones
mngr list --label team=web --ids | mngr stop -
mngr list --label team=web --ids | mngr start -

# A better name. Branch and folder stay as they are. A label may come with it
mngr rename greeter reception
mngr rename second-try runner-up --label reviewed=yes

# Labels can be set at any time, and removed. A title says in a few words what the agent works on
mngr label page --label urgent=yes
mngr label page --remove urgent
mngr label page --title 'the new front page'

# One that should run whenever this machine does: a line in your crontab sees to it
mngr limit reception --start-on-boot
mngr limit reception --no-start-on-boot

# Out of sight, but not gone
mngr stop page --archive
mngr list --archived

# Back into sight. One that does not run can be archived as it is
mngr unarchive page
mngr archive page

# Out of sight with all that do not run. Look first
mngr archive --all --dry-run

# All of them, back into sight
mngr list --archived --ids | mngr unarchive -

# All that have ended, in one go. Look first
mngr list --project . --ids --include 'state == "DONE"' | mngr destroy --dry-run -
mngr list --project . --ids --include 'state == "DONE"' | mngr destroy -

# Before something risky: a copy of an agent as it is now, with uncommitted and ignored files. It works on meanwhile
mngr snapshot create try-it --name before
mngr snapshot list try-it

# Back to that moment, as an agent beside the one that went on; with --replace, in its place
mngr snapshot restore "$(mngr snapshot list try-it --limit 1 --format '{id}')" try-it-then

# Snapshots take space; how much? Removing them takes nothing else away
mngr snapshot list --format '{id} {name} {size_bytes}'
mngr snapshot destroy try-it --all-snapshots --dry-run
mngr snapshot destroy try-it --all-snapshots --force

# An agent moves to another host with all its work, as in `mngr migrate try-it-then @box`; here it only gets a new name.
# The old one goes once the copy is shown to be whole, and `mngr undo` has it for 30 days
mngr migrate try-it-then try-it-moved --no-connect

# The branch of a destroyed agent stays, unless you say so. Commits that only it has are kept even then
mngr destroy try-it --force --remove-created-branch

# What can come back?
mngr undo
mngr undo --sizes

# Away with all that match. At a terminal, without --yes, you mark them in a menu
mngr cleanup --older-than 30d --dry-run
mngr cleanup --idle-for 2h --stop --yes
mngr cleanup --type scripted --idle-for 7d --yes

# Destroyed agents are deleted after 30 days. See what would go, then let it go
mngr gc --dry-run
mngr gc

# Is anything missing, broken or left behind? Look, then let mngr put right what loses nothing
mngr doctor
mngr doctor --fix

######################################################################
# Settings
######################################################################

# What is set, and where
mngr config list
mngr config list --format '{key}={value} ({origin})'
mngr config path
mngr config path --scope user

# Options you always give: here, the order of the list
mngr config set commands.list.sort name --scope user
mngr config get commands.list.sort

# Only for this once
mngr list --setting commands.list.sort='name desc'

# Add to a list, replace it, and go back to what it was
mngr config extend unset_vars '["PYTHONPATH"]' --scope user
mngr config assign unset_vars '[]' --scope user
mngr config unset unset_vars --scope user

# Edit the file. What you save is checked
mngr config edit --scope user

# A template is a bundle of options for create
mngr config set create_templates.web '{"label": ["team=web"], "env": ["PORT=8080"]}' --scope user
mngr create shop --template web --no-connect -- sh

# An agent type of your own: a program with its arguments, by one word
mngr config set agent_types.clock '{"parent_type": "command", "command": "sleep 1000"}' --scope user
mngr config get agent_types.clock.command --scope user
mngr create tick clock --no-connect

# Which agent types and providers are there? What is disabled is unknown to create, for good or for this once
mngr plugin list
mngr plugin list --kind agent-type --active --format '{name}'
mngr plugin disable docker --scope user
mngr plugin enable docker --scope user
mngr create no-docker --disable-plugin docker --no-connect -- sh

# Settings that come with a repository could run programs. Read them, then say that you trust them
mngr config list --scope project
mngr config trust

# Have TAB complete commands, options, agents and settings. Say for which shell, or let SHELL say it
mngr completion install bash

# Only the script, to be put where you like
mngr completion fish >~/tutorial/mngr.fish

######################################################################
# In scripts
######################################################################

# Exit codes tell failures apart: 9 is an agent that does not exist
mngr stop nobody || echo "ended with $?"

# With JSON an error is JSON too
mngr stop nobody --format json || true

# What commands and options are there? A program reads it here
mngr help --format json

# A program as an agent for as long as it runs: its output, its exit code, a clean worktree, nothing left over
mngr create check --type headless_command --foreground -- git status

# It reads standard input
git log | mngr create --type headless_command --foreground -- wc -l

######################################################################
# Recordings
######################################################################

# Record a command, as it looks in a terminal
mngr record -o ~/tutorial/demo.cast -- sh -c 'echo hello; ls'

# Play it: space pauses, the arrow keys go back and forth, q ends
mngr replay ~/tutorial/demo.cast --speed 4 --idle-limit 1s

# When does a text appear? And what could be read in the end?
mngr replay ~/tutorial/demo.cast --search hello
mngr replay ~/tutorial/demo.cast --dump

# Record an agent until it ends, or until Ctrl-c
mngr record hotfix -o ~/tutorial/hotfix.cast

######################################################################
# A tutorial like this one
######################################################################

# A tutorial is a script made of blocks: lines between empty lines
mkdir -p tutorial
cat >tutorial/tutorial.sh <<'END'
# Say hello
mngr create hello --no-connect -- sh

# Stopping
END

# Tests cite its blocks, in Python or in Rust
mkdir -p tests
cat >tests/test_hello.py <<'END'
def test_hello(e2e):
    e2e.write_tutorial_block("""
    # Say hello
    mngr create hello --no-connect -- sh
    """)
END

# Which blocks are there?
mngr tutorial list tutorial/tutorial.sh
mngr tutorial list tutorial/tutorial.sh --format '{id} {line} {title}'

# Is every block cited by a test, and does every block that tests cite exist? With --strict, does every test cite one?
mngr tutorial check tutorial/tutorial.sh tests/
mngr tutorial check tutorial/tutorial.sh tests/ --strict

# How much of it is tested, and by which tests?
mngr tutorial coverage tutorial/tutorial.sh tests/
mngr tutorial coverage tutorial/tutorial.sh tests/ --format '{title}: {tests}'

# Are the commands right? Verbs, options and values are checked, and nothing is run. Other programs are asked for their --help
mngr tutorial lint tutorial/tutorial.sh
mngr tutorial lint tutorial/tutorial.sh --cli git

# What is missing? Headings without commands, and blocks without a test
mngr tutorial fill tutorial/tutorial.sh
mngr tutorial sync tutorial/tutorial.sh tests/

# An agent can propose commands for a heading. A script plays it here; one of --type claude reads the help first.
# Agents work on what is committed
cat >~/tutorial/proposals.jsonl <<'END'
{"heading": "Stopping", "text": "# Stop it for the night\nmngr stop hello", "reason": "everybody needs it"}
{"heading": "Stopping", "text": "# Stop it at once\nmngr stop hello --no-graceful", "reason": "some do not listen"}
END
git add --all && git commit --quiet -m 'A tutorial'
mngr tutorial fill tutorial/tutorial.sh --launch --type scripted -- read 'run cp ~/tutorial/proposals.jsonl .tutorial-task/'

# Nothing gets into the file before you have accepted it
mngr tutorial proposals
mngr tutorial accept "$(mngr tutorial proposals --format '{id}' | head -n 1)"

# What you reject is remembered, by command, with what agents got wrong: there the interface may be unclear
mngr tutorial reject "$(mngr tutorial proposals --format '{id}' | head -n 1)" --reason 'too much for a newcomer'
mngr tutorial proposals --all --format '{id} {status} {heading}'
mngr tutorial confusing
mngr tutorial confusing --format '{count} {verb}'

# Agents can write the missing tests, too, on a branch. With --merge they are measured, and what holds is merged
cat >~/tutorial/test_stop.py <<'END'
def test_stop(e2e):
    e2e.write_tutorial_block("""
    # Stop it for the night
    mngr stop hello
    """)
END
git commit --quiet --all -m 'One more block'
mngr tutorial sync tutorial/tutorial.sh tests/ --launch --type scripted -- \
    read 'run cp ~/tutorial/test_stop.py tests/' 'commit Test the new block'

# The same two procedures as slash commands for Claude Code
mngr tutorial skill
mngr tutorial skill --write .

######################################################################
# Looking at what tests did
######################################################################

# All runs of your end-to-end tests on a page: what passed, transcripts, recordings. Ctrl-c ends it
mngr view

# The same as a folder that opens from disk, for those who were not there
mngr view --export ~/tutorial/page

######################################################################
# One agent per test
######################################################################

# The tests of this project are scripts here. Two of three fail
mkdir -p checks
for word in hello bye; do echo "grep -q $word words/$word.txt" >checks/$word.sh; done
echo 'test -d checks' >checks/here.sh
git add --all && git commit --quiet -m 'Three tests'

# How are tests found and run? pytest, cargo-nextest, go test, Vitest and Jest are known; any command will do
mngr config set tmr.collectors.checks '{"collect": "ls checks/*.sh", "one": "sh {id}"}' --scope user

# Who mends them? Usually --agent-type claude. A script plays it here: it changes a file, commits, and publishes what it did
cat >~/tutorial/mend.sh <<'END'
word=$(basename "$MNGR_TMR_TASK" .sh)
mkdir -p words && echo "$word" >"words/$word.txt"
git add --all && git commit --quiet -m "[FIX_IMPL] Say $word"
said=$MNGR_AGENT_STATE_DIR/said.json
echo '{"result": "fixed", "summary_markdown": "The word was missing.", "tests_passing_before": false,
  "tests_passing_after": true, "changes": [{"kind": "FIX_IMPL", "summary_markdown": "It is there."}]}' >"$said"
"$MNGR_AGENT_STATE_DIR/commands/publish" "$said"
END
mngr config set agent_types.mender '{"parent_type": "scripted", "cli_args": ["read", "run sh ~/tutorial/mend.sh", "read"]}' --scope user

# What would be done, and what would it probably use? Nothing is launched
mngr tmr --collector checks --agent-type mender --dry-run

# Only some tests? A test that you name gets an agent even if it passes
mngr tmr checks/here.sh --collector checks --agent-type mender --dry-run

# Do it: one agent per failing test, for 5 US dollars at most. What they hand over is measured before it counts.
# Ctrl-c once: those at work may finish; twice: all are stopped
mngr tmr --collector checks --agent-type mender --max-cost 5 --run-name first

# How far is it? From another terminal, until it ends; or test by test
mngr tmr status --watch
mngr tmr status --format '{stage} {task}'

# What came of it is a branch: reviewed like any other
git log --format='%h %s' HEAD..tmr/first/integrated

# Where does a commit come from? Its tests, what was measured, how many agents made the same change
mngr tmr why "$(git rev-parse tmr/first/integrated)"

# A change you do not want? The others are checked again without it
mngr tmr drop "$(git rev-parse tmr/first/integrated)"

# You do want it? The same results, put together once more
mngr tmr reintegrate first

# Some changes need your eye first: files that many tests use, tests that may have become weaker. They wait on a branch of
# their own, with the reasons. Take one over to the result, or drop it
mkdir -p tests/common && echo no >tests/common/answer && echo 'grep -q yes tests/common/answer' >checks/answer.sh
git add --all && git commit --quiet -m 'A fourth test'
sed -e 's|^mkdir.*|echo yes >tests/common/answer|' -e 's/FIX_IMPL/FIX_TEST/' ~/tutorial/mend.sh >~/tutorial/answer.sh
mngr config set agent_types.answerer '{"parent_type": "scripted", "cli_args": ["read", "run sh ~/tutorial/answer.sh", "read"]}' --scope user
mngr tmr checks/answer.sh --collector checks --agent-type answerer --run-name second
git log HEAD..tmr/second/review
mngr tmr take checks/answer.sh --run second
mngr list --label mapreduce_run_name=second --ids | mngr destroy --force -
rm -r tmr_second
mngr config unset agent_types.answerer --scope user

# The whole story as a page that opens from disk: claims and measurements, costs, every transcript
mngr tmr report first

# Enough for today? From another terminal: no new agents, or with --now none at all. Later it goes on where it was,
# even if the power went out
mngr tmr stop first
mngr tmr resume first

# Its agents are stopped and kept. Away with them, and with the folder of the run
mngr list --label mapreduce_run_name=first --ids | mngr destroy --force -
rm -r tmr_first
mngr config unset tmr.collectors.checks --scope user
mngr config unset agent_types.mender --scope user

######################################################################
# Clearing up
######################################################################

# The agents of this tutorial away, in one go. For 30 days, `mngr undo` brings any of them back
mngr list --project . --project notes --ids | mngr destroy --force -

# And its settings and files
mngr config unset commands.list.sort --scope user
mngr config unset create_templates.web --scope user
mngr config unset agent_types.clock --scope user
rm -r ~/tutorial
