"""The table of commands, and the help and the page that are made from it."""

import importlib
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import cyclopts
import pytest

from lsp_harness.cli.command_table import GROUPS, Command, app, make_app
from tests.cli.conftest import Shell
from tools import commands_page

COMMANDS = [command for commands in GROUPS.values() for command in commands]


def load_target(command: Command) -> Any:
    """Return the function or the app of a command."""
    module, _, name = command.target.partition(":")
    return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_the_summary_of_a_command_is_the_first_line_of_its_docstring(command: Command) -> None:
    function_or_app = load_target(command)
    help_text = function_or_app.help if isinstance(function_or_app, cyclopts.App) else function_or_app.__doc__
    assert help_text.splitlines()[0] == command.summary
    assert command.summary.endswith(".")
    assert len(command.summary) < 80


def test_the_help_lists_every_command_in_the_order_of_the_groups(shell: Shell) -> None:
    result = shell.run("--help")
    text = " ".join(result.out.replace("│", " ").split())
    assert result.code == 0
    for command in COMMANDS:
        assert f" {command.name} {command.summary} " in f"{text} "
    places = [result.out.index(f" {title} ") for title in GROUPS]
    assert places == sorted(places)


def test_subcommands_have_a_line_as_well() -> None:
    for command in COMMANDS:
        if command.has_subcommands:
            group = load_target(command)
            assert all(group[name].help for name in group if not name.startswith("-")), command.name


@pytest.mark.parametrize(
    ("words", "flags"),
    [
        (["help"], ["--help"]),
        (["help"], ["-h"]),
        (["help", "fix"], ["fix", "--help"]),
        (["help", "fix"], ["fix", "-h"]),
        (["help", "engine", "stop"], ["engine", "stop", "-h"]),
    ],
)
def test_help_is_a_command_and_a_flag(shell: Shell, words: list[str], flags: list[str]) -> None:
    text = shell.run(*words)
    assert (text.code, text.err) == (0, "")
    assert "Usage: lsp-harness" in text.out
    assert text == shell.run(*flags)


def test_the_usage_of_a_command_shows_its_arguments(shell: Shell) -> None:
    text = shell.run("help", "complete").out
    assert "Usage: lsp-harness complete [OPTIONS] FILE:LINE:COL" in text
    assert "Example: lsp-harness complete geo.py:6:12" in text


def test_examples_are_arguments_that_their_commands_take() -> None:
    import shlex

    for command in COMMANDS:
        if command.example:
            bound = app.parse_args(shlex.split(command.example), print_error=False, exit_on_error=False)
            assert bound[0] is load_target(command)


def test_the_list_imports_no_command() -> None:
    code = (
        "import sys\nfrom lsp_harness.cli.command_table import app\napp.help_print([])\n"
        "print([name for name in sys.modules if name.startswith(('lsp_harness.harness', 'lsp_harness.cli.'))])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "['lsp_harness.cli.command_table']"


def test_a_row_of_the_table_is_a_command_with_help_and_a_line_on_the_page(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = types.ModuleType("lsp_harness.cli.commands.greet_cli")

    def greet(name: str) -> int:
        """Greet someone."""
        print(f"hello {name}")
        return 0

    module.greet = greet  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    groups = {"Extra": (Command("greet", "Greet someone.", "NAME", "greet you"),)}
    program = make_app(groups)
    program.help_print([])
    assert "Greet someone." in capsys.readouterr().out
    assert program(["greet", "you"], result_action="return_int_as_exit_code_else_zero") == 0
    assert capsys.readouterr().out == "hello you\n"
    program.help_print(["greet"])
    assert "Usage: lsp-harness greet [OPTIONS] NAME" in capsys.readouterr().out
    assert "## Extra\n" in commands_page.render(groups, program)
    assert "| `lsp-harness greet NAME` | Greet someone. |\n" in commands_page.render(groups, program)


def test_the_page_of_commands_is_generated() -> None:
    page = Path(__file__).parent.parent.parent / "docs" / "commands.md"
    assert page.read_text() == commands_page.render(), "run `make docs`"


def test_the_help_of_code_says_what_to_type_and_leaves_out_the_options_of_programs(shell: Shell) -> None:
    text = shell.run("help", "code").out
    assert "rename the parameter row of flatten to item" in text
    assert "/undo" in text
    for option in ("--ask-permissions", "--client-hooks", "--driver", "For programs", "[default: False]"):
        assert option not in text
    assert "--client-hooks" in shell.run("help", "session").out


def test_the_short_option_prints_the_version_as_well(shell: Shell) -> None:
    assert shell.run("-V") == shell.run("--version")
    assert shell.run("-V").code == 0
