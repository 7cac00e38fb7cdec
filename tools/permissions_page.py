"""Generator of the tables in `docs/permissions.md`: `python -m tools.permissions_page FILE`.

The rest of the page is written by hand.
"""

import re
import sys
from pathlib import Path

from lsp_harness.permission.hooks import HOOK_EVENTS
from lsp_harness.permission.mode_table import CLASSES, MODE_TABLE, ActionClass

CLASS_TITLES: dict[ActionClass, str] = {
    "low": "reading in the workspace",
    "outside": "reading elsewhere",
    "edit": "edit",
    "confined": "check in a sandbox",
    "command": "command",
    "dangerous": "dangerous command",
    "opaque": "command that cannot be seen",
    "network": "network",
    "agent": "subagent",
}


def render_modes() -> str:
    """Return the table of the modes as Markdown."""
    head = ["mode", *(CLASS_TITLES[name] for name in CLASSES), "meaning"]
    rows = [[f"`{mode}`", *(row.verdicts[name] for name in CLASSES), row.meaning] for mode, row in MODE_TABLE.items()]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, ["---"] * len(head), *rows])


def render_hooks() -> str:
    """Return the list of the events of hooks as Markdown."""
    blocking = ", ".join(f"`{name}`" for name, can_block in HOOK_EVENTS.items() if can_block)
    telling = ", ".join(f"`{name}`" for name, can_block in HOOK_EVENTS.items() if not can_block)
    return f"- can deny: {blocking}\n- are only told: {telling}"


def render(page: str) -> str:
    """Return the page with new tables between its marks."""
    for name, text in {"modes": render_modes(), "hooks": render_hooks()}.items():
        mark = rf"(<!-- {name} -->\n)(?:(?!<!--).)*(<!-- end -->)"
        page = re.sub(mark, lambda match, text=text: f"{match[1]}{text}\n{match[2]}", page, flags=re.DOTALL)
    return page


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(render(file.read_text(encoding="utf-8")), encoding="utf-8")
