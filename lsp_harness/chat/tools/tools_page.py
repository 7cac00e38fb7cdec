"""Generator of `docs/tools.md`: `python -m lsp_harness.chat.tools.tools_page`."""

import sys
from typing import Any, cast

from lsp_harness.chat.tool import Tool
from lsp_harness.chat.tools.tool_environment import ToolEnvironment
from lsp_harness.chat.tools.tool_registry import create_tools
from lsp_harness.files.private_files import PrivateFiles

PAGE_HEAD = """# Tools

Generated from the classes in `lsp_harness/chat/tools/tool_registry.py` by `make docs`; do not edit.

A model may call these tools in a conversation. The permission gate decides about each call before it runs: by the kind
of what it does, by its paths, and by its command. Paths are relative to the workspace; files outside of it, ignored
files and files for secrets can neither be read nor changed. An edit is checked before it is written: one that adds a
syntax error is refused, and new findings of the linter are part of the result.

| tool | kind | description | arguments |
| --- | --- | --- | --- |
"""


class _Absent:
    """Tasks and artifacts that are never asked."""


def render() -> str:
    """Return the page as Markdown."""
    absent = cast("Any", _Absent())
    environment = ToolEnvironment((), PrivateFiles(), tasks=absent, artifacts=absent)
    return "".join([PAGE_HEAD, *(_row(tool) for tool in create_tools(environment).values())])


def _row(tool: Tool) -> str:
    properties = cast("dict[str, Any]", tool.schema["properties"])
    arguments = ", ".join(
        f"`{name}`" if name in tool.schema["required"] else f"`{name}` (optional)" for name in properties
    )
    return f"| `{tool.name}` | {tool.action({}).kind} | {tool.description} | {arguments} |\n"


if __name__ == "__main__":
    sys.stdout.write(render())
