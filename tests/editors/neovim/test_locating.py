"""Finding the code that a task is about, in a real Neovim with a fake server."""

import pytest

from tests.editors.neovim.conftest import FAKE, Start
from tests.editors.neovim.editor import Editor

TEXT = "import os\ndef add(a, b):\n    return a + b\n"


@pytest.fixture
def code_editor(editor: Editor) -> Editor:
    editor.nvim.command(f"cd {editor.folder}")
    editor.open("demo.py", TEXT)
    return editor


def test_a_task_opens_its_code_and_lists_other_places_in_quickfix(code_editor: Editor):
    code_editor.nvim.command("LspHarness locate let add take three")

    code_editor.until("vim.api.nvim_win_get_cursor(0)[1] == 2")
    (wish,) = code_editor.events("located")
    assert (wish["task"], wish["uri"]) == ("let add take three", code_editor.lua("return vim.uri_from_bufnr(0)"))
    quickfix = code_editor.lua("return vim.fn.getqflist({ title = 0, items = 0 })")
    assert quickfix["title"] == "lsp-harness: let add take three"
    assert [(one["lnum"], one["end_lnum"], one["text"]) for one in quickfix["items"]] == [
        (2, 2, "def add(a, b)  [words 1]"),
        (1, 2, "import os  [words 2, meaning 1]"),
    ]
    code_editor.says("one of 2 places; :copen shows the others")
    code_editor.nvim.command("cnext")
    assert code_editor.lua("return vim.api.nvim_win_get_cursor(0)[1]") == 1


def test_the_place_that_the_model_chose_is_opened_at_any_position_of_the_list(code_editor: Editor):
    code_editor.nvim.command("3")

    code_editor.nvim.command("LspHarness locate second")

    code_editor.until("vim.api.nvim_win_get_cursor(0)[1] == 1")
    assert code_editor.lua("return vim.fn.getqflist({ idx = 0 }).idx") == 2


def test_without_a_task_the_user_is_asked_and_an_empty_answer_sends_no_request(code_editor: Editor):
    code_editor.nvim.input(":LspHarness locate<CR>")
    code_editor.nvim.input("<CR>")
    code_editor.settle()
    assert code_editor.events("located") == []

    code_editor.nvim.input(":LspHarness locate<CR>")
    code_editor.nvim.input("add it<CR>")

    code_editor.until_event("located", task="add it")


def test_a_buffer_without_a_file_sends_the_folder(code_editor: Editor):
    code_editor.nvim.command("enew")

    code_editor.nvim.command("LspHarness locate add it")

    code_editor.until_event("located", uri=code_editor.folder.resolve().as_uri())
    code_editor.until("vim.api.nvim_buf_get_name(0):find('demo.py', 1, true) ~= nil")


def test_a_place_that_cannot_be_found_is_reported_and_the_list_stays(code_editor: Editor):
    code_editor.nvim.command("LspHarness locate zebra")

    code_editor.says("Locate: nothing in it has to do with that")
    assert code_editor.lua("return #vim.fn.getqflist()") == 0


def test_an_older_server_without_the_command_is_reported(start: Start):
    editor = start([*FAKE, "old"])
    editor.open()

    editor.nvim.command("LspHarness locate add it")

    editor.says("this server has no lspHarness.locate")
