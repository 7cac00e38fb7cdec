"""`:LspHarness fix`: the fixes of the diagnostics at the cursor, their preview, and their application."""

import pytest

from tests.editors.neovim.conftest import FAKE, Start
from tests.editors.neovim.editor import Editor
from tests.editors.neovim.fake_work import LABEL

TEXT = "first = 1\nname = broken + 2\nlast = 3\n"
DIFF = [
    "--- demo.py",
    "+++ demo.py",
    "@@ -1,3 +1,3 @@",
    " first = 1",
    "-name = broken + 2",
    "+name = fixed + 2",
    " last = 3",
]
AFTER = ["first = 1", "name = fixed + 2", "last = 3"]


@pytest.fixture
def faulty_editor(editor: Editor) -> Editor:
    """An editor with the cursor on a line that has a diagnostic of another linter."""
    editor.nvim.command(f"cd {editor.folder}")
    editor.open("demo.py", TEXT)
    editor.diagnose(1, 7, 13, "broken is not defined")
    editor.lua("vim.api.nvim_win_set_cursor(0, { 2, 0 })")
    return editor


def test_a_fix_is_previewed_as_a_diff_with_its_verdict(faulty_editor: Editor):
    faulty_editor.nvim.command("LspHarness fix")

    assert faulty_editor.previews() == (LABEL, DIFF)
    assert faulty_editor.lua("return vim.api.nvim_win_get_config(0).relative") == "editor"
    assert faulty_editor.lua("return vim.fn.getbufline('demo.py', 1, '$')") == TEXT.splitlines()
    (diagnostic,) = faulty_editor.events("actions")[0]["diagnostics"]
    place = {"start": {"line": 1, "character": 7}, "end": {"line": 1, "character": 13}}
    about = {"message": "broken is not defined", "source": "linter", "code": "L1", "severity": 1}
    assert diagnostic == {"range": place, **about}


@pytest.mark.parametrize("key", ["y", "<CR>"])
def test_yes_applies_a_fix_as_one_undo_step_and_tells_the_server(faulty_editor: Editor, key: str):
    faulty_editor.nvim.command("LspHarness fix")
    faulty_editor.previews()

    faulty_editor.type(key)

    assert faulty_editor.buffer == AFTER
    faulty_editor.until_event("applied")
    uri = faulty_editor.lua("return vim.uri_from_bufnr(0)")
    assert faulty_editor.events("applied")[0]["arguments"] == [uri, "p1"]
    faulty_editor.type("u")
    assert faulty_editor.buffer == TEXT.splitlines()


@pytest.mark.parametrize("key", ["q", "n", "<Esc>", ":quit<CR>", "<C-w>c"])
def test_no_leaves_the_text_alone(faulty_editor: Editor, key: str):
    faulty_editor.nvim.command("LspHarness fix")
    faulty_editor.previews()

    faulty_editor.type(key)

    faulty_editor.says("not applied: rejected")
    assert faulty_editor.buffer == TEXT.splitlines()
    faulty_editor.settle()
    assert faulty_editor.events("applied") == []
    assert faulty_editor.lua("return #vim.api.nvim_list_wins()") == 1


def test_an_edit_of_a_text_that_moved_on_is_refused(faulty_editor: Editor):
    buffer = faulty_editor.nvim.current.buffer.number
    faulty_editor.nvim.command("LspHarness fix")
    faulty_editor.previews()
    faulty_editor.lua("vim.api.nvim_buf_set_lines(..., 0, 0, false, { 'new line' })", buffer)

    faulty_editor.type("y")

    faulty_editor.says("not applied: the text has changed since this edit was computed")
    assert faulty_editor.buffer == ["new line", *TEXT.splitlines()]


def test_a_fix_of_a_text_that_changes_meanwhile_is_not_shown(faulty_editor: Editor):
    faulty_editor.diagnose(1, 7, 13, "slow one")
    faulty_editor.nvim.command("LspHarness fix")
    faulty_editor.until("require('lsp_harness').statusline():find('step 1', 1, true) ~= nil")

    faulty_editor.lua("vim.api.nvim_buf_set_lines(0, 0, 0, false, { 'new line' })")
    faulty_editor.release()

    faulty_editor.says("not applied: the text has changed since this edit was computed")
    assert faulty_editor.lua("return #vim.api.nvim_list_wins()") == 1


