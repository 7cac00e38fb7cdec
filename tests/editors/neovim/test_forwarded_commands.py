"""The commands that the plugin has no code for: it asks the server which there are, and shows their results."""

import pytest
from pynvim import NvimError

from lsp_harness.server.commands.command_registry import editor_commands
from tests.editors.neovim.conftest import FAKE, Real, Start
from tests.editors.neovim.editor import Editor

FORWARDED = ["context", "docstring", "explain", "greet", "tests"]


def list_offered_commands(editor: Editor, begins: str = "") -> list[str]:
    """Return the completions that are no subcommands of the plugin itself."""
    own = editor.lua("return vim.tbl_keys(require('lsp_harness.command').commands)")
    return [name for name in editor.nvim.funcs.getcompletion(f"LspHarness {begins}", "cmdline") if name not in own]


def read_floating_text(editor: Editor) -> list[str]:
    editor.until("#vim.api.nvim_list_wins() == 2")
    return editor.lua("return vim.api.nvim_buf_get_lines(vim.fn.winbufnr(2), 0, -1, false)")


def test_commands_that_the_server_lists_are_completed_and_run(editor: Editor):
    editor.settle()
    assert list_offered_commands(editor) == FORWARDED
    assert list_offered_commands(editor, "gr") == ["greet"]

    editor.nvim.command("LspHarness greet")

    assert "from a command of one file" in read_floating_text(editor)


def test_every_server_is_asked_once(editor: Editor):
    editor.open("other.py")
    editor.nvim.command("LspHarness explain")
    editor.settle()
    assert len(editor.events("commands listed")) == 1

    editor.lua("_G.first = vim.lsp.get_clients()[1].id")
    editor.nvim.command("LspHarness restart")
    editor.until("vim.lsp.get_client_by_id(first) == nil")
    editor.until("require('lsp_harness.server').client(0) ~= nil")
    editor.settle()

    assert len(editor.events("commands listed")) == 2
    assert list_offered_commands(editor) == FORWARDED


def test_a_command_that_is_typed_before_the_list_arrives_waits(start: Start):
    editor = start([*FAKE, "slow"])
    editor.open()
    editor.settle()
    assert list_offered_commands(editor) == []

    # the command blocks Neovim, so the release must have its timer before it
    editor.lua("""
        local client = require('lsp_harness.server').client(0)
        vim.defer_fn(function() client:notify('fake/release', {}) end, 50)
        vim.cmd.LspHarness('greet')
    """)

    assert "from a command of one file" in read_floating_text(editor)


def test_a_list_that_does_not_come_is_waited_for_in_vain_but_not_for_ever(start: Start):
    editor = start([*FAKE, "slow"])
    editor.open()

    editor.nvim.command("LspHarness greet")

    editor.says("greet: the server has not answered yet; try again")


def test_a_list_that_failed_is_requested_again(start: Start):
    editor = start([*FAKE, "forgetful"])
    editor.open()
    editor.settle()
    assert list_offered_commands(editor) == []

    editor.nvim.command("LspHarness greet")

    assert "from a command of one file" in read_floating_text(editor)


@pytest.mark.parametrize("what", ["explain", "nonsense"])
def test_without_a_server_an_unknown_command_says_so(start: Start, what: str):
    editor = start()

    editor.nvim.command(f"LspHarness {what}")

    assert "no server is attached to this buffer" in editor.messages
    with pytest.raises(NvimError, match=f"there is no :LspHarness {what} now"):
        editor.nvim.command(f"LspHarness {what} now")


def test_a_server_of_another_buffer_cannot_have_the_selection(editor: Editor):
    editor.settle()
    editor.nvim.command("new")

    editor.nvim.command("LspHarness explain")

    assert "no server is attached to this buffer" in editor.messages
    editor.nvim.command("LspHarness greet")
    editor.until("#vim.api.nvim_list_wins() == 3")


def test_the_function_for_a_key_explains_the_selection(editor: Editor):
    editor.open("demo.py", "def add(a, b):\n    return a + b\n")
    editor.lua("vim.keymap.set({ 'n', 'x' }, 'E', function() require('lsp_harness').explain() end)")

    editor.type("VE")

    assert "It **adds**." in read_floating_text(editor)
    (asked,) = editor.events("explained")
    assert asked["range"]["end"] == {"line": 0, "character": 14}


def test_the_result_of_a_code_action_is_shown(editor: Editor):
    editor.settle()
    editor.lua("""
        local place = { uri = vim.uri_from_bufnr(0), range = {} }
        local command = { title = 'Explain with lsp-harness', command = 'lspHarness.explain', arguments = { place } }
        require('lsp_harness.server').client(0):exec_cmd(command)
    """)

    assert "It **adds**." in read_floating_text(editor)


def test_a_handler_of_the_user_stays(start: Start):
    editor = start(
        before="vim.lsp.config('lsp_harness', "
        "{ commands = { ['lspHarness.explain'] = function() _G.explained = true end } })"
    )
    editor.open()
    editor.settle()

    editor.lua("require('lsp_harness.server').client(0):exec_cmd({ title = 'E', command = 'lspHarness.explain' })")

    assert editor.lua("return explained") is True


def test_health_warns_about_a_server_without_commands(start: Start):
    editor = start([*FAKE, "old"])
    editor.open()

    editor.nvim.command("checkhealth lsp_harness")

    assert any("WARNING this server has no lspHarness.commands" in line for line in editor.buffer)


def test_the_real_server_lists_its_commands(start_real_editor: Real):
    editor = start_real_editor()
    editor.until("#require('lsp_harness.forwarded_commands').names(vim.lsp.get_clients()[1]) > 0")

    assert list_offered_commands(editor) == [
        command.short_name for command in editor_commands() if command.palette and command.palette.handler != "custom"
    ]
