"""The tutorial's first sections, with the plugin. The Rust tests of every block are in crates/mngr/tests/tutorial."""

import json

from mngr_e2e import expect


def state(e2e, name):
    listing = json.loads(e2e.run("mngr list --format json").stdout)
    return next(agent["state"] for agent in listing["agents"] if agent["name"] == name)


def test_an_agent_gets_a_branch_of_its_own(e2e):
    e2e.write_tutorial_block("""
        # An agent is a program in a terminal, with a git worktree and a branch of its own.
        # Any program will do: here, just a shell. At a terminal, --no-connect leaves you where you are
        mngr create try-it --no-connect -- sh
    """)
    created = e2e.run("mngr create try-it --no-connect -- sh", comment="just a shell")
    expect(created).to_succeed()
    expect(created.stdout).to_contain("Created agent: try-it (command)")
    expect(e2e.run("git worktree list").stdout).to_contain("[mngr/try-it]")
    assert state(e2e, "try-it") == "RUNNING"


def test_a_second_agent_of_the_same_name_is_refused(e2e):
    """
    Tutorial block:
        # An agent is a program in a terminal, with a git worktree and a branch of its own.
        # Any program will do: here, just a shell. At a terminal, --no-connect leaves you where you are
        mngr create try-it --no-connect -- sh

    Scope: a name is taken once
    """
    expect(e2e.run("mngr create try-it --no-connect -- sh")).to_succeed()
    again = e2e.run("mngr create try-it --no-connect -- sh", comment="the same name")
    expect(again).to_have_exit_code(1)
    expect(again.stderr).to_contain("already exists")
    expect(e2e.run("mngr list --format '{name}'").stdout).to_equal("try-it\n")


def test_connect_attaches(e2e):
    e2e.write_tutorial_block("""
        # Sit down at its terminal. Leave with Ctrl-b d (inside another tmux: Ctrl-b Ctrl-b d), and it works on
        mngr connect try-it
    """)
    expect(e2e.run("mngr create try-it --no-connect -- sh")).to_succeed()
    terminal = e2e.terminal("mngr connect try-it")
    terminal.expect_text("mngr-try-it")
    terminal.send("echo typed $((40 + 2))\r")
    terminal.expect_text("typed 42")
    # tmux takes a key for pasted text when it comes within a millisecond of another.
    assert state(e2e, "try-it") == "RUNNING"
    terminal.press("C-b")
    terminal.press("d")
    expect(terminal.wait()).to_succeed()
    assert state(e2e, "try-it") == "RUNNING"


def test_explain_names_the_evidence(e2e):
    e2e.write_tutorial_block("""
        # Its state, and how mngr knows
        mngr explain try-it
    """)
    expect(e2e.run("mngr create try-it --no-connect -- sh")).to_succeed()
    explained = e2e.run("mngr explain try-it")
    expect(explained).to_succeed()
    expect(explained.stdout).to_match(r"state +RUNNING").to_match(r"program +process \d+ is alive")


def test_a_running_agent_is_destroyed_with_force_only(e2e):
    e2e.write_tutorial_block("""
        # Away with it. --force, because it still runs
        mngr destroy --force try-it
    """)
    expect(e2e.run("mngr create try-it --no-connect -- sh")).to_succeed()
    expect(e2e.run("mngr destroy try-it", comment="it runs")).to_have_exit_code(1)
    assert state(e2e, "try-it") == "RUNNING"
    expect(e2e.run("mngr destroy --force try-it")).to_succeed()
    expect(e2e.run("mngr list").stdout).to_contain("No agents found")


def test_undo_brings_files_back(e2e):
    e2e.write_tutorial_block("""
        # A slip of the finger? Destroying loses nothing: it is back, with its id, its branch and its files
        mngr undo try-it
    """)
    expect(e2e.run("mngr create try-it --no-connect -- sh")).to_succeed()
    expect(e2e.run("mngr exec try-it 'echo draft >draft.txt'")).to_succeed()
    expect(e2e.run("mngr destroy --force try-it")).to_succeed()
    expect(e2e.run("mngr undo try-it")).to_succeed()
    expect(e2e.run("mngr exec try-it 'cat draft.txt'").stdout).to_equal("draft\n")
    assert state(e2e, "try-it") == "STOPPED"
