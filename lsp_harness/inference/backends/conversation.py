"""A conversation on its way to a server that makes the real prompt itself: the messages, marked, in place of a prompt."""

import json
from collections.abc import Sequence

from lsp_harness.inference.backends.backend import Json

MARK = "\x02messages\x03"


def to_prompt(messages: Sequence[tuple[str, str]]) -> str:
    """What stands for a conversation of (role, content) where a prompt is expected."""
    return MARK + json.dumps([{"role": role, "content": content} for role, content in messages])


def of_prompt(prompt: object) -> list[Json] | None:
    """The messages again; None for a prompt that is no conversation."""
    if isinstance(prompt, str) and prompt.startswith(MARK):
        return json.loads(prompt.removeprefix(MARK))
    return None
