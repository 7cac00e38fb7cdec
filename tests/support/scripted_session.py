"""Replies of a scripted model for sessions: texts, and calls of tools in the text protocol."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Reply = Mapping[str, Any] | str


def call_text(tool: str, **input: Any) -> str:
    """Return the text in which a model calls a tool."""
    return f"<tool_call>\n{json.dumps({'name': tool, 'arguments': input})}\n</tool_call>"


def write_script(folder: Path, *replies: Reply) -> str:
    """Write the replies of a model, and return the provider that plays them."""
    objects = [{"text": reply} if isinstance(reply, str) else dict(reply) for reply in replies]
    path = folder / f"script-{len(list(folder.glob('script-*.json')))}.json"
    path.write_text(json.dumps(objects), encoding="utf-8")
    return f"scripted:{path}"
