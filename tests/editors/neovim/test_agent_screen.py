"""A foreign agent on the screen of a user: the real server, a real shell as the agent, and Neovim in a real terminal.

The transcript is `docs/images/neovim-agent.txt`; with `UPDATE_SCREENS=1` this writes it and its picture.
"""

import os
import re
from pathlib import Path

import pytest

from tests.editors.neovim.picture import draw_svg
from tests.editors.neovim.terminal import Terminal
from tests.editors.neovim.test_screen import COLUMNS, TRANSCRIPT, evaluate_remotely, start, write_transcript

SCREEN_FILE = TRANSCRIPT.with_name("neovim-agent.txt")
LEAVE = r"\<C-\>\<C-n>"
ID = re.compile(r"\b[0-9A-Z]{26}\b")


def replace_ids(shown: str) -> str:
    """Replace what differs from run to run: ids, and the blanks after them."""
    return re.sub(r" +", " ", ID.sub("ID", shown))


def test_a_shell_of_the_server_is_used_in_a_buffer_and_stopped(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "user").mkdir()
    (tmp_path / "user/.bashrc").write_text("PS1='agent$ '\n")
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    address = start(terminal, tmp_path, [])

    terminal.type(":LspHarness agent spawn shell\r")
    terminal.until(" shell [-]", "TERMINAL", "agent$")
    terminal.type("echo $((40 + 2))\r")
    # the next prompt comes after the answer, at any later time
    colours = terminal.until("42\nagent$", "TERMINAL")
    used = terminal.screen()

    evaluate_remotely(address, f'feedkeys("{LEAVE}", "t")')
    terminal.type(":LspHarness agent list\r")
    terminal.until("ready (osc)")
    listed, listed_colours = terminal.screen(), terminal.coloured()
    terminal.press("Enter")
    terminal.type(":LspHarness agent stop\r")
    terminal.until("[it was stopped]")

    titles = ":LspHarness agent spawn shell; keys go to the shell", ":LspHarness agent list"
    shown = write_transcript(*zip(titles, (used, listed), strict=True))
    if os.environ.get("UPDATE_SCREENS"):
        SCREEN_FILE.write_text(ID.sub("01KABCDEFGHJKMNPQRSTVWXYZ0", shown))
        scenes = list(zip(titles, (colours, listed_colours), strict=True))
        SCREEN_FILE.with_suffix(".svg").write_text(draw_svg("Neovim", scenes, COLUMNS))
    assert replace_ids(SCREEN_FILE.read_text()) == replace_ids(shown), "run this with UPDATE_SCREENS=1"
