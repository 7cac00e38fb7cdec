"""Generator of the table of commands in `docs/lsp-extensions.md`."""

import re
from collections.abc import Sequence

from lsp_harness.server.commands.command_registry import EditorCommand

BEGIN = "<!-- This table is generated from lsp_harness/server/commands by `make docs`; do not edit. -->"
END = "<!-- The end of the generated table. -->"
HEAD = "| command | arguments | meaning | result |\n| --- | --- | --- | --- |\n"


def render(page: str, commands: Sequence[EditorCommand]) -> str:
    """Return the page with the table of these commands. The text around the table does not change."""
    rows = (
        f"| `{command.name}` | `{command.arguments}` | {command.description} | {command.result} |\n"
        for command in commands
    )
    table = f"{BEGIN}\n\n{HEAD}{''.join(rows)}\n{END}"
    return re.sub(rf"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: table, page, count=1, flags=re.DOTALL)
