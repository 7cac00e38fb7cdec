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
def faulty(editor: Editor) -> Editor:
    """An editor with the cursor on a line that has a diagnostic of another linter."""
    editor.nvim.command(f"cd {editor.folder}")
    editor.open("demo.py", TEXT)
    editor.diagnose(1, 7, 13, "broken is not defined")
    editor.lua("vim.api.nvim_win_set_cursor(0, { 2, 0 })")
    return editor


def test_a_fix_is_previewed_as_a_diff_with_its_verdict(faulty: Editor):
    faulty.nvim.command("LspHarness fix")

    assert faulty.previews() == (LABEL, DIFF)
    assert faulty.lua("return vim.api.nvim_win_get_config(0).relative") == "editor"
    assert faulty.lua("return vim.fn.getbufline('demo.py', 1, '$')") == TEXT.splitlines()
    (diagnostic,) = faulty.events("actions")[0]["diagnostics"]
    place = {"start": {"line": 1, "character": 7}, "end": {"line": 1, "character": 13}}
    about = {"message": "broken is not defined", "source": "linter", "code": "L1", "severity": 1}
    assert diagnostic == {"range": place, **about}


@pytest.mark.parametrize("key", ["y", "<CR>"])
def test_yes_applies_a_fix_as_one_undo_step_and_tells_the_server(faulty: Editor, key: str):
    faulty.nvim.command("LspHarness fix")
    faulty.previews()

    faulty.type(key)

    assert faulty.buffer == AFTER
    faulty.until_event("applied")
    uri = faulty.lua("return vim.uri_from_bufnr(0)")
    assert faulty.events("applied")[0]["arguments"] == [uri, "p1"]
    faulty.type("u")
    assert faulty.buffer == TEXT.splitlines()


@pytest.mark.parametrize("key", ["q", "n", "<Esc>", ":quit<CR>", "<C-w>c"])
def test_no_leaves_the_text_alone(faulty: Editor, key: str):
    faulty.nvim.command("LspHarness fix")
    faulty.previews()

    faulty.type(key)

    faulty.says("not applied: rejected")
    assert faulty.buffer == TEXT.splitlines()
    faulty.settle()
    assert faulty.events("applied") == []
    assert faulty.lua("return #vim.api.nvim_list_wins()") == 1


def test_an_edit_of_a_text_that_moved_on_is_refused(faulty: Editor):
    buffer = faulty.nvim.current.buffer.number
    faulty.nvim.command("LspHarness fix")
    faulty.previews()
    faulty.lua("vim.api.nvim_buf_set_lines(..., 0, 0, false, { 'new line' })", buffer)

    faulty.type("y")

    faulty.says("not applied: the text has changed since this edit was computed")
    assert faulty.buffer == ["new line", *TEXT.splitlines()]


def test_a_fix_of_a_text_that_changes_meanwhile_is_not_shown(faulty: Editor):
    faulty.diagnose(1, 7, 13, "slow one")
    faulty.nvim.command("LspHarness fix")
    faulty.until("require('lsp_harness').statusline():find('step 1', 1, true) ~= nil")

    faulty.lua("vim.api.nvim_buf_set_lines(0, 0, 0, false, { 'new line' })")
    faulty.release()

    faulty.says("not applied: the text has changed since this edit was computed")
    assert faulty.lua("return #vim.api.nvim_list_wins()") == 1


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


def test_the_user_chooses_among_several_fixes_and_sees_no_reasons(faulty: Editor):
    faulty.open("two.py", "x = wrong + broken\n")
    faulty.until("#vim.diagnostic.get(0) == 1")
    faulty.diagnose(0, 12, 18, "broken is not defined")
    faulty.choosing("broken")

    faulty.nvim.command("LspHarness fix")

    faulty.previews()
    fixes = ["Fix with fake: it is wrong", "Fix with fake: broken is not defined"]
    assert sorted(faulty.lua("return offered")) == sorted(fixes)
    faulty.type("y")
    assert faulty.buffer == ["x = wrong + fixed"]


def test_a_range_selects_the_diagnostics_of_its_lines(faulty: Editor):
    faulty.lua("vim.api.nvim_win_set_cursor(0, { 1, 0 })")

    faulty.nvim.command("LspHarness fix")
    faulty.says("there is no diagnostic on this line")
    faulty.nvim.command("1,2LspHarness fix")

    faulty.previews()


def test_a_fix_that_cannot_be_computed_gives_the_reason(faulty: Editor):
    faulty.diagnose(1, 7, 13, "hopeless")

    faulty.nvim.command("LspHarness fix")

    faulty.says("Fix with fake: hopeless: no candidate passed")


def test_a_fix_is_previewed_in_a_tab_page_if_the_option_says_so(faulty: Editor):
    faulty.lua("require('lsp_harness.config').preview = 'tab'")

    faulty.nvim.command("LspHarness fix")
    title, shown = faulty.previews()

    assert title.startswith(LABEL)
    assert shown == DIFF
    assert faulty.lua("return vim.fn.tabpagenr('$')") == 2
    faulty.type("y")
    assert faulty.buffer == AFTER
    assert faulty.lua("return vim.fn.tabpagenr('$')") == 1


def test_a_fix_is_applied_without_a_preview_if_the_option_says_so(faulty: Editor):
    faulty.lua("require('lsp_harness.config').preview = false")

    faulty.nvim.command("LspHarness fix")

    faulty.until("vim.api.nvim_get_current_line() == 'name = fixed + 2'")


def test_a_person_in_insert_mode_is_asked_after_leaving_it(faulty: Editor):
    faulty.diagnose(1, 7, 13, "slow one")
    faulty.nvim.command("LspHarness fix")
    faulty.until("require('lsp_harness').statusline():find('step 1', 1, true) ~= nil")
    faulty.type("i")
    faulty.release()
    faulty.says("an edit is ready")
    assert faulty.lua("return #vim.api.nvim_list_wins()") == 1

    faulty.type("<Esc>")

    assert faulty.previews()[1] == DIFF


def test_a_server_without_code_actions_is_not_a_failure(start: Start):
    editor = start([*FAKE, "old"])
    editor.open("demo.py", "broken\n")
    editor.diagnose(0, 0, 6, "broken is not defined")

    editor.nvim.command("LspHarness fix")

    editor.says("this server offers no fixes")


def test_the_code_actions_of_neovim_offer_the_same_fixes(faulty: Editor):
    faulty.open("own.py", "x = wrong\n")
    faulty.until("#vim.diagnostic.get(0) == 1")

    faulty.lua("""
        vim.lsp.buf.code_action({ apply = true, filter = function(a) return vim.startswith(a.title, 'Fix') end })
    """)

    faulty.until("vim.api.nvim_get_current_line() == 'x = fixed'")
    faulty.until_event("applied")
