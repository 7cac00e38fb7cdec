"""Verdicts, which say why the server reports something, with a fake server."""

from tests.editors.neovim.conftest import FAKE, Start
from tests.editors.neovim.editor import Editor
from tests.editors.neovim.fake_work import VERDICT


def read_verdict_lines(editor: Editor) -> list[str]:
    editor.until("vim.api.nvim_buf_line_count(0) > 1")
    return editor.buffer


def test_the_verdict_of_the_diagnostic_here_opens_in_a_split(editor: Editor):
    editor.open("demo.py", "x = wrong\n")
    editor.until("#vim.diagnostic.get(0) == 1")

    editor.nvim.command("LspHarness why")

    assert read_verdict_lines(editor) == ["# Verdict", "", "It is **wrong**."]
    assert editor.nvim.current.buffer.name == VERDICT
    assert editor.lua("return { vim.bo.filetype, vim.bo.modifiable, vim.bo.modified, vim.bo.buftype }") == [
        *("markdown", False, False, "nofile"),
    ]
    assert editor.lua("return #vim.api.nvim_list_wins()") == 2


def test_the_code_action_opens_the_verdict(editor: Editor):
    editor.open("demo.py", "x = wrong\n")
    editor.until("#vim.diagnostic.get(0) == 1")

    editor.lua("vim.lsp.buf.code_action({ apply = true, filter = function(a) return a.title:find('Why') ~= nil end })")

    assert read_verdict_lines(editor)[0] == "# Verdict"
    assert editor.nvim.current.buffer.name == VERDICT


def test_the_diagnostic_under_the_cursor_comes_first(editor: Editor):
    editor.open("demo.py", "x = wrong + 1\n")
    editor.until("#vim.diagnostic.get(0) == 1")
    editor.diagnose(0, 12, 13, "somebody else's")
    editor.lua("vim.api.nvim_win_set_cursor(0, { 1, 12 })")

    editor.nvim.command("LspHarness why")

    assert read_verdict_lines(editor)[0] == "# Verdict", "the line's only one of ours"


def test_a_line_without_our_diagnostic_has_no_verdict(editor: Editor):
    editor.open("demo.py", "x = 1\n")
    editor.diagnose(0, 0, 1, "somebody else's")

    editor.nvim.command("LspHarness why")

    assert "there is no diagnostic of lsp-harness on this line" in editor.messages


def test_a_verdict_is_requested_by_a_command_from_a_server_without_content(editor: Editor):
    editor.lua("require('lsp_harness.server').client(0).server_capabilities.workspace = nil")

    editor.nvim.command(f"split {VERDICT}")

    assert read_verdict_lines(editor)[-1] == f"of {VERDICT} by the command"


def test_a_server_without_verdicts_is_reported(start: Start):
    editor = start([*FAKE, "old"])
    editor.open()

    editor.nvim.command(f"split {VERDICT}")

    assert editor.buffer == ["No server in this Neovim has this verdict."]
