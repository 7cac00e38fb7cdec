"""The tools as a model sees them. A tool of another program has a short name there, if no other tool has it.

A small model invents names that look like `mcp__server__tool`. So it sees `tool`, and the log has the whole name.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lsp_harness.chat.tool import Tool

FOREIGN_PREFIX = "mcp__"


@dataclass(frozen=True, slots=True)
class ShownTool:
    """The part of a tool that a model sees."""

    name: str
    description: str
    schema: Mapping[str, Any]


def shorten_names(names: Iterable[str]) -> dict[str, str]:
    """Return the name of each tool → the name that the model sees."""
    short = {name: name.split("__", 2)[2] if _is_foreign(name) else name for name in names}
    counts = Counter(short.values())
    return {name: shown if counts[shown] == 1 else name for name, shown in short.items()}


def show_tools(tools: Mapping[str, Tool]) -> dict[str, ShownTool]:
    """Return the tools that a model sees, by the names that it sees."""
    shown = shorten_names(tools)
    return {shown[name]: ShownTool(shown[name], tool.description, tool.schema) for name, tool in tools.items()}


def _is_foreign(name: str) -> bool:
    return name.startswith(FOREIGN_PREFIX) and name.count("__") >= 2 and bool(name.split("__", 2)[2])
