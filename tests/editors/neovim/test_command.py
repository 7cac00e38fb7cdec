"""`:LspHarness`, `:checkhealth lsp_harness` and the options of `setup`."""

import re
import shutil
from pathlib import Path

import pytest
from pynvim import NvimError

from tests.editors.neovim.conftest import PLUGIN, Start
from tests.editors.neovim.editor import Editor


def test_status_shows_the_state_of_the_server(editor: Editor):
    editor.nvim.command("LspHarness status")

    editor.until("vim.fn.execute('messages'):find('version: fake', 1, true) ~= nil")
    assert "ghost text is on, drawn by this plugin" in editor.nvim.command_output("messages")


def test_status_without_a_server_reports_its_absence(start: Start):
    editor = start()

    editor.nvim.command("LspHarness status")

    assert "no server is attached to this buffer" in editor.nvim.command_output("messages")


def test_pause_stops_asking_and_resume_starts_again(editor: Editor):
    editor.nvim.command("LspHarness pause")
    editor.type("ix =")
    editor.settle()
    assert editor.asked() == []

    editor.type("<Esc>")
    editor.nvim.command("LspHarness resume")
    editor.type("A ")

    editor.shows("compute(total, 2)")
    assert set(editor.asked()) <= {"x =", "x = "}


def test_pausing_removes_the_shown_suggestion(editor: Editor):
    editor.type("ix = ")
    editor.shows("compute(total, 2)")

    editor.lua("require('lsp_harness').pause()")

    assert editor.ghost == []
    assert editor.lua("return require('lsp_harness').paused()") is True


def test_restart_brings_another_server(editor: Editor):
    editor.lua("_G.first = vim.lsp.get_clients()[1].id")

    editor.nvim.command("LspHarness restart")

    editor.until("vim.lsp.get_client_by_id(first) == nil")
    editor.until("require('lsp_harness.server').client(0) ~= nil")
    editor.type("ix = ")
    editor.shows("compute(total, 2)")


def test_log_opens_the_log(editor: Editor):
    editor.nvim.command("LspHarness log")

    assert editor.nvim.current.buffer.name == editor.lua("return vim.lsp.log.get_filename()")


def test_the_command_completes_its_own_subcommands(editor: Editor):
    def completed(line: str) -> list[str]:
        return editor.nvim.funcs.getcompletion(f"LspHarness {line}", "cmdline")

    own = editor.lua("return vim.tbl_keys(require('lsp_harness.command').commands)")
    names = completed("")
    assert names == sorted(names)
    assert set(own) <= set(names)
    assert completed("re") == ["restart", "resume"]
    assert completed("pause ") == ["everywhere", "here"]
    assert completed("engine r") == ["restart"]


@pytest.mark.parametrize("what", ["nonsense", "engine", "engine stop", "pause there", "fix this"])
def test_an_unknown_subcommand_is_an_error(editor: Editor, what: str):
    with pytest.raises(NvimError, match=f"there is no :LspHarness {what}"):
        editor.nvim.command(f"LspHarness {what}")


def test_health_reports_no_errors_in_a_complete_installation(editor: Editor):
    editor.nvim.command("checkhealth lsp_harness")

    report = editor.buffer
    assert [line for line in report if "ERROR" in line or "WARNING" in line] == []
    assert any("ghost text is drawn by this plugin" in line for line in report)
    assert any("Python 3" in line for line in report), "what --version of the command said"
    assert any("is attached to 1 buffer(s)" in line for line in report)
    assert any("version: fake" in line for line in report)


def test_health_says_what_to_do_without_the_command(start: Start):
    editor = start(["lsp-harness-is-not-here", "serve"])

    editor.nvim.command("checkhealth lsp_harness")

    report = "\n".join(editor.buffer)
    assert "ERROR lsp-harness-is-not-here is not executable" in report
    assert "vim.lsp.config('lsp_harness', { cmd =" in report
    assert "WARNING No client is running" in report


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("{ debounce = 5 }", 'there is no option "debounce"'),
        ("{ debounce_ms = 'soon' }", "debounce_ms"),
        ("{ preview = 'popup' }", "preview"),
        ("{ trusted = 'yes' }", "trusted"),
        ("{ keymap = { take = '<C-x>' } }", 'there is no function "take"'),
    ],
)
def test_unknown_options_are_refused(start: Start, options: str, complaint: str):
    with pytest.raises(NvimError, match=complaint):
        start().lua(f"require('lsp_harness').setup({options})")


