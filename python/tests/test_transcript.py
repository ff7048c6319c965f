"""The two forms of a transcript, and what makes two of them comparable."""

import json
from pathlib import Path

import pytest

from mngr_e2e import transcript
from mngr_e2e.__main__ import main
from mngr_e2e.normalise import normalise
from mngr_e2e.place import TestPlace, folder_name
from mngr_e2e.transcript import Pieces, output_bytes, output_event, parse_lines

HERE = Path(__file__).parent


@pytest.mark.parametrize("text, wanted", json.loads((HERE / "normalise_cases.json").read_text()))
def test_what_differs_by_nature_becomes_a_placeholder(text, wanted):
    assert normalise(text) == wanted


@pytest.mark.parametrize("file, name, folder", json.loads((HERE / "folder_cases.json").read_text()))
def test_folder_names_are_plain_and_short(file, name, folder):
    assert folder_name(TestPlace(file, name)) == folder


@pytest.mark.parametrize("data", [b"plain\n", b"\x1b[31mred\x07\0", b"\xff\xfe\n", "grün".encode()])
def test_bytes_come_back_whatever_they_are(data):
    assert output_bytes(json.loads(json.dumps(output_event(1, "stdout", data)))) == data


def test_a_character_split_by_a_read_comes_whole():
    pieces = Pieces()
    assert pieces.push(b"gr\xc3") == b"gr"
    assert pieces.push(b"\xbcn") == "ün".encode()
    assert pieces.push(b"\xf0\x9f") == b""
    assert pieces.push(b"\x90\xb3") == "🐳".encode()
    assert pieces.push(b"a\xff") == b"a\xff"
    assert pieces.push(b"\xe2\x82") == b""
    assert pieces.finish() == b"\xe2\x82"


def events(*lines):
    return parse_lines("\n".join(json.dumps(line) for line in lines).encode())


def test_commands_at_the_same_time_stand_one_after_the_other():
    found = events(
        {"kind": "command", "id": 1, "command": "a", "timeout_ms": 200},
        {"kind": "command", "id": 2, "command": "b", "comment": "two\nlines"},
        {"kind": "output", "id": 2, "stream": "stderr", "text": "b\nrest"},
        {"kind": "end", "id": 2, "exit_code": 3},
        {"kind": "output", "id": 1, "stream": "terminal", "text": "a\r\n"},
        {"kind": "end", "id": 1, "exit_code": 124, "timed_out": True},
    )
    assert found.to_text() == b"$ a\n  a\n! timed out after 0.2 s\n? 124\n# two\n# lines\n$ b\n! b\n! rest\n? 3\n"


def test_a_torn_last_line_is_noted_and_the_rest_is_read():
    found = parse_lines(b'{"kind":"command","id":1,"command":"a"}\n{"kind":"later"}\n{"kind":"outp')
    assert found.damaged == [3]
    assert found.to_text() == b"$ a\n"


def test_two_tries_differ_only_in_what_does_not_differ_by_nature(tmp_path, capsys):
    tries = {"one": "took 3 ms\nsame", "two": "took 14 ms\nsame", "three": "took 3 ms\nother"}
    for name, text in tries.items():
        output = {"kind": "output", "id": 1, "stream": "stdout", "text": text}
        (tmp_path / name).mkdir()
        lines = [{"kind": "command", "id": 1, "command": "a"}, output]
        (tmp_path / name / transcript.LINES_FILE).write_text("\n".join(map(json.dumps, lines)))
    assert main(["diff", str(tmp_path / "one"), str(tmp_path / "two")]) == 0
    assert capsys.readouterr().out == ""
    assert main(["diff", str(tmp_path / "one"), str(tmp_path / "three")]) == 1
    assert "-  same\n+  other" in capsys.readouterr().out
    assert main(["diff", str(tmp_path / "one"), str(tmp_path / "none")]) == 2
