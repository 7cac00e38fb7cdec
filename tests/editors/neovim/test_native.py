"""The use of `vim.lsp.inline_completion`, the ghost text of Neovim 0.12.

The Neovim of the tests is older, so a fake has its public functions and its timing. The tests only show that the plugin
calls them as they are documented.
"""

import pytest

from tests.editors.neovim.conftest import Start
from tests.editors.neovim.editor import Editor

STAND_IN = """
    local space = vim.api.nvim_create_namespace('nvim.lsp.inline_completion')
    _G.enabled, _G.accepted, _G.selected = {}, {}, {}
    function _G.show(item)
      _G.item = item
      local row, col = unpack(vim.api.nvim_win_get_cursor(0))
      vim.api.nvim_buf_set_extmark(0, space, row - 1, col, { virt_text = { { item.insert_text } } })
    end
    vim.lsp.inline_completion = {
      enable = function(on, filter) table.insert(enabled, { on, filter }) end,
      get = function(options)
        if not item then return false end
        vim.schedule(function()
          local taken = item
          _G.item = nil
          vim.api.nvim_buf_clear_namespace(0, space, 0, -1)
          if options.on_accept then taken = options.on_accept(taken) end
          if taken then table.insert(accepted, taken) end
        end)
        return true
      end,
      select = function(options) table.insert(selected, options) end,
    }
"""


@pytest.fixture
def native_editor(start: Start) -> Editor:
    editor = start(before=STAND_IN)
    editor.open()
    editor.until("#enabled > 0")
    return editor


def test_native_completion_is_enabled_where_the_client_attaches(native_editor: Editor):
    assert native_editor.lua("return enabled") == [[True, {"bufnr": native_editor.nvim.current.buffer.number}]]
    native_editor.type("ix = ")
    native_editor.settle()
    assert native_editor.asked() == [], "Neovim asks, not we"


def test_accepting_the_whole_suggestion_is_left_to_neovim(native_editor: Editor):
    native_editor.type("ix = ")
    native_editor.lua("show({ insert_text = 'compute(2)' })")
    assert native_editor.lua("return require('lsp_harness').visible()") is True

    native_editor.type("<Tab>")

    native_editor.until("#accepted == 1")
    assert native_editor.lua("return accepted") == [{"insert_text": "compute(2)"}]


def test_a_part_is_inserted_and_the_last_one_left_to_neovim(native_editor: Editor):
    native_editor.type("ix = co")
    native_editor.lua("show({ insert_text = 'compute(\\n  2)', range = { start_row = 0, start_col = 4 } })")
    native_editor.type("<C-Right>")
    native_editor.until("vim.api.nvim_get_current_line() == 'x = compute'")
    assert native_editor.cursor == (1, 11)

    # the form of a range in early versions of 0.12
    native_editor.lua("show({ insert_text = 'compute(\\n  2)', range = { start = { row = 0, col = 4 } } })")
    native_editor.type("<C-Down>")
    native_editor.until("vim.api.nvim_get_current_line() == 'x = compute('")
    assert native_editor.lua("return accepted") == []

    native_editor.lua("show({ insert_text = '\\n  2)' })")
    native_editor.type("<C-Down>")
    native_editor.until("#accepted == 1")
    assert native_editor.buffer == ["x = compute("], "the stand-in inserts nothing"


def test_dismissing_a_native_suggestion_leaves_the_text(native_editor: Editor):
    native_editor.type("ix = ")
    native_editor.lua("show({ insert_text = 'compute(2)' })")

    native_editor.type("<C-]>")

    native_editor.until("not require('lsp_harness').visible()")
    assert native_editor.buffer == ["x = "]
    assert native_editor.lua("return accepted") == []


def test_the_server_learns_which_native_suggestion_was_dismissed(native_editor: Editor):
    native_editor.type("ix = ")
    native_editor.lua("""
        local client = require('lsp_harness.server').client(0)
        local command = { title = 'Accepted', command = 'lspHarness.accepted', arguments = { 'a uri', 'an id' } }
        show({ insert_text = 'compute(2)', client_id = client.id, command = command })
    """)

    native_editor.type("<C-]>")

    native_editor.until_event("dismissed", arguments=["a uri", "an id"])


def test_another_suggestion_is_selected_by_neovim(native_editor: Editor):
    native_editor.type("ix = ")
    native_editor.lua("show({ insert_text = 'compute(2)' })")

    native_editor.type("<M-]><M-[>")

    assert native_editor.lua("return selected") == [{"count": 1}, {"count": -1}]


def test_an_explicit_request_is_left_to_neovim(native_editor: Editor):
    native_editor.type("ix = <M-s>")

    native_editor.says("Neovim decides when it requests ghost text")


def test_this_plugin_draws_where_that_is_wanted(start: Start):
    editor = start(before=STAND_IN + "_G.options = { native = false }")
    editor.open()

    editor.type("ix = ")

    editor.shows("compute(total, 2)")
    assert editor.lua("return enabled") == []


def test_without_ghost_text_all_answer_false(native_editor: Editor):
    verbs = ("accept", "accept_word", "accept_line", "dismiss", "next", "previous", "visible")
    assert [native_editor.lua(f"return require('lsp_harness').{verb}()") for verb in verbs] == [False] * 7


def test_pausing_disables_native_completion_in_our_buffers(native_editor: Editor):
    buffer = native_editor.nvim.current.buffer.number

    native_editor.nvim.command("LspHarness pause")
    native_editor.nvim.command("LspHarness resume")

    assert native_editor.lua("return enabled")[1:] == [[False, {"bufnr": buffer}], [True, {"bufnr": buffer}]]