def test_only_the_requested_keys_are_mapped(start: Start):
    editor = start()
    editor.lua("""
        function _G.maps()
          return vim.iter(vim.api.nvim_get_keymap('i')):fold({}, function(all, map)
            all[map.lhs] = map.desc or map.rhs
            return all
          end)
        end
    """)
    ours = {
        "<Tab>": "lsp-harness: accept",
        "<C-Right>": "lsp-harness: accept word",
        "<C-Down>": "lsp-harness: accept line",
        "<C-]>": "lsp-harness: dismiss",
        "<M-]>": "lsp-harness: next",
        "<M-[>": "lsp-harness: previous",
        "<M-s>": "lsp-harness: suggest",
    }
    maps = editor.lua("return maps()")
    assert maps == maps | ours

    editor.lua("for key in pairs(...) do vim.keymap.del('i', key) end require('lsp_harness').setup()", ours)

    assert editor.lua("return maps()") == {key: maps[key] for key in maps.keys() - ours.keys()}


@pytest.fixture
def help_manual(start: Start, tmp_path: Path) -> tuple[Editor, Path]:
    """A copy of the help with tags, which are not in the repository."""
    editor = start()
    folder = tmp_path / "manual"
    shutil.copytree(PLUGIN / "doc", folder / "doc")
    editor.lua("vim.opt.runtimepath:prepend(...) vim.cmd.helptags(... .. '/doc')", str(folder))
    return editor, folder / "doc/lsp_harness.txt"


def test_the_help_can_be_found(help_manual: tuple[Editor, Path]):
    editor, page = help_manual
    for subject in ("lsp_harness", ":LspHarness", "lsp_harness.setup()", "lsp_harness.accept()", "hl-LspHarnessGhost"):
        editor.nvim.command(f"help {subject}")
        assert editor.nvim.current.buffer.name == str(page)
        assert f"*{subject}*" in editor.nvim.current.line


def test_the_help_describes_every_function_and_option(help_manual: tuple[Editor, Path]):
    editor, page = help_manual
    text = page.read_text()
    functions = editor.lua("return vim.tbl_keys(require('lsp_harness'))")
    internal = {"load", "map", "native"}
    assert [name for name in functions if name not in internal and f"*lsp_harness.{name}()*" not in text] == []
    commands = editor.lua("return vim.tbl_keys(require('lsp_harness.command').commands)")
    assert [name for name in commands if f"LspHarness {name}" not in text] == []


def test_the_defaults_the_help_shows_are_the_defaults(help_manual: tuple[Editor, Path]):
    editor, page = help_manual
    shown = page.read_text().partition("The defaults: >lua\n")[2].partition("\n<")[0]
    editor.lua("require('lsp_harness.config').set()")

    same = "for k, v in pairs(loadstring('return ' .. ...)()) do assert(require('lsp_harness.config')[k] == v, k) end"
    editor.lua(same, shown)
    options = editor.lua("return vim.tbl_keys(require('lsp_harness.config'))")
    assert [name for name in options if name != "set" and f"      {name} = " not in shown] == []


def test_every_link_of_the_help_leads_somewhere(help_manual: tuple[Editor, Path]):
    editor, page = help_manual
    links = set(re.findall(r"\|([^|\s]+)\|", page.read_text())) - {"here", "edit"}
    lost = []
    for link in sorted(links):
        try:
            editor.nvim.command(f"help {link}")
        except NvimError:
            lost.append(link)
    # Neovim 0.12 has these functions
    assert [link for link in lost if not link.startswith("vim.lsp.inline_completion")] == []
