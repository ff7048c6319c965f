"""Plays the shared list of commands in a session, for the comparison with the Rust crate. Needs no pytest.

usage: python3 play_shared.py OUTPUT
"""

import json
import sys
from pathlib import Path

from mngr_e2e import Options, Session, TestPlace

HERE = Path(__file__).parent
BLOCK = """
    # say hello
    echo hello
"""


def main() -> None:
    place = TestPlace("tests/shared.rs", "shared_commands", 7)
    with Session(place, Options(output=sys.argv[1], run="run")) as e2e:
        e2e.write_tutorial_block(BLOCK)
        for step in json.loads((HERE / "shared_commands.json").read_text()):
            e2e.run(step.pop("command"), **step)
        with e2e.terminal("printf 'name? '; read name; echo \"hello $name\"; exit 4") as terminal:
            terminal.expect_text("name? ")
            terminal.send("you")
            terminal.press("Enter")
            terminal.wait()


main()
