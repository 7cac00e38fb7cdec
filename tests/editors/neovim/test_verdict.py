"""Verdicts, which say why the server reports something, with a fake server."""

from tests.editors.neovim.conftest import FAKE, Start
from tests.editors.neovim.editor import Editor
from tests.editors.neovim.fake_work import VERDICT


def verdict_lines(editor: Editor) -> list[str]:
    editor.until("vim.api.nvim_buf_line_count(0) > 1")
    return editor.buffer


def test_the_verdict_of_the_diagnostic_here_opens_in_a_split(editor: Editor):
    editor.open("demo.py", "x = wrong\n")
    editor.until("#vim.diagnostic.get(0) == 1")

    editor.nvim.command("LspHarness why")

    assert verdict_lines(editor) == ["# Verdict", "", "It is **wrong**."]
    assert editor.nvim.current.buffer.name == VERDICT
    assert editor.lua("return { vim.bo.filetype, vim.bo.modifiable, vim.bo.modified, vim.bo.buftype }") == [
        *("markdown", False, False, "nofile"),
    ]
    assert editor.lua("return #vim.api.nvim_list_wins()") == 2


def test_the_code_action_opens_it_too(editor: Editor):
    editor.open("demo.py", "x = wrong\n")
    editor.until("#vim.diagnostic.get(0) == 1")

    editor.lua("vim.lsp.buf.code_action({ apply = true, filter = function(a) return a.title:find('Why') ~= nil end })")

    assert verdict_lines(editor)[0] == "# Verdict"
    assert editor.nvim.current.buffer.name == VERDICT


def test_the_one_under_the_cursor_comes_before_others_of_the_line(editor: Editor):
    editor.open("demo.py", "x = wrong + 1\n")
    editor.until("#vim.diagnostic.get(0) == 1")
    editor.diagnose(0, 12, 13, "somebody else's")
    editor.lua("vim.api.nvim_win_set_cursor(0, { 1, 12 })")

    editor.nvim.command("LspHarness why")

    assert verdict_lines(editor)[0] == "# Verdict", "the line's only one of ours"


def test_without_a_diagnostic_of_ours_it_says_so(editor: Editor):
    editor.open("demo.py", "x = 1\n")
    editor.diagnose(0, 0, 1, "somebody else's")

    editor.nvim.command("LspHarness why")

    assert "there is no diagnostic of lsp-harness on this line" in editor.messages


def test_a_server_that_serves_no_content_is_asked_by_its_command(editor: Editor):
    editor.lua("require('lsp_harness.server').client(0).server_capabilities.workspace = nil")

    editor.nvim.command(f"split {VERDICT}")

    assert verdict_lines(editor)[-1] == f"of {VERDICT} by the command"


def test_a_server_that_knows_no_verdicts_is_said_so(start: Start):
    editor = start([*FAKE, "old"])
    editor.open()

    editor.nvim.command(f"split {VERDICT}")

    assert editor.buffer == ["No server in this Neovim has this verdict."]
