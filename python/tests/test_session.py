"""Sessions by themselves, without the plugin."""

import inspect
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mngr_e2e import Keep, Options, Session, TestPlace, expect
from mngr_e2e.options import OptionsError
from mngr_e2e.session import cited_block, tutorial_sections
from mngr_e2e.transcript import read

HERE = Path(__file__).parent


def wait_until_gone(pid):
    for _ in range(500):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)
    raise AssertionError(f"process {pid} is still there")


def test_both_streams_the_code_and_the_bytes_are_kept(session):
    result = session.run("echo out; printf '\\377' >&2; exit 3")
    expect(result).to_fail().to_have_exit_code(3)
    assert result.stdout == "out\n"
    assert result.stderr == "\N{REPLACEMENT CHARACTER}"
    session.finish("passed")
    assert read(session.artifacts).output(1, "stderr") == b"\xff"
    assert (session.artifacts / "transcript.txt").read_bytes().endswith(b"! \xff\n? 3\n")


def test_nothing_of_this_machine_is_seen_but_path(session, monkeypatch):
    names = session.run("env | cut -d= -f1").stdout.split()
    assert set(names) <= set(session._environment.variables) | {"PWD", "OLDPWD", "SHLVL", "_"}
    expect(session.run('echo "$HOME"; pwd; git log --oneline').stdout).to_contain("First commit")


def test_a_timeout_ends_the_whole_group(session):
    result = session.run("sleep 100 & echo $!; wait", timeout=0.3)
    assert (result.exit_code, result.timed_out) == (124, True)
    assert result.duration < 5
    wait_until_gone(int(result.stdout))


def test_a_process_in_the_background_does_not_hold_the_command_and_ends_with_the_session(session):
    result = session.run("sleep 100 & echo $!")
    assert result.duration < 5
    session.finish("passed")
    wait_until_gone(int(result.stdout))
    assert not session.home.parent.exists()