def test_positions_are_sent_in_the_encoding_of_the_server(start: Start):
    before = "vim.lsp.config('lsp_harness', { capabilities = { general = { positionEncodings = { 'utf-16' } } } })"
    editor = start(before=before)
    editor.open("demo.py", "ñ😀 = broken\n")
    editor.diagnose(0, 9, 15, "broken is not defined")

    editor.nvim.command("LspHarness fix")
    editor.previews()
    editor.type("y")

    assert editor.events("actions")[0]["diagnostics"][0]["range"]["start"] == {"line": 0, "character": 6}
    assert editor.buffer == ["ñ😀 = fixed"]


def test_the_user_chooses_among_several_fixes_and_sees_no_reasons(faulty_editor: Editor):
    faulty_editor.open("two.py", "x = wrong + broken\n")
    faulty_editor.until("#vim.diagnostic.get(0) == 1")
    faulty_editor.diagnose(0, 12, 18, "broken is not defined")
    faulty_editor.choosing("broken")

    faulty_editor.nvim.command("LspHarness fix")

    faulty_editor.previews()
    fixes = ["Fix with fake: it is wrong", "Fix with fake: broken is not defined"]
    assert sorted(faulty_editor.lua("return offered")) == sorted(fixes)
    faulty_editor.type("y")
    assert faulty_editor.buffer == ["x = wrong + fixed"]


def test_a_range_selects_the_diagnostics_of_its_lines(faulty_editor: Editor):
    faulty_editor.lua("vim.api.nvim_win_set_cursor(0, { 1, 0 })")

    faulty_editor.nvim.command("LspHarness fix")
    faulty_editor.says("there is no diagnostic on this line")
    faulty_editor.nvim.command("1,2LspHarness fix")

    faulty_editor.previews()


def test_a_fix_that_cannot_be_computed_gives_the_reason(faulty_editor: Editor):
    faulty_editor.diagnose(1, 7, 13, "hopeless")

    faulty_editor.nvim.command("LspHarness fix")

    faulty_editor.says("Fix with fake: hopeless: no candidate passed")


def test_a_fix_is_previewed_in_a_tab_page_if_the_option_says_so(faulty_editor: Editor):
    faulty_editor.lua("require('lsp_harness.config').preview = 'tab'")

    faulty_editor.nvim.command("LspHarness fix")
    title, shown = faulty_editor.previews()

    assert title.startswith(LABEL)
    assert shown == DIFF
    assert faulty_editor.lua("return vim.fn.tabpagenr('$')") == 2
    faulty_editor.type("y")
    assert faulty_editor.buffer == AFTER
    assert faulty_editor.lua("return vim.fn.tabpagenr('$')") == 1


def test_a_fix_is_applied_without_a_preview_if_the_option_says_so(faulty_editor: Editor):
    faulty_editor.lua("require('lsp_harness.config').preview = false")

    faulty_editor.nvim.command("LspHarness fix")

    faulty_editor.until("vim.api.nvim_get_current_line() == 'name = fixed + 2'")


def test_a_person_in_insert_mode_is_asked_after_leaving_it(faulty_editor: Editor):
    faulty_editor.diagnose(1, 7, 13, "slow one")
    faulty_editor.nvim.command("LspHarness fix")
    faulty_editor.until("require('lsp_harness').statusline():find('step 1', 1, true) ~= nil")
    faulty_editor.type("i")
    faulty_editor.release()
    faulty_editor.says("an edit is ready")
    assert faulty_editor.lua("return #vim.api.nvim_list_wins()") == 1

    faulty_editor.type("<Esc>")

    assert faulty_editor.previews()[1] == DIFF


def test_a_server_without_code_actions_is_not_a_failure(start: Start):
    editor = start([*FAKE, "old"])
    editor.open("demo.py", "broken\n")
    editor.diagnose(0, 0, 6, "broken is not defined")

    editor.nvim.command("LspHarness fix")

    editor.says("this server offers no fixes")


def test_the_code_actions_of_neovim_offer_the_same_fixes(faulty_editor: Editor):
    faulty_editor.open("own.py", "x = wrong\n")
    faulty_editor.until("#vim.diagnostic.get(0) == 1")

    faulty_editor.lua("""
        vim.lsp.buf.code_action({ apply = true, filter = function(a) return vim.startswith(a.title, 'Fix') end })
    """)

    faulty_editor.until("vim.api.nvim_get_current_line() == 'x = fixed'")
    faulty_editor.until_event("applied")
