"""Tests of the simulated typist in a real Neovim with the real server, whose engine is scripted."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks import typist
from benchmarks.engine.real_edits import RealEdit
from benchmarks.rhythm import Rhythm
from benchmarks.stale import find_fault
from benchmarks.taking import Deed, Taker
from benchmarks.typist import Clock, Typist
from benchmarks.typist_report import Row, count_lines, select_rows
from benchmarks.writing import Writing, open_workspace

HEAD = "def mean(values):"
TOTAL = HEAD + "\n    total = sum(values)\n    return "
OFFERED = "total / len(values)"


class PatientRhythm(Clock):
    """A rhythm that presses the next key after all effects of the last one; after `most` keys the user interrupts."""

    def __init__(self, here: Writing, most: int = 10**6) -> None:
        super().__init__(Rhythm(8, 0))
        self._here, self._left = here, most

    def wait(self, written: str) -> None:
        if not self._left:
            raise KeyboardInterrupt
        self._left -= 1
        # A new mark is not on the screen yet. A key that comes at once would accept it before anything is drawn.
        settled = "local came = vim.wait(10000, watching.settled, 5) vim.cmd.redraw() return came"
        assert self._here.nvim.exec_lua(settled), f"nothing came at {written!r}"


@pytest.fixture
def script_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "script.json"
    monkeypatch.setenv("LSP_HARNESS_ENGINE__SCRIPT", str(path))
    return path


@pytest.fixture
def neovim_workspace(script_file: Path) -> Iterator[Writing]:
    """Yield a Neovim whose engine has one suggestion for the first request and none for later ones."""
    script_file.write_text(json.dumps([{"text": OFFERED}, *[{"text": ""}] * 60]))
    with open_workspace() as here:
        yield here


def edit(text: str, before: str = TOTAL) -> RealEdit:
    return RealEdit("mean.py", "python", before, "\n", text)


def make_taker_that_decides(deed: Deed, offered: str, text: str) -> Taker:
    """Return a taker whose seed leads to this decision."""
    seed = next(seed for seed in range(99) if Taker(seed).decide("", offered, text) == deed)
    return Taker(seed)


def sum_parts(rows: list[Row], name: str) -> int:
    return sum(row.get(name, 0) for row in select_rows(rows, "part"))


@pytest.mark.parametrize(
    ("deed", "before", "offered", "text", "saved", "counted"),
    [
        ("whole", TOTAL, OFFERED, OFFERED, len(OFFERED) - 1, "accepted"),
        ("word", TOTAL, "total * 2", "total / 2", len("total") - 1, "accepted_partly"),
        (
            *("line", HEAD, "\n    total = sum(values)\n    return total", "\n    total = sum(values)\n    yield 0"),
            *(len("\n    total = sum(values)") - 1, "accepted_partly"),
        ),
    ],
)
def test_an_accepted_suggestion_is_counted_by_the_typist_and_the_server(
    script_file: Path, deed: Deed, before: str, offered: str, text: str, saved: int, counted: str
):
    script_file.write_text(json.dumps([{"text": offered}, *[{"text": ""}] * 60]))
    rows: list[Row] = []
    with open_workspace() as here:
        writer = Typist(
            here, rows.append, PatientRhythm(here), make_taker_that_decides(deed, offered, text), minutes=10
        )
        writer.edit(edit(text, before), 0)
        told = """
            local name = ...
            return vim.wait(10000, function()
              return ((watching.status() or {}).statistics or {})[name] == 1
            end, 5)
        """
        assert here.nvim.exec_lua(told, counted), "the server has not counted it"

    assert select_rows(rows, "stale") + select_rows(rows, "text") == []
    taken = {name: sum_parts(rows, name) for name in ("whole", "line", "word")}
    assert taken == {"whole": 0, "line": 0, "word": 0} | {deed: 1}
    assert (sum_parts(rows, "drawn"), sum_parts(rows, f"fit_{deed}"), sum_parts(rows, "edits")) == (1, 1, 1)
    assert sum_parts(rows, "saved") == saved


def test_a_suggestion_that_is_typed_through_is_seen_at_every_key(neovim_workspace: Writing):
    rows: list[Row] = []
    Typist(
        neovim_workspace,
        rows.append,
        PatientRhythm(neovim_workspace),
        make_taker_that_decides("type", OFFERED, OFFERED),
        minutes=10,
    ).edit(edit(OFFERED), 0)

    assert select_rows(rows, "stale") + select_rows(rows, "text") == []
    assert sum_parts(rows, "whole") == 0
    # before each key, and after all but the last
    assert sum_parts(rows, "ghosts") >= len(OFFERED)
    assert sum_parts(rows, "frames") >= len(OFFERED) / 2


def test_ghost_text_that_a_plugin_does_not_remove_is_detected(neovim_workspace: Writing):
    neovim_workspace.nvim.exec_lua("require('lsp_harness.view').clear = function() end")
    rows: list[Row] = []
    text = "count or 1"

    Typist(neovim_workspace, rows.append, PatientRhythm(neovim_workspace), Taker(0), minutes=10).edit(edit(text), 0)

    found = select_rows(rows, "stale")
    assert {row["by"] for row in found} == {"look", "redraw"}
    assert {row["why"] for row in found} == {"no answer for this text says so"}
    assert found[0]["before"] == TOTAL + "c"
    assert dict(count_lines(rows))["stale, at a redraw or a key"] == str(len(found))


@pytest.mark.parametrize("planted", [f"{OFFERED}!", "nothing like it"])
def test_ghost_text_that_was_shown_only_between_two_looks_is_found(neovim_workspace: Writing, planted: str):
    neovim_workspace.open(edit(OFFERED))
    assert neovim_workspace.nvim.exec_lua("return vim.wait(10000, watching.settled, 5)")
    first = neovim_workspace.look()
    assert [find_fault(view, first.offers) for view in (first.view, *first.frames)] == [""] * (1 + len(first.frames))

    plant(neovim_workspace, planted)
    plant(neovim_workspace, OFFERED)

    later = neovim_workspace.look()
    assert find_fault(later.view, first.offers) == ""
    found = [find_fault(frame, first.offers) for frame in later.frames]
    # Neovim may have drawn the first suggestion only after the first look
    assert found[-2:] == ["no answer for this text says so", ""]
    assert found[:-2] in ([], [""])


def plant(here: Writing, text: str) -> None:
    """Show this ghost text instead of that of the plugin, and wait until the screen has shown it."""
    here.nvim.exec_lua(
        """
        local row, col = unpack(vim.api.nvim_win_get_cursor(0))
        vim.api.nvim_buf_set_extmark(0, require('lsp_harness.view').namespace, row - 1, col, {
          id = 1, virt_text = { { ... } }, virt_text_pos = 'inline',
        })
        vim.cmd.redraw()
        """,
        text,
    )
    here.nvim.exec_lua(
        "local turned; vim.schedule(function() turned = true end); vim.wait(10000, function() return turned end, 1)"
    )


def test_figures_are_written_while_the_typist_works(neovim_workspace: Writing, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(typist, "PART", 0.0)
    rows: list[Row] = []
    writer = Typist(
        neovim_workspace,
        rows.append,
        PatientRhythm(neovim_workspace, 7),
        make_taker_that_decides("type", OFFERED, OFFERED),
        minutes=10,
    )

    with pytest.raises(KeyboardInterrupt):
        writer.edit(edit(OFFERED), 0)

    pressed = sum_parts(rows, "keys")
    assert 7 <= pressed < 20
    assert len(select_rows(rows, "part")) > 7
    said: dict[str, Any] = dict(count_lines(rows))
    assert said["keys / a second between pauses"].startswith(f"{pressed} / ")
    assert sum_parts(rows, "edits") == 0
