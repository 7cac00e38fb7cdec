"""Generator of the tables in `docs/sessions.md`: `python -m tools.sessions_page FILE`.

The rest of the page is written by hand.
"""

import re
import sys
from pathlib import Path
from typing import Any

from lsp_harness.sessions.agent_presets import PRESETS
from lsp_harness.sessions.session_commands import COMMANDS


def render_commands() -> str:
    """Return the table of the commands that a client may send."""
    rows = [("command", "what it does"), ("---", "---")]
    rows += [(f"`{name}`", _first_line(run)) for name, run in COMMANDS.items()]
    rows.append(("`exit`", "End the session."))
    return _format_table(rows)


def render_presets() -> str:
    """Return the table of the presets of subagents."""
    rows = [("preset", "what it does", "tools", "steps"), ("---", "---", "---", "---")]
    rows += [
        (f"`{item.name}`", item.purpose, _format_code(item.tools), str(item.max_steps)) for item in PRESETS.values()
    ]
    return _format_table(rows)


def render(page: str) -> str:
    """Return the page with new tables between its marks."""
    tables = {"commands": render_commands(), "presets": render_presets()}
    for name, text in tables.items():
        mark = rf"(<!-- {name} -->\n)(?:(?!<!--).)*(<!-- end -->)"
        page = re.sub(mark, lambda match, text=text: f"{match[1]}{text}\n{match[2]}", page, flags=re.DOTALL)
    return page


def _first_line(function: Any) -> str:
    return " ".join((function.__doc__ or "").split())


def _format_code(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _format_table(rows: list[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(render(file.read_text(encoding="utf-8")), encoding="utf-8")
