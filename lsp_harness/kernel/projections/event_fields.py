"""Fields of events that several projections read."""

from lsp_harness.wire.event import Event

CODE_KINDS = frozenset({"fix", "edit", "docstring", "tests", "explain", "check"})
"""Kinds of requests that do not belong to a conversation: they have prompts of their own."""


def text_field(event: Event, key: str) -> str:
    """Return a field of an event that is a text. It is empty if the field is absent or no text."""
    value = event.data.get(key)
    return value if isinstance(value, str) else ""