def test_a_killed_test_leaves_nothing(tmp_path):
    script = """if True:
        import sys, os, signal
        from mngr_e2e import Session, TestPlace, Options
        session = Session(TestPlace("a.py", "test_a"), Options(output=sys.argv[1], run="run"))
        print(session.run("tmux new-session -d 'sleep 100' && tmux display -p '#{pid}'").stdout.strip(), flush=True)
        print(session.home.parent, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    killed = subprocess.run([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    server, root = killed.stdout.split()
    wait_until_gone(int(server))
    deadline = time.monotonic() + 10
    while os.path.exists(root):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert json.loads((tmp_path / "run/a--test_a/test.json").read_text())["status"] == "running"


def test_a_flood_is_on_disk_and_not_in_memory(session):
    result = session.run("head -c 30000000 /dev/zero | tr '\\0' x; echo end")
    assert len(result.stdout) < 9_000_000
    expect(result.stdout).to_match(r"\[\.\.\. \d+ bytes left out here, all of them are in .*transcript\.jsonl")
    assert result.stdout.endswith("end\n")
    session.finish("passed")
    assert len(read(session.artifacts).output(1, "stdout")) == 30_000_004


def test_what_is_given_is_read_and_otherwise_there_is_nothing(session):
    assert session.run("cat", stdin=b"\0" * 1_000_000).stdout == "\0" * 1_000_000
    assert session.run("cat").stdout == ""


def test_variables_and_folders_last_as_long_as_they_were_set_for(session):
    session.set_env("LASTING", "1")
    assert session.run('echo "$LASTING$ONCE"', env={"ONCE": "2"}).stdout == "12\n"
    session.unset_env("LASTING")
    session.cd("..")
    assert session.run('echo "$LASTING$ONCE"; pwd', cwd="home").stdout == f"\n{session.home}\n"


def test_secrets_are_not_written_down(session):
    session.set_env("SOME_API_KEY", "hunter2")
    expect(session.run("test -n $SOME_API_KEY")).to_succeed()
    session.finish("passed")
    everything = b"".join(file.read_bytes() for file in session.artifacts.iterdir())
    assert b"hunter2" not in everything
    assert b'"SOME_API_KEY":"***"' in everything


def test_a_failure_shows_command_code_streams_and_artifacts(session):
    result = session.run("echo out; echo err >&2; exit 3")
    with pytest.raises(AssertionError) as failure:
        expect(result).to_succeed()
    text = str(failure.value)
    for part in ("to succeed, but it ended with 3", "exit 3", "\n  out", "\n  err", str(session.artifacts)):
        assert part in text
    with pytest.raises(AssertionError, match="(?s)expected stdout to contain 'x'.*command: echo out"):
        expect(result.stdout).to_contain("x")


@pytest.mark.parametrize(
    "check",
    [
        lambda: expect("ab").to_contain("c"),
        lambda: expect("ab").not_to_contain("a"),
        lambda: expect("ab").to_match("^b"),
        lambda: expect("ab").not_to_match("b$"),
        lambda: expect("ab").to_equal("abc"),
        lambda: expect("ab").not_to_equal("ab"),
        lambda: expect("ab").to_be_empty(),
        lambda: expect("").not_to_be_empty(),
    ],
)
def test_each_expectation_fails_when_its_opposite_holds(check):
    with pytest.raises(AssertionError, match="expected the text"):
        check()


def test_what_holds_passes_and_can_be_chained():
    expect("one\ntwo\n").to_contain("one").not_to_contain("three").to_match(r"(?m)^t\w+$").not_to_be_empty()
    expect("").to_be_empty().to_equal("").not_to_equal("x").not_to_match("x")
    with pytest.raises(TypeError):
        expect(3)


def test_a_kept_environment_can_be_entered_and_destroyed(tmp_path):
    options = Options(keep_env=Keep.ON_FAILURE, output=str(tmp_path), run="run")
    session = Session(TestPlace("a.py", "test_a"), options)
    session.set_env("COLOUR", "it's red")
    session.set_env("SOME_TOKEN", "hunter2")
    pid = int(session.run("sleep 100 & echo $!").stdout)
    session.finish("failed", "because")
    record = json.loads((session.artifacts / "test.json").read_text())
    assert record["environment"] == str(session.home.parent)
    os.kill(pid, 0)
    inside = subprocess.run(
        [session.artifacts / "reenter", "sh", "-c", 'echo "$COLOUR,$SOME_TOKEN"; pwd'], capture_output=True, text=True
    )
    assert inside.stdout == f"it's red,\n{session.project}\n"
    subprocess.run([session.artifacts / "destroy-env"], check=True)
    wait_until_gone(pid)
    assert not session.home.parent.exists()
    assert subprocess.run([session.artifacts / "reenter", "true"], capture_output=True).returncode == 1


def test_artifacts_are_kept_when_they_are_wanted(tmp_path):
    for keep, status, stays in [(Keep.NO, "failed", False), (Keep.ON_FAILURE, "passed", False)]:
        session = Session(TestPlace("a.py", "test_a"), Options(artifacts=keep, output=str(tmp_path)))
        session.finish(status)
        assert session.artifacts.exists() is stays
    with pytest.raises(OptionsError):
        Options(keep_env=Keep.YES, artifacts=Keep.ON_FAILURE)


def test_a_second_try_gets_its_own_folder_and_a_namesake_counts_as_none(tmp_path):
    found = []
    for file in ("x/a.py", "y/a.py", "x/a.py"):
        session = Session(TestPlace(file, "b"), Options(output=str(tmp_path), run="run"), with_repository=False)
        session.finish("passed")
        found.append((session.artifacts.name, json.loads((session.artifacts / "test.json").read_text())["try"]))
    assert found == [("a--b", 1), ("a--b--2", 1), ("a--b--3", 2)]


def test_a_block_loses_indentation_and_knows_its_title():
    block = cited_block("\n    # list them\n    for a in b; do\n      echo $a  \n    done\n\n")
    assert block == {"text": "# list them\nfor a in b; do\n  echo $a\ndone", "title": "list them"}


@pytest.mark.parametrize("docstring, blocks", json.loads((HERE / "docstring_cases.json").read_text()))
def test_a_docstring_cites_what_mngr_reads_in_it(docstring, blocks):
    found = [cited_block(section)["text"] for section in tutorial_sections(inspect.cleandoc(docstring))]
    assert found == blocks


def test_a_terminal_is_typed_into_read_and_recorded(session):
    terminal = session.terminal("printf 'name? '; read name; tput bold; echo \"hello $name\"; stty size; exit 4")
    terminal.expect_text("name? ")
    terminal.resize(120, 40)
    terminal.send("you")
    terminal.press("Enter")
    terminal.expect_text_to_match(r"hello \w+\n")
    result = terminal.wait()
    expect(result).to_have_exit_code(4)
    expect(result.stdout).to_contain("40 120")
    session.finish("passed")
    header, *lines = map(json.loads, (session.artifacts / "terminal-1.cast").read_text().splitlines())
    assert (header["version"], header["width"], header["height"]) == (2, 100, 30)
    assert [line[2] for line in lines if line[1] == "r"] == ["120x40"]
    assert "hello you" in "".join(line[2] for line in lines if line[1] == "o")
    record = json.loads((session.artifacts / "test.json").read_text())
    assert record["recordings"] == ["terminal-1.cast"]
    command = read(session.artifacts).events[0]
    assert command["recording"] == "terminal-1.cast"
    assert 0 <= command["time"] - header["mngr"]["started_ms"] + 1000 < 2000


def test_a_terminal_that_does_not_show_what_is_expected_fails_the_test(session):
    terminal = session.terminal("echo something; sleep 60", timeout=0.5)
    with pytest.raises(AssertionError, match=r"(?s)to print 'else', but it did not within 0.5 s.*something"):
        terminal.expect_text("else")
    assert terminal.wait().exit_code == 124
    ended = session.terminal("exit 5")
    with pytest.raises(AssertionError, match="the program ended with 5"):
        ended.expect_text("x")
    with pytest.raises(ValueError):
        ended.press("Entr")


def test_a_screen_is_seen_as_a_person_sees_it(session):
    terminal = session.terminal("printf 'gone\\rshown\\033[3;5Hlow'; read line; clear; echo over; read line", timeout=10)
    terminal.expect_screen("low")
    assert terminal.screen() == "shown\n\n    low"
    terminal.press("Enter")
    terminal.expect_screen_without("low")
    terminal.expect_screen_to_match(r"^over")
    terminal.press("Enter")
    assert terminal.wait().exit_code == 0


def test_a_screen_without_what_is_expected_fails_the_test(session):
    terminal = session.terminal("printf 'something'; sleep 60", timeout=1)
    with pytest.raises(AssertionError, match=r"(?s)the screen to contain 'else', but it did not within 1 s.*something"):
        terminal.expect_screen("else")
    terminal.end()


def test_keys_reach_the_program_as_a_terminal_sends_them(session):
    terminal = session.terminal("trap 'echo interrupted; exit 7' INT; echo ready; while :; do sleep 0.05; done")
    terminal.expect_text("ready")
    terminal.press("C-c")
    assert terminal.wait().exit_code == 7


def test_a_program_in_a_terminal_has_the_default_signals_whoever_started_the_tests(tmp_path):
    script = """if True:
        import signal, sys
        from mngr_e2e import Session, TestPlace, Options
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGUSR1})
        session = Session(TestPlace("a.py", "test_a"), Options(output=sys.argv[1], run="run"), with_repository=False)
        terminal = session.terminal("trap 'echo interrupted; exit 7' INT; echo ready; while :; do sleep 0.05; done")
        terminal.expect_text("ready")
        terminal.press("C-c")
        code = terminal.wait().exit_code
        quiet = session.terminal("kill -QUIT $$; echo ignored").wait().exit_code
        blocked = session.terminal("kill -USR1 $$; echo blocked").wait().exit_code
        session.finish("passed")
        print(code, quiet, blocked)
    """
    started = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True, timeout=60, check=True
    )
    assert started.stdout.split() == ["7", str(128 + signal.SIGQUIT), str(128 + signal.SIGUSR1)]
