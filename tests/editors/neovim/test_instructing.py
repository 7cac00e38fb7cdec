"""Edits by instruction, docstrings, tests and explanations, in a real Neovim with a fake server."""

import pytest

from tests.editors.neovim.conftest import FAKE, Start
from tests.editors.neovim.editor import Editor
from tests.editors.neovim.fake_work import LABEL

TEXT = "def add(a, b):\n    return a + b\n"


@pytest.fixture
def code_editor(editor: Editor) -> Editor:
    editor.nvim.command(f"cd {editor.folder}")
    editor.open("demo.py", TEXT)
    return editor


def make_range(line: int, start: int, end_line: int, end: int) -> dict[str, dict[str, int]]:
    return {"start": {"line": line, "character": start}, "end": {"line": end_line, "character": end}}


def test_an_instruction_for_some_lines_is_shown_and_applied(code_editor: Editor):
    code_editor.nvim.command("1LspHarness edit shout it")

    title, shown = code_editor.previews()
    assert title == LABEL
    assert shown[2:] == ["@@ -1,2 +1,2 @@", "-def add(a, b):", "+DEF ADD(A, B):", "     return a + b"]
    (wish,) = code_editor.events("instructed")
    assert wish["instruction"] == "shout it"
    assert wish["range"] == make_range(0, 0, 0, 14)
    code_editor.type("y")

    code_editor.says("done as told")
    assert code_editor.buffer == ["DEF ADD(A, B):", "    return a + b"]
    code_editor.until_event("answered", applied=True)


def test_a_rejected_edit_is_answered_as_not_applied(code_editor: Editor):
    code_editor.nvim.command("1LspHarness edit shout it")
    code_editor.previews()

    code_editor.type("q")

    code_editor.until_event("answered", applied=False, failureReason="rejected")
    assert code_editor.buffer == TEXT.splitlines()


def test_an_edit_of_a_changed_text_is_answered_as_outdated(code_editor: Editor):
    code_editor.nvim.command("1LspHarness edit slow shout")
    code_editor.until("require('lsp_harness').statusline():find('step 1', 1, true) ~= nil")
    # the server has the new text, but its edit is for the version before
    code_editor.lua("vim.lsp.util.buf_versions[vim.api.nvim_get_current_buf()] = 1e6")

    code_editor.release()

    code_editor.until_event(
        "answered", applied=False, failureReason="the text has changed since this edit was computed"
    )
    assert code_editor.buffer == TEXT.splitlines()


def test_without_an_instruction_the_user_is_asked(code_editor: Editor):
    code_editor.nvim.input(":1LspHarness edit<CR>")
    code_editor.nvim.input("be loud<CR>")

    code_editor.until_event("instructed", instruction="be loud")
    code_editor.previews()


def test_an_empty_instruction_sends_no_request(code_editor: Editor):
    code_editor.nvim.input(":1LspHarness edit<CR>")
    code_editor.nvim.input("<CR>")

    code_editor.settle()
    assert code_editor.events("instructed") == []


def test_a_visual_selection_is_the_range_of_an_instruction(code_editor: Editor):
    code_editor.lua("vim.keymap.set('x', 'E', function() require('lsp_harness').edit('be loud') end)")

    code_editor.type("fa" + "vE")
    code_editor.until_event("instructed")
    code_editor.previews()
    code_editor.type("q")
    code_editor.type("jVE")
    code_editor.previews()

    assert [each["range"] for each in code_editor.events("instructed")] == [
        make_range(0, 4, 0, 5),
        make_range(1, 0, 1, 16),
    ]


def test_the_code_action_asks_for_the_instruction_and_sends_it(code_editor: Editor):
    place = {"uri": code_editor.lua("return vim.uri_from_bufnr(0)"), "range": make_range(0, 4, 0, 7)}
    code_editor.lua("vim.ui.input = function(_, done) done('be loud') end")

    code_editor.lua(
        """
        local command = { title = 'Edit', command = 'lspHarness.askInstruction', arguments = { ... } }
        require('lsp_harness.server').client(0):exec_cmd(command)
        """,
        place,
    )

    code_editor.previews()
    code_editor.type("y")
    code_editor.until("vim.api.nvim_get_current_line() == 'def ADD(a, b):'")


def test_an_edit_without_need_of_consent_is_just_made(code_editor: Editor):
    code_editor.nvim.command("LspHarness docstring")

    code_editor.says("done as told")
    assert code_editor.buffer == ["def add(a, b):", '    """Says what."""', "    return a + b"]


def test_tests_go_to_a_new_file_which_is_named(code_editor: Editor):
    code_editor.nvim.command("LspHarness tests")

    _title, shown = code_editor.previews()
    assert shown[:3] == ["# test_new.py is a new file", "--- /dev/null", "+++ test_new.py"]
    assert shown[-2:] == ["+def test_it():", "+    pass"]
    assert not (code_editor.folder / "test_new.py").exists()
    code_editor.type("y")

    code_editor.says("also changed, in no window and not saved: test_new.py")
    assert code_editor.lua("return vim.fn.getbufline('test_new.py', 1, '$')") == ["def test_it():", "    pass"]


def test_rejected_tests_leave_no_file(code_editor: Editor):
    code_editor.nvim.command("LspHarness tests")
    code_editor.previews()

    code_editor.type("n")

    code_editor.until_event("answered", applied=False)
    assert not (code_editor.folder / "test_new.py").exists()
    assert code_editor.lua("return vim.fn.bufexists('test_new.py')") == 0


def test_an_explanation_floats_until_the_cursor_moves(code_editor: Editor):
    code_editor.nvim.command("1,2LspHarness explain")

    code_editor.until("#vim.api.nvim_list_wins() == 2")
    (asked,) = code_editor.events("explained")
    assert asked["range"] == make_range(0, 0, 1, 16)
    shown = code_editor.lua("""
        local window = vim.api.nvim_list_wins()[2]
        local buf = vim.api.nvim_win_get_buf(window)
        return { vim.bo[buf].filetype, vim.api.nvim_buf_get_lines(buf, 0, -1, false) }
    """)
    assert shown[0] == "markdown"
    assert "It **adds**." in shown[1]
    code_editor.type("j")
    code_editor.until("#vim.api.nvim_list_wins() == 1")


def test_the_prompt_of_the_model_is_shown_in_a_floating_window(code_editor: Editor):
    code_editor.nvim.command("LspHarness context")

    code_editor.until("#vim.api.nvim_list_wins() == 2")
    (asked,) = code_editor.events("seen")
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
