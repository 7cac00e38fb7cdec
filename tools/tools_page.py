"""Generator of `docs/tools.md`: `python -m tools.tools_page`."""

import sys
from typing import Any, cast

from lsp_harness.chat.shown_tools import FindTool
from lsp_harness.chat.tool import Tool
from lsp_harness.chat.tools.tool_environment import ToolEnvironment
from lsp_harness.chat.tools.tool_registry import create_tools
from lsp_harness.files.private_files import PrivateFiles

PAGE_HEAD = """# Tools

Generated from the classes in `lsp_harness/chat/tools/tool_registry.py` by `make docs`; do not edit.

A model may call these tools in a conversation. The permission gate decides about each call before it runs: by the kind
of what it does, by its paths, and by its command. Paths are relative to the workspace; files outside of it, ignored
files and files for secrets can neither be read nor changed. Tools that search folders leave out the files that the
rules of the session forbid to read, and say how many these are. An edit is checked before it is written: one that adds
a syntax error is refused, and so is one with new findings of another check, such as the linter, unless the call has
`"accept_findings": true`. A person who is asked about an edit sees the findings with it, and may apply it nevertheless.

The symbol tools ask the [index](code-index.md) of the folder. The first question opens it and waits up to 60 seconds
until it is complete; then it answers with what there is, and says so. Files that tools change are read again before the
next question. With `index.enabled = false`, the texts of the files are searched.

In an editor, a text that is not saved counts instead of its file. The editor is asked to make an edit of it, so the
user can undo and save it there. If the editor cannot do that, the edit is refused.

All tools with their JSON schemas are 2,200 tokens. If they need more than an eighth of the window of the model, which
is so for a window of 8,192 tokens, the prompt has one line for each tool (370 tokens), and the rarely used ones stand
in the description of `find_tool` only by their names. They can be called all the same, and `find_tool` shows their
arguments. With a list of allowed tools, all listed ones have a line.

| tool | kind | description | arguments |
| --- | --- | --- | --- |
"""


class _Absent:
    """Tasks and artifacts that are never asked."""


def render() -> str:
    """Return the page as Markdown."""
    absent = cast("Any", _Absent())
    tools = create_tools(ToolEnvironment((), PrivateFiles(), tasks=absent, artifacts=absent))
    return "".join([PAGE_HEAD, *map(_format_row, [*tools.values(), FindTool(tools)])])


def _format_row(tool: Tool) -> str:
    properties = cast("dict[str, Any]", tool.schema["properties"])
    arguments = ", ".join(
        f"`{name}`" if name in tool.schema["required"] else f"`{name}` (optional)" for name in properties
    )
    return f"| `{tool.name}` | {tool.action({}).kind} | {tool.description} | {arguments} |\n"


if __name__ == "__main__":
    sys.stdout.write(render())
