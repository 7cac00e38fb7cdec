"""Tests of the real model in a real terminal: ghost text is accepted, and a finding is fixed after a verification.

What the model says is its own affair: what is checked is that it says something, that what is taken is what was shown,
and that the fix was verified. With `UPDATE_SCREENS=1` this writes `docs/images/neovim-real-model.txt` and its picture.
"""

import os
from pathlib import Path

import pytest

from lsp_harness.inference.models import model_files
from tests.editors.neovim.picture import draw_svg
from tests.editors.neovim.terminal import ESCAPE, Terminal
from tests.editors.neovim.test_screen import (
    COLUMNS,
    DIAGNOSE,
    MODEL,
    TRANSCRIPT,
    evaluate_remotely,
    read_colour,
    start,
    write_transcript,
)

STARTING = 120
"""Seconds in which the engine comes up and answers for the first time."""
TEXT = '''\
def mean(values: list[float]) -> float:
    """The average; an empty list has none."""
    total = sum(values)


def total(prices: list[float]) -> float:
    sum_of_all = 0.0
    for price in prices:
        sum_of_all += price
    return sum_of_al
'''
FINDING = "lnum = 10, col = 11, end_col = 21, message = 'Undefined name `sum_of_al`', source = 'Ruff', code = 'F821'"


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the models of the user, although the home directory is another one."""
    monkeypatch.setenv("LSP_HARNESS_MODELS", str(model_files.models_folder()))


@pytest.mark.model
@pytest.mark.timeout(300)
@pytest.mark.usefixtures("models")
def test_the_real_model_shows_ghost_text_and_fixes_a_finding(home: Path, terminal: Terminal, tmp_path: Path):
    terminal.patience = STARTING
    address = start(terminal, tmp_path, None, text=TEXT)
    # a colour that no other text on the screen has
    evaluate_remotely(address, "execute('highlight LspHarnessGhost guifg=#8a93a8 gui=italic')")
    ghost_colour = read_colour(address, "LspHarnessGhost")

    terminal.type("3Goreturn ")
    seen = terminal.until(ghost_colour, f"{MODEL} ready", coloured=True)
    shown = ESCAPE.sub("", seen.split(ghost_colour, 1)[1].split("\x1b", 1)[0]).rstrip()
    assert shown
    ghost = terminal.screen()

    (tmp_path / "diagnose.lua").write_text(DIAGNOSE % FINDING)
    evaluate_remotely(address, f"execute('luafile {tmp_path}/diagnose.lua')")
    terminal.press("Tab")
    terminal.press("Escape")
    taken = terminal.until(f"return {shown}", "E  11", gone=ghost_colour)
    accepted = terminal.screen()

    terminal.type("11G:LspHarness fix\r")
    preview = terminal.until(
        "-    return sum_of_al", "+    return sum_of_all", "kept ✓, lint ✓", "gone ✓", f"{MODEL} ready"
    )
    previewed = terminal.screen()
    terminal.type("y")
    applied = terminal.until(" 11     return sum_of_all")
    fixed = terminal.screen()

    if os.environ.get("UPDATE_SCREENS"):
        said = (
            "typed: `    return `; what follows is the model's ghost text",
            "<Tab>: it is taken; below, a finding",
            ":LspHarness fix: what was verified is in the title",
            "y: applied",
        )
        text = write_transcript(*zip(said, (ghost, accepted, previewed, fixed), strict=True))
        TRANSCRIPT.with_name("neovim-real-model.txt").write_text(text)
        picture = draw_svg(
            "Neovim, qwen2.5-coder 0.5B", list(zip(said, (seen, taken, preview, applied), strict=True)), COLUMNS
        )
        TRANSCRIPT.with_name("neovim-real-model.svg").write_text(picture)
