"""Edits by instruction, docstrings, tests and explanations, in a real Neovim with a fake server."""

import pytest

from tests.editors.neovim.conftest import FAKE, Start
from tests.editors.neovim.editor import Editor
from tests.editors.neovim.fake_work import LABEL

TEXT = "def add(a, b):\n    return a + b\n"


@pytest.fixture
def code(editor: Editor) -> Editor:
    editor.nvim.command(f"cd {editor.folder}")
    editor.open("demo.py", TEXT)
    return editor


def make_range(line: int, start: int, end_line: int, end: int) -> dict[str, dict[str, int]]:
    return {"start": {"line": line, "character": start}, "end": {"line": end_line, "character": end}}


def test_an_instruction_for_some_lines_is_shown_and_applied(code: Editor):
    code.nvim.command("1LspHarness edit shout it")

    title, shown = code.previews()
    assert title == LABEL
    assert shown[2:] == ["@@ -1,2 +1,2 @@", "-def add(a, b):", "+DEF ADD(A, B):", "     return a + b"]
    (wish,) = code.events("instructed")
    assert wish["instruction"] == "shout it"
    assert wish["range"] == make_range(0, 0, 0, 14)
    code.type("y")

    code.says("done as told")
    assert code.buffer == ["DEF ADD(A, B):", "    return a + b"]
    code.until_event("answered", applied=True)


def test_a_rejected_edit_is_answered_as_not_applied(code: Editor):
    code.nvim.command("1LspHarness edit shout it")
    code.previews()

    code.type("q")

    code.until_event("answered", applied=False, failureReason="rejected")
    assert code.buffer == TEXT.splitlines()


def test_an_edit_of_a_changed_text_is_answered_as_outdated(code: Editor):
    code.nvim.command("1LspHarness edit slow shout")
    code.until("require('lsp_harness').statusline():find('step 1', 1, true) ~= nil")
    # the server has the new text, but its edit is for the version before
    code.lua("vim.lsp.util.buf_versions[vim.api.nvim_get_current_buf()] = 1e6")

    code.release()

    code.until_event("answered", applied=False, failureReason="the text has changed since this edit was computed")
    assert code.buffer == TEXT.splitlines()


def test_without_an_instruction_the_user_is_asked(code: Editor):
    code.nvim.input(":1LspHarness edit<CR>")
    code.nvim.input("be loud<CR>")

    code.until_event("instructed", instruction="be loud")
    code.previews()


def test_an_empty_instruction_sends_no_request(code: Editor):
    code.nvim.input(":1LspHarness edit<CR>")
    code.nvim.input("<CR>")

    code.settle()
    assert code.events("instructed") == []


def test_a_visual_selection_is_the_range_of_an_instruction(code: Editor):
    code.lua("vim.keymap.set('x', 'E', function() require('lsp_harness').edit('be loud') end)")

    code.type("fa" + "vE")
    code.until_event("instructed")
    code.previews()
    code.type("q")
    code.type("jVE")
    code.previews()

    assert [each["range"] for each in code.events("instructed")] == [make_range(0, 4, 0, 5), make_range(1, 0, 1, 16)]


def test_the_code_action_asks_for_the_instruction_and_sends_it(code: Editor):
    place = {"uri": code.lua("return vim.uri_from_bufnr(0)"), "range": make_range(0, 4, 0, 7)}
    code.lua("vim.ui.input = function(_, done) done('be loud') end")

    code.lua(
        """
        local command = { title = 'Edit', command = 'lspHarness.askInstruction', arguments = { ... } }
        require('lsp_harness.server').client(0):exec_cmd(command)
        """,
        place,
    )

    code.previews()
    code.type("y")
    code.until("vim.api.nvim_get_current_line() == 'def ADD(a, b):'")


def test_an_edit_without_need_of_consent_is_just_made(code: Editor):
    code.nvim.command("LspHarness docstring")

    code.says("done as told")
    assert code.buffer == ["def add(a, b):", '    """Says what."""', "    return a + b"]


def test_tests_go_to_a_new_file_which_is_named(code: Editor):
    code.nvim.command("LspHarness tests")

    _title, shown = code.previews()
    assert shown[:3] == ["# test_new.py is a new file", "--- /dev/null", "+++ test_new.py"]
    assert shown[-2:] == ["+def test_it():", "+    pass"]
    assert not (code.folder / "test_new.py").exists()
    code.type("y")

    code.says("also changed, in no window and not saved: test_new.py")
    assert code.lua("return vim.fn.getbufline('test_new.py', 1, '$')") == ["def test_it():", "    pass"]


def test_rejected_tests_leave_no_file(code: Editor):
    code.nvim.command("LspHarness tests")
    code.previews()

    code.type("n")

    code.until_event("answered", applied=False)
    assert not (code.folder / "test_new.py").exists()
    assert code.lua("return vim.fn.bufexists('test_new.py')") == 0


def test_an_explanation_floats_until_the_cursor_moves(code: Editor):
    code.nvim.command("1,2LspHarness explain")

    code.until("#vim.api.nvim_list_wins() == 2")
    (asked,) = code.events("explained")
    assert asked["range"] == make_range(0, 0, 1, 16)
    shown = code.lua("""
        local window = vim.api.nvim_list_wins()[2]
        local buf = vim.api.nvim_win_get_buf(window)
        return { vim.bo[buf].filetype, vim.api.nvim_buf_get_lines(buf, 0, -1, false) }
    """)
    assert shown[0] == "markdown"
    assert "It **adds**." in shown[1]
    code.type("j")
    code.until("#vim.api.nvim_list_wins() == 1")


def test_the_prompt_of_the_model_is_shown_in_a_floating_window(code: Editor):
    code.nvim.command("LspHarness context")

    code.until("#vim.api.nvim_list_wins() == 2")
    (asked,) = code.events("seen")
    assert asked["range"]["start"] == asked["range"]["end"]


@pytest.mark.parametrize(
    ("command", "lacking"),
    [
        ("edit be loud", "lspHarness.instruct"),
        ("docstring", "lspHarness.commands"),
        ("tests", "lspHarness.commands"),
        ("explain", "lspHarness.commands"),
        ("context", "lspHarness.commands"),
        ("nonsense", "lspHarness.commands"),
        ("statistics", "lspHarness.statistics"),
        ("engine restart", "lspHarness.restartEngine"),
        ("model", "lspHarness.models"),
    ],
)
def test_a_command_that_an_older_server_lacks_is_named(start: Start, command: str, lacking: str):
    editor = start([*FAKE, "old"])
    editor.open("demo.py", TEXT)

    editor.nvim.command(f"LspHarness {command}")

    editor.says(f"this server has no {lacking}")
