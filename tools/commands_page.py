"""Generator of `docs/commands.md`: `python -m tools.commands_page`.

The page lists the commands of the table, with the summaries of their subcommands.
"""

import sys
from collections.abc import Iterator

import cyclopts

from lsp_harness.cli.command_table import GROUPS, Command, CommandGroups, app

PAGE_HEAD = """# Commands

Generated from `lsp_harness/cli/command_table.py` by `make docs`; do not edit.

`lsp-harness help COMMAND` shows the options of a command. Most commands print JSON with `--json`.
"""


def render(groups: CommandGroups = GROUPS, program: cyclopts.App = app) -> str:
    """Return the page of these commands, which belong to `program`, as Markdown."""
    parts = [PAGE_HEAD]
    for title, commands in groups.items():
        parts.append(f"\n## {title}\n\n| command | what it does |\n| --- | --- |\n")
        for command in commands:
            parts += (f"| `lsp-harness {usage}` | {summary} |\n" for usage, summary in list_rows(command, program))
    return "".join(parts)


def list_rows(command: Command, program: cyclopts.App) -> Iterator[tuple[str, str]]:
    """Return the usage and the summary of a command, or of each of its subcommands."""
    if not command.has_subcommands:
        yield f"{command.name} {command.arguments}".rstrip(), command.summary
        return
    group = program[command.name]
    for name in group:
        if not name.startswith("-"):
            yield f"{command.name} {name}", group[name].help.splitlines()[0]


if __name__ == "__main__":
    sys.stdout.write(render())
