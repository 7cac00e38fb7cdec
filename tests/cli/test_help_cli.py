"""`--help`, `help` and `-h`: each command has a line there, and the line is that of its docstring."""

import importlib
import subprocess
import sys
from typing import Any

import cyclopts
import pytest

from lsp_harness.cli.command_table import GROUPS, Command, app
from tests.cli.conftest import Shell

COMMANDS = [command for commands in GROUPS.values() for command in commands]


def target(command: Command) -> Any:
    module, _, name = command.target.partition(":")
    return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_the_line_of_a_command_is_the_first_of_its_docstring(command: Command) -> None:
    found = target(command)
    said = found.help if isinstance(found, cyclopts.App) else found.__doc__
    assert said.splitlines()[0] == command.summary
    assert command.summary.endswith(".")
    assert len(command.summary) < 80


def test_every_command_is_listed_with_its_line_in_the_order_of_the_groups(shell: Shell) -> None:
    listed = shell.run("--help")
    words = " ".join(listed.out.replace("│", " ").split())
    assert listed.code == 0
    for command in COMMANDS:
        assert f" {command.name} {command.summary} " in f"{words} "
    places = [listed.out.index(f" {title} ") for title in GROUPS]
    assert places == sorted(places)


def test_subcommands_have_a_line_as_well() -> None:
    for command in COMMANDS:
        found = target(command)
        if isinstance(found, cyclopts.App):
            assert all(found[name].help for name in found if not name.startswith("-")), command.name


@pytest.mark.parametrize(
    ("spoken", "flag"),
    [
        (["help"], ["--help"]),
        (["help"], ["-h"]),
        (["help", "fix"], ["fix", "--help"]),
        (["help", "fix"], ["fix", "-h"]),
        (["help", "engine", "stop"], ["engine", "stop", "-h"]),
        (["help"], []),
    ],
)
def test_help_is_a_command_and_a_flag(shell: Shell, spoken: list[str], flag: list[str]) -> None:
    shown = shell.run(*spoken)
    assert (shown.code, shown.err) == (0, "")
    assert "Usage: lsp-harness" in shown.out
    assert shown == shell.run(*flag)


def test_the_usage_of_a_command_shows_the_form_of_its_arguments(shell: Shell) -> None:
    shown = shell.run("help", "complete").out
    assert "Usage: lsp-harness complete [OPTIONS] FILE:LINE:COL" in shown
    assert "Example: lsp-harness complete geo.py:6:12" in shown


def test_examples_are_arguments_that_their_commands_take() -> None:
    import shlex

    for command in COMMANDS:
        if command.example:
            bound = app.parse_args(shlex.split(command.example), print_error=False, exit_on_error=False)
            assert bound[0] is target(command)


def test_the_list_imports_no_command() -> None:
    code = (
        "import sys\nfrom lsp_harness.cli.command_table import app\napp.help_print([])\n"
        "print([name for name in sys.modules if name.startswith(('lsp_harness.harness', 'lsp_harness.cli.'))])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "['lsp_harness.cli.command_table']"
