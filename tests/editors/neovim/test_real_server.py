"""The plugin with the real server. The engine is a script, so the tests are about the connection, not about a model."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.editors.neovim.conftest import MEAN, REST, Real
from tests.editors.neovim.editor import Editor

BROKEN = "def area(r):\n    width = r\n    return widht * width\n"
FIXED = ["def area(r):", "    width = r", "    return width * width"]
MISSPELT = MEAN.replace("return", "return total / lne(valeus)")


def start_completing_editor(real: Real) -> Editor:
    return real({"text": REST, "expect": "def mean"})


def log(editor: Editor) -> str:
    path = Path(editor.lua("return vim.lsp.log.get_filename()"))
    return path.read_text() if path.exists() else ""


def watch_requests(editor: Editor) -> None:
    editor.lua("""
        _G.completed = {}
        vim.api.nvim_create_autocmd('LspRequest', { callback = function(event)
          local request = event.data.request
          if request.type == 'complete' then completed[request.method] = true end
        end })
    """)


# -- ghost text
def test_ghost_text_is_shown_and_accepted(start_real_editor: Real):
    editor = start_completing_editor(start_real_editor)
    editor.type("A ")
    editor.shows(REST)
    editor.hush()
    watch_requests(editor)

    editor.type("<Tab>")
    editor.until("completed['workspace/executeCommand']")

    assert editor.buffer == ["def mean(values):", "    total = sum(values)", f"    return {REST}"]
    assert editor.ghost == []
    assert "lspHarness.accepted" not in log(editor), "a refusal would be here"


def test_typing_along_and_accepting_parts_need_no_second_reply(start_real_editor: Real):
    editor = start_completing_editor(start_real_editor)
    editor.type("A ")
    editor.shows(REST)

    editor.type("to")
    assert editor.ghost == [REST[2:]]
    editor.type("<C-Right>")
    assert editor.buffer[2] == "    return total"
    assert editor.ghost == [" / len(values)"]
    editor.hush()
    editor.type("<C-Down>")
    assert editor.buffer[2] == f"    return {REST}"


def test_a_finding_of_an_accepted_text_is_marked_without_another_key(editor_with_undefined_name: Editor):
    """Without this plugin, Neovim 0.11 pulls diagnostics only after a change."""
    (diagnostic,) = editor_with_undefined_name.lua("return vim.diagnostic.get(0)")
    assert (diagnostic["lnum"], diagnostic["source"]) == (2, "lsp-harness")
    assert "count" in diagnostic["message"]


# -- fixes
def start_broken_editor(real: Real, *replies: dict[str, Any], **more: str) -> Editor:
    # without this, a repair without the model would find the similar name
    editor = real(*replies, text=BROKEN, repairs=False, **more)
    editor.diagnose(2, 11, 16, "Undefined name `widht`", source="Ruff", code="F821")
    return editor


def test_a_verified_fix_is_shown_and_applied(start_real_editor: Real):
    editor = start_broken_editor(start_real_editor, {"text": "return width * width"})

    editor.nvim.command("LspHarness fix")

    title, shown = editor.previews()
    assert title == "lsp-harness: parse ✓, kept ✓, lint ✓, gone ✓, types –, tests –"
    assert [line for line in shown if line[0] in "-+"] == [
        *("--- mean.py", "+++ mean.py", "-    return widht * width", "+    return width * width"),
    ]
    editor.type("y")
    assert editor.buffer == FIXED


def test_repairs_without_a_model_are_named_in_the_list_and_applied(start_real_editor: Real):
    editor = start_real_editor(text=MISSPELT)
    editor.diagnose(2, 19, 22, "Undefined name `lne`", source="Ruff", code="F821")
    editor.diagnose(2, 23, 29, "Undefined name `valeus`", source="Ruff", code="F821", linter="another")
    editor.choosing("valeus")

    editor.nvim.command("LspHarness fix")

    title, shown = editor.previews()
    titles = [
        "Fix all 2 of F821 in this file with lsp-harness",
        "Fix with lsp-harness: `lne` → `len`",
        "Fix with lsp-harness: `valeus` → `values`",
    ]
    assert sorted(editor.lua("return offered")) == titles
    assert title == "lsp-harness: parse ✓, kept ✓, lint ✓, gone ✓, types –, tests –"
    assert "+    return total / lne(values)" in shown
    editor.type("y")
    assert editor.buffer == MISSPELT.replace("valeus", "values").splitlines()


def test_an_outdated_finding_changes_no_text_and_is_explained(start_real_editor: Real):
    fixed = MISSPELT.replace("lne(valeus)", "len(values)")
    editor = start_real_editor(text=fixed)
    editor.diagnose(2, 23, 29, "Undefined name `values`", source="Ruff", code="F821")

    editor.nvim.command("LspHarness fix")

    editor.says("The diagnostic is no longer there: ruff does not report F821 there; nothing was changed")
    assert editor.buffer == fixed.splitlines()
    assert editor.lua("return #vim.api.nvim_list_wins()") == 1


def test_a_rejected_fix_leaves_the_text(start_real_editor: Real):
    editor = start_broken_editor(start_real_editor, {"text": "return width * width"})
    editor.nvim.command("LspHarness fix")
    editor.previews()

    editor.type("n")

    editor.says("not applied: rejected")
    assert editor.buffer == BROKEN.splitlines()


def test_a_fix_that_fails_a_check_names_the_check(start_real_editor: Real):
    editor = start_broken_editor(start_real_editor, {"text": "return widhth + width"})

    editor.nvim.command("LspHarness fix")

    editor.says("No candidate passed the checks")
    assert editor.buffer == BROKEN.splitlines()


def test_a_running_fix_is_shown_and_can_be_cancelled(start_real_editor: Real):
    # only the fix uses the engine
    editor = start_broken_editor(start_real_editor, {"hang": True}, settings="[completion]\nwarm = false\n")
    editor.nvim.command("LspHarness fix")
    editor.until("require('lsp_harness').statusline():find('Fix with lsp-harness', 1, true) ~= nil")
    # progress is shown before the request to the engine; a cancellation before it would leave the reply to the next fix
    editor.until("require('lsp_harness').statusline():find(' busy, ', 1, true) ~= nil")

    editor.nvim.command("LspHarness cancel")

    editor.until("require('lsp_harness').statusline():find('Fix with lsp-harness', 1, true) == nil")
    assert "cancelled: Fix with lsp-harness" in editor.messages
    assert editor.buffer == BROKEN.splitlines()
    # the server goes on: its script has no reply left, and it reports that
    editor.nvim.command("LspHarness fix")
    editor.says("the script has 1 reply and another one was requested")


# -- trust and crashes
def read_lint_outcomes(folder: Path) -> set[str]:
    """Return the outcomes of the linter for all candidates of all sessions."""
    statuses: set[str] = set()
    for events in folder.glob("home/sessions/*/events.jsonl"):
        for event in map(json.loads, events.read_text().splitlines()):
            statuses |= {o["status"] for o in event["data"].get("outcomes", []) if o["check"] == "lint"}
    return statuses


@pytest.mark.parametrize("trusted", ["true", "false"])
def test_the_linter_is_run_in_a_trusted_workspace_only(start_real_editor: Real, tmp_path: Path, trusted: str):
    editor = start_broken_editor(
        start_real_editor, {"text": "return width * width"}, before=f"_G.options = {{ trusted = {trusted} }}"
    )

    editor.nvim.command("LspHarness fix")

    # without trust, a server may offer a fix without the check of the linter, or no fix
    editor.until(
        "vim.bo.filetype == 'diff' or vim.fn.execute('messages'):find('has no fix for this diagnostic') ~= nil"
    )
    assert read_lint_outcomes(tmp_path) <= ({"passed"} if trusted == "true" else {"skipped"})
    assert (trusted == "true") == ("passed" in read_lint_outcomes(tmp_path))


def test_a_killed_server_is_restarted_and_completes(start_real_editor: Real):
    editor = start_completing_editor(start_real_editor)
    editor.type("Goedited = 1<Esc>")
    editor.lua("_G.gone = require('lsp_harness.server').client(0).id")

    os.kill(find_server_pid(editor), signal.SIGKILL)

    editor.until("vim.lsp.get_client_by_id(gone) == nil")
    editor.says("the server ended by signal 9 and is started again")
    editor.until("require('lsp_harness.server').client(0) ~= nil")
    assert editor.buffer == [*MEAN.splitlines(), "edited = 1"]
    editor.lua("vim.api.nvim_win_set_cursor(0, { 3, 0 })")
    editor.type("A ")
    editor.shows(REST)


def find_server_pid(editor: Editor) -> int:
    """Return the id of the only child process of this Neovim."""
    mine = editor.lua("return vim.fn.getpid()")
    (pid,) = Path(f"/proc/{mine}/task/{mine}/children").read_text().split()
    return int(pid)


# -- the status
def test_status_and_health_report_no_problem(start_real_editor: Real):
    editor = start_completing_editor(start_real_editor)
    editor.nvim.command("LspHarness status")
    editor.says("positionEncoding: utf-8")

    editor.nvim.command("checkhealth lsp_harness")
    assert [line for line in editor.buffer if "ERROR" in line or "WARNING" in line] == []
