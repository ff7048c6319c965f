"""What scripts need of the tutorial, with the plugin: exit codes, JSON, programs as agents."""

import json

from mngr_e2e import expect


def test_a_missing_agent_has_an_exit_code_of_its_own(e2e):
    e2e.write_tutorial_block("""
        # Exit codes tell failures apart: 9 is an agent that does not exist
        mngr stop nobody || echo "ended with $?"
    """)
    expect(e2e.run('mngr stop nobody || echo "ended with $?"').stdout).to_equal("ended with 9\n")


def test_an_error_is_json_too(e2e):
    e2e.write_tutorial_block("""
        # With JSON an error is JSON too
        mngr stop nobody --format json || true
    """)
    expect(json.dumps(json.loads(e2e.run("mngr stop nobody --format json || true").stdout))).to_contain("nobody")


def test_a_program_as_an_agent_leaves_nothing(e2e):
    e2e.write_tutorial_block("""
        # A program as an agent for as long as it runs: its output, its exit code, a clean worktree, nothing left over
        mngr create check --type headless_command --foreground -- git status
    """)
    checked = e2e.run("mngr create check --type headless_command --foreground -- git status")
    expect(checked).to_succeed()
    expect(checked.stdout).to_contain("On branch mngr/check")
    failed = e2e.run("mngr create check --type headless_command --foreground -- sh -c 'exit 3'")
    expect(failed).to_have_exit_code(3)
    expect(e2e.run("mngr list").stdout).to_contain("No agents found")


def test_a_recording_can_be_searched(e2e):
    """
    Tutorial block:
        # Record a command, as it looks in a terminal
        mngr record -o ~/tutorial/demo.cast -- sh -c 'echo hello; ls'

        # When does a text appear? And what could be read in the end?
        mngr replay ~/tutorial/demo.cast --search hello
        mngr replay ~/tutorial/demo.cast --dump
    """
    (e2e.home / "tutorial").mkdir()
    expect(e2e.run("mngr record -o ~/tutorial/demo.cast -- sh -c 'echo hello; ls'")).to_succeed()
    expect(e2e.run("mngr replay ~/tutorial/demo.cast --search hello").stdout).to_match(r"0:0\d\.\d  hello")
    expect(e2e.run("mngr replay ~/tutorial/demo.cast --dump").stdout).to_contain("README.md")
