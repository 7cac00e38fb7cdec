"""Commands that run sessions with a scripted model."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.conftest import Shell, shell

__all__ = ["shell"]

Script = Callable[..., str]


def make_tool_call(name: str, /, **arguments: Any) -> dict[str, Any]:
    """Return a reply that calls a tool."""
    return {"text": f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"}


@pytest.fixture
def script(shell: Shell) -> Script:
    """Return a function that writes replies, texts or objects, and returns the provider that plays them."""

    def write(*replies: str | dict[str, Any]) -> str:
        objects = [{"text": reply} if isinstance(reply, str) else reply for reply in replies]
        return f"scripted:{shell.file('replies.json', json.dumps(objects))}"

    return write
