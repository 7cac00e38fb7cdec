"""Generator of `docs/events.md`: `python -m tools.events_page`."""

import sys
from typing import Any

from lsp_harness.events.event_schema import ENVELOPE, FieldRow, Schema, describe_class, field_rows
from lsp_harness.events.event_types import EVENT_CLASSES

PAGE_HEAD = """# Events

Generated from the classes in `lsp_harness/events` by `make docs`; do not edit.

The log of a session has one event in each line of `events.jsonl`, as JSON. [events.schema.json](events.schema.json) is
the schema of a line; `lsp-harness schema` prints it. [sessions.md](sessions.md) says what a session is.

Every event has these members, and its `type` says what is in `data`:

| member | meaning |
| --- | --- |
"""
TYPES_HEAD = """
A field with a question mark may be absent.

| type | meaning | fields |
| --- | --- | --- |
"""


def render() -> str:
    """Return the page as Markdown."""
    envelope = "".join(f"| `{key}` | {schema['description']} |\n" for key, schema in ENVELOPE.items())
    rows = "".join(_row(type, cls) for type, cls in sorted(EVENT_CLASSES.items()))
    return f"{PAGE_HEAD}{envelope}{TYPES_HEAD}{rows}"


def _row(type: str, cls: type[Any]) -> str:
    parts = [_describe(row) for row in field_rows(cls)]
    return f"| `{type}` | {describe_class(cls)} | {'<br>'.join(parts) or '–'} |\n".replace("\n |", " |")


def _describe(row: FieldRow) -> str:
    mark = "" if row.is_required else "?"
    meaning = f": {row.meaning}" if row.meaning else ""
    return f"`{row.key}`{mark} ({_name(row.schema)}){meaning}"


def _name(schema: Schema) -> str:
    kind = schema.get("type", "any")
    return f"list of {_name(schema['items'])}" if kind == "array" else str(kind)


if __name__ == "__main__":
    sys.stdout.write(render())
