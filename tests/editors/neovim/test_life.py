"""Tests of trust, crashes, and a plugin that is loaded late, with a fake server."""

import os
import signal

import pytest

from tests.editors.neovim.conftest import PLUGIN, Start
from tests.editors.neovim.editor import Editor


def start_and_greet(start: Start, before: str) -> tuple[Editor, dict[str, object]]:
    editor = start(before=before)
    editor.open()
    (hello,) = editor.events("hello")
    return editor, hello["options"]


@pytest.mark.parametrize(
    ("option", "trusted"),
    [("false", False), ("true", True), ("function(root) return vim.fs.basename(root) == 'work' end", True)],
)
def test_the_server_learns_whether_the_workspace_is_trusted(start: Start, option: str, trusted: bool):
    _editor, options = start_and_greet(start, f"_G.options = {{ trusted = {option} }}")
    assert options == {"trusted": trusted}


def test_options_of_the_user_stand(start: Start):
    _editor, options = start_and_greet(
        start, "vim.lsp.config('lsp_harness', { init_options = { trusted = false, lspHarness = { quiet = {} } } })"
    )
    assert options["trusted"] is False
    assert "lspHarness" in options


@pytest.mark.parametrize(("answer", "trusted"), [(4, True), (3, False), (1, False)])
def test_neovim_asks_about_trust_and_remembers_the_answer(start: Start, answer: int, trusted: bool):
    """The test answers `vim.fn.confirm`: 1 ignores, 3 denies, 4 allows."""
    editor, options = start_and_greet(
        start,
        f"""
        _G.options, _G.questions = {{ trusted = 'ask' }}, 0
        vim.fn.confirm = function() _G.questions = questions + 1 return {answer} end
        """,
    )
    assert options == {"trusted": trusted}
    assert editor.lua("return questions") == 1

    editor.lua("_G.events = {}")
    editor.nvim.command("LspHarness restart")
    editor.until_event("hello")

    assert editor.events("hello")[0]["options"] == {"trusted": trusted}
    assert editor.lua("return questions") == (2 if answer == 1 else 1)


def kill(editor: Editor) -> None:
    """Kill the server, and wait until Neovim has noticed."""
    editor.lua("_G.gone = require('lsp_harness.server').client(0).id")
    os.kill(editor.lua("return seen_pid()"), signal.SIGKILL)
    editor.until("vim.lsp.get_client_by_id(gone) == nil")


def test_a_server_that_crashed_is_started_again_for_the_same_buffers(editor: Editor):
    editor.open("one.py", "a = 1\n")
    editor.open("two.py", "x = 2\n")
    editor.type("Goedited<Esc>")

    kill(editor)

    editor.says("the server ended by signal 9 and is started again")
    editor.until("require('lsp_harness.server').client(0) ~= nil")
    assert editor.buffer == ["x = 2", "edited"]
    editor.until("#vim.tbl_keys(require('lsp_harness.server').client(0).attached_buffers) == 3")
    editor.type("ox = ")
    editor.shows("compute(total, 2)")


def test_a_server_that_keeps_crashing_is_not_started_again(editor: Editor):
    for _ in range(3):
        editor.until("require('lsp_harness.server').client(0) ~= nil")
        kill(editor)
        editor.until("require('lsp_harness.server').client(0) ~= nil")

    kill(editor)

    editor.says("is not started again")
    assert editor.lua("return #vim.lsp.get_clients()") == 0
    editor.nvim.command("LspHarness restart")
    editor.until("require('lsp_harness.server').client(0) ~= nil")


def test_stopping_the_server_is_not_reported_as_a_crash(editor: Editor):
    editor.lua("_G.gone = require('lsp_harness.server').client(0).id vim.lsp.enable('lsp_harness', false)")

    editor.until("vim.lsp.get_client_by_id(gone) == nil")

    assert "the server ended" not in editor.messages
    assert editor.lua("return #vim.lsp.get_clients()") == 0


def test_the_plugin_may_be_loaded_after_the_file(start: Start):
    editor = start(before="_G.late = true")
    editor.open("demo.py", attached=False)
    editor.type("ix = ")
    assert editor.lua("return package.loaded['lsp_harness']") is None

    editor.lua(
        """
        vim.opt.runtimepath:prepend(...)
        vim.cmd.runtime('plugin/lsp_harness.lua')
        setup()
        """,
        str(PLUGIN),
    )

    editor.shows("compute(total, 2)")
