"""The statusline, progress, cancellation and the pause of the server, with a fake server."""

from typing import Any

import pytest

from tests.editors.neovim.conftest import FAKE, Start
from tests.editors.neovim.editor import Editor

READY: dict[str, Any] = {
    "engine": "ready",
    "model": "qwen-coder",
    "message": None,
    "paused": False,
    "trusted": True,
    "last": None,
    "statistics": {"shown": 0},
}


def test_without_a_server_the_statusline_is_empty(start: Start):
    assert start().statusline == ""


def test_a_server_without_a_status_is_shown_by_its_name(editor: Editor):
    assert editor.statusline == "lsp-harness"
    (hello,) = editor.events("hello")
    assert hello["experimental"]["lspHarness"]["status"] is True


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ({}, "qwen-coder ready"),
        ({"engine": "starting", "model": "/models/big.gguf"}, "big.gguf starting"),
        ({"engine": "off", "model": None}, "lsp-harness off"),
        ({"last": {"prompt_tokens": 420, "reused": 400}}, "qwen-coder ready, 400/420 reused"),
        ({"last": {"prompt_tokens": 0, "reused": 0, "cached": True}}, "qwen-coder ready, known answer"),
        ({"paused": "here"}, "qwen-coder ready, paused"),
        ({"paused": "everywhere"}, "qwen-coder ready, paused everywhere"),
        ({"trusted": False}, "qwen-coder ready, not trusted"),
    ],
)
def test_a_status_of_the_server_is_one_line(editor: Editor, said: dict[str, Any], line: str):
    editor.lua("require('lsp_harness.server').client(0):notify('fake/status', ...)", READY | said)

    editor.until("require('lsp_harness').statusline() == ...", line)


def test_the_statusline_is_redrawn_when_the_status_changes(editor: Editor):
    editor.nvim.options["laststatus"] = 2
    editor.nvim.options["statusline"] = "%{v:lua.require'lsp_harness'.statusline()}"
    editor.nvim.command("redraw!")
    editor.lua("""
        _G.told = 0
        vim.api.nvim_create_autocmd('User', { pattern = 'LspHarnessStatus', callback = function() told = told + 1 end })
    """)

    editor.lua("require('lsp_harness.server').client(0):notify('fake/status', ...)", READY)

    editor.until("told > 0")
    row = editor.lua("return vim.o.lines - vim.o.cmdheight")
    shown = "".join(editor.nvim.funcs.screenstring(row, column) for column in range(1, 17))
    assert shown == "qwen-coder ready"


def test_progress_is_shown_and_can_be_cancelled(editor: Editor):
    editor.open("demo.py", "def add(a, b):\n")
    editor.nvim.command("1LspHarness edit slow change")
    editor.until("require('lsp_harness').statusline() == 'lsp-harness, Edit: step 1 (40 of 100)'")

    editor.nvim.command("LspHarness cancel")

    editor.until_event("work cancelled", title="Edit")
    editor.until("require('lsp_harness').statusline() == 'lsp-harness'")
    assert "cancelled: Edit" in editor.messages
    assert editor.buffer == ["def add(a, b):"]
    assert "ERROR" not in editor.messages.upper().replace("NO ERROR", "")


def test_a_fix_that_is_being_worked_out_can_be_cancelled(editor: Editor):
    editor.open("demo.py", "broken\n")
    editor.diagnose(0, 0, 6, "slow one")
    editor.nvim.command("LspHarness fix")
    editor.until("require('lsp_harness').statusline():find('step 1', 1, true) ~= nil")

    editor.nvim.command("LspHarness cancel")

    editor.until_event("work cancelled", title="Fix with fake: slow one")
    assert editor.lua("return #vim.api.nvim_list_wins()") == 1


def test_a_requested_suggestion_can_be_cancelled_before_its_progress_begins(editor: Editor):
    editor.hush()
    editor.type("islow <M-s>")
    editor.until_event("asked", left="slow ")

    editor.type("<Cmd>LspHarness cancel<CR>")

    editor.until_event("cancelled", left="slow ")
    editor.says("cancelled: the requested suggestion")
    editor.type("<M-s>")
    editor.until("#vim.tbl_filter(function(each) return each.event == 'asked' end, events) == 2")


def test_status_describes_the_type_checkers_and_their_last_result(editor: Editor):
    editor.nvim.command("LspHarness status")

    editor.says("type checker ty in /work/a: ready")
    assert "type checker ty in /work/b: ty is not installed (pip install ty)" in editor.messages
    assert "types of the last suggestion: hidden because of a type error: no member joinn (12 ms)" in editor.messages
    assert "type checks: 2 without a type error, 1 hidden because of a type error" in editor.messages
    assert "types_" not in editor.messages


def test_cancel_without_running_work_says_so(editor: Editor):
    editor.nvim.command("LspHarness cancel")

    editor.says("nothing is running")


def test_a_percent_sign_is_no_item_of_the_statusline(editor: Editor):
    editor.lua("""
        local id = require('lsp_harness.server').client(0).id
        local value = { kind = 'begin', title = 'at 50%', message = 'a\\nb' }
        vim.lsp.handlers['$/progress'](nil, { token = 't', value = value }, { client_id = id })
    """)

    assert editor.statusline == "lsp-harness, at 50 of 100: a b"


def test_a_pause_of_this_window_is_sent_to_the_server(editor: Editor):
    editor.nvim.command("LspHarness pause")
    editor.until_event("paused", scope="here", on=True)

    editor.nvim.command("LspHarness resume")
    editor.until_event("paused", scope="here", on=False)
    assert [event["scope"] for event in editor.events("paused")] == ["here", "here"]


def test_a_pause_of_all_windows_can_be_ended(editor: Editor):
    editor.nvim.command("LspHarness pause everywhere")
    editor.until_event("paused", scope="everywhere", on=True)

    editor.nvim.command("LspHarness resume")

    editor.until_event("paused", scope="everywhere", on=False)


def test_a_server_that_starts_later_learns_about_the_pause(editor: Editor):
    editor.nvim.command("LspHarness pause")
    editor.until_event("paused", scope="here", on=True)
    editor.lua("_G.events = {}")

    editor.nvim.command("LspHarness restart")

    editor.until_event("hello")
    editor.until_event("paused", scope="here", on=True)


def test_an_older_server_cannot_pause_other_windows(start: Start):
    editor = start([*FAKE, "old"])
    editor.open()

    editor.nvim.command("LspHarness pause everywhere")

    assert "paused in this Neovim only" in editor.messages
    editor.type("ix = ")
    editor.settle()
    assert editor.asked() == []
