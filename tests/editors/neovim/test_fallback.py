"""Definitions and references: those of our server are used only if no other server has any."""

import pytest

from tests.editors.neovim.conftest import Real
from tests.editors.neovim.editor import Editor

DEFINITION, REFERENCES = "textDocument/definition", "textDocument/references"

SHAPES = "class Circle:\n    pass\n"
USE = "from shapes import Circle\n\nCircle()\n"

OTHER = """
local provides, registers = ...
_G.dispatch = nil
_G.other = vim.lsp.start({
  name = 'other',
  cmd = function(dispatchers)
    dispatch = dispatchers
    return {
      request = function(method, params, answer)
        local result = { uri = vim.tbl_get(params or {}, 'textDocument', 'uri'), range = {
          start = { line = 1, character = 0 }, ['end'] = { line = 1, character = 0 },
        } }
        if method == 'initialize' then
          result = { capabilities = provides }
        elseif method == 'shutdown' then
          result = vim.NIL
        end
        answer(nil, method == 'textDocument/references' and { result } or result)
        return true, 1
      end,
      notify = function(method)
        if method == 'exit' then
          dispatchers.on_exit(0, 15)
        end
      end,
      is_closing = function() return false end,
      terminate = function() end,
    }
  end,
})
"""
"""Another server, within Neovim, which finds everything at the beginning of the second line."""


def start_other_server(editor: Editor, **provides: bool) -> None:
    editor.lua(OTHER, provides or {"definitionProvider": True, "referencesProvider": True})
    editor.until("vim.lsp.get_client_by_id(other).initialized")


def find_servers(editor: Editor, method: str) -> list[str]:
    """Return the servers that support a method, as Neovim and plugins find them."""
    code = """
        local clients = vim.lsp.get_clients({ bufnr = 0, method = ... })
        return vim.iter(clients):map(function(client) return client.name end):totable()
    """
    return editor.lua(code, method)


@pytest.fixture
def indexed_editor(start_real_editor: Real) -> Editor:
    """An editor with the cursor on a name that another, indexed file declares."""
    editor = start_real_editor()
    (editor.folder / "shapes.py").write_text(SHAPES)
    editor.open("use.py", USE)
    editor.lua("vim.api.nvim_win_set_cursor(0, { 3, 1 })")
    editor.lua("""
        function _G.found()
          local client = require('lsp_harness.server').client(0)
          local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
          local answer = client:request_sync('textDocument/definition', params, 5000, 0)
          return answer and answer.result and #answer.result == 1 and vim.fs.basename(answer.result[1].uri)
        end
    """)
    editor.until("found() == 'shapes.py'")
    return editor


def test_without_another_server_a_jump_goes_to_the_definition(indexed_editor: Editor):
    indexed_editor.lua("vim.lsp.buf.definition()")

    indexed_editor.until("vim.fs.basename(vim.api.nvim_buf_get_name(0)) == 'shapes.py'")
    assert indexed_editor.cursor == (1, 6)


def test_without_another_server_the_references_are_listed(indexed_editor: Editor):
    indexed_editor.lua("vim.lsp.buf.references()")

    indexed_editor.until("vim.bo.filetype == 'qf'")
    places = indexed_editor.lua("""
        return vim.iter(vim.fn.getqflist()):map(function(item)
          return { vim.fs.basename(vim.api.nvim_buf_get_name(item.bufnr)), item.lnum, item.col }
        end):totable()
    """)
    assert places == [["shapes.py", 1, 7], ["use.py", 1, 20], ["use.py", 3, 1]]


def test_another_server_with_definitions_replaces_ours(indexed_editor: Editor):
    start_other_server(indexed_editor)

    indexed_editor.lua("vim.lsp.buf.definition()")
    indexed_editor.until("vim.api.nvim_win_get_cursor(0)[1] == 2")
    assert indexed_editor.buffer == USE.splitlines()

    indexed_editor.lua("vim.lsp.buf.references()")
    indexed_editor.until("vim.bo.filetype == 'qf'")
    assert [(place["lnum"], place["col"]) for place in indexed_editor.lua("return vim.fn.getqflist()")] == [(2, 1)]


def test_the_fallback_is_off_only_while_another_server_is_attached(editor: Editor):
    assert find_servers(editor, DEFINITION) == ["lsp_harness"]
    start_other_server(editor)
    assert find_servers(editor, DEFINITION) == find_servers(editor, REFERENCES) == ["other"]

    editor.lua("vim.lsp.buf_detach_client(0, other)")

    assert find_servers(editor, DEFINITION) == find_servers(editor, REFERENCES) == ["lsp_harness"]
    editor.lua("vim.lsp.buf_attach_client(0, other)")
    editor.lua("vim.lsp.get_client_by_id(other):stop()")
    editor.until("vim.lsp.get_client_by_id(other) == nil")
    assert find_servers(editor, DEFINITION) == ["lsp_harness"]


def test_the_fallback_is_chosen_separately_for_each_method(editor: Editor):
    start_other_server(editor, referencesProvider=True)

    assert find_servers(editor, DEFINITION) == ["lsp_harness"]
    assert find_servers(editor, REFERENCES) == ["other"]


def test_a_method_that_another_server_registers_later_replaces_ours(editor: Editor):
    start_other_server(editor, hoverProvider=True)
    assert find_servers(editor, DEFINITION) == ["lsp_harness"]

    editor.lua("""
        local registration = { id = 'd', method = 'textDocument/definition', registerOptions = {} }
        dispatch.server_request('client/registerCapability', { registrations = { registration } })
    """)

    assert find_servers(editor, DEFINITION) == ["other"]


def test_the_fallback_answers_in_a_buffer_without_another_server(editor: Editor):
    start_other_server(editor)
    editor.open("elsewhere.py")

    assert find_servers(editor, DEFINITION) == ["lsp_harness"]


def test_a_restarted_server_leaves_its_methods_to_the_other_server(editor: Editor):
    start_other_server(editor)
    editor.lua("_G.gone = require('lsp_harness.server').client(0).id")
    editor.nvim.command("LspHarness restart")
    editor.until("vim.lsp.get_client_by_id(gone) == nil and require('lsp_harness.server').client(0) ~= nil")

    assert find_servers(editor, DEFINITION) == ["other"]


@pytest.mark.parametrize(
    "question",
    [
        "client:supports_method('textDocument/definition', 0)",
        "client:supports_method('textDocument/definition', { bufnr = 0 })",
        "client.supports_method('textDocument/definition', { bufnr = 0 })",
    ],
)
def test_all_forms_of_supports_method_give_the_same_answer(editor: Editor, question: str):
    ask = f"local client = require('lsp_harness.server').client(0) return {question}"
    assert editor.lua(ask) is True
    start_other_server(editor)
    assert editor.lua(ask) is False


def test_the_client_still_supports_definitions_beside_another_server(editor: Editor):
    start_other_server(editor)
    assert editor.lua("return require('lsp_harness.server').client(0):supports_method('textDocument/definition')")
