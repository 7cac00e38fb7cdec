"""Generator of `docs/events.md`: `python -m tools.events_page`."""

import sys
from typing import Any

from lsp_harness.events.event_codec import EVENT_CLASSES, FRAMES
from lsp_harness.events.event_schema import ENVELOPE, FieldRow, Schema, describe_class, list_field_rows
from lsp_harness.wire.client_event_codec import ENVELOPE as FRAME_ENVELOPE
from lsp_harness.wire.client_event_codec import EVENT_CLASSES as CLIENT_CLASSES
from lsp_harness.wire.client_event_codec import TYPE_ALIASES
from lsp_harness.wire.event import Event

PAGE_HEAD = """# Events

Generated from the classes in `lsp_harness/events` and `lsp_harness/wire/client_events.py` by `make docs`; do not edit.

The log of a session has one event in each line of `events.jsonl`, as JSON. `lsp-harness schema` prints the JSON schema
of a line. [sessions.md](sessions.md) says what a session is.

Every event has these members, and its `type` says what is in `data`:

| member | meaning |
| --- | --- |
"""
TYPES_HEAD = """
A field with a question mark may be absent.

| type | meaning | fields |
| --- | --- | --- |
"""
FRAMES_HEAD = """
## What clients receive

A client of a session receives events as these objects, its frames ([sessions.md](sessions.md#for-programs)); a Python
program has a class for each of them ([sdk.md](sdk.md#events)). All have `session_id`, `seq` (the number of the event,
or null if it is not saved) and `turn`, and those of a prompt have its `id`.

| object | class | meaning | members | made from |
| --- | --- | --- | --- | --- |
"""


def render() -> str:
    """Return the page as Markdown."""
    envelope = "".join(f"| `{key}` | {schema['description']} |\n" for key, schema in ENVELOPE.items())
    rows = "".join(_format_row(type, cls) for type, cls in sorted(EVENT_CLASSES.items()))
    sources = _frame_sources()
    frames = "".join(_frame_row(type, sources.get(type, {})) for type in sorted({*sources, *CLIENT_CLASSES}))
    return f"{PAGE_HEAD}{envelope}{TYPES_HEAD}{rows}{FRAMES_HEAD}{frames}"


def _format_row(type: str, cls: type[Any]) -> str:
    parts = [_describe(row) for row in list_field_rows(cls)]
    return f"| `{type}` | {describe_class(cls)} | {_list(parts)} |\n".replace("\n |", " |")


def _frame_sources() -> dict[str, dict[str, list[str]]]:
    """Return for each type of frame the types of events that it is made from, with the members of each."""
    sources: dict[str, dict[str, list[str]]] = {}
    for type, encode in sorted(FRAMES.items()):
        frame = encode({}, Event("", 0, "", "", None, None, None, ""))
        name = str(frame.pop("type"))
        sources.setdefault(name, {})[type] = list(frame)
    return sources


def _frame_row(type: str, sources: dict[str, list[str]]) -> str:
    cls = CLIENT_CLASSES.get(type)
    # the class of a frame with `details` has there whatever it has no field for
    rows = [row for row in list_field_rows(cls) if row.key not in {*FRAME_ENVELOPE, "details"}] if cls else []
    known = {row.key for row in rows}
    others = dict.fromkeys(key for keys in sources.values() for key in keys if key not in known)
    names = [type, *(alias for alias, name in TYPE_ALIASES.items() if name == type)]
    cells = [
        _format_code(names),
        f"`{cls.__name__}`" if cls else "–",
        describe_class(cls) if cls else "",
        _list([*(_describe(row, mark="") for row in rows), *map(_quote, others)]),
        _format_code(sources),
    ]
    return f"| {' | '.join(cells)} |\n"


def _describe(row: FieldRow, mark: str = "?") -> str:
    meaning = f": {row.meaning}" if row.meaning else ""
    return f"`{row.key}`{'' if row.is_required else mark} ({_name(row.schema)}){meaning}"


def _list(parts: list[str]) -> str:
    return "<br>".join(parts) or "–"


def _format_code(names: Any) -> str:
    return ", ".join(map(_quote, names))


def _quote(name: str) -> str:
    return f"`{name}`"


def _name(schema: Schema) -> str:
    kind = schema.get("type", "any")
    return f"list of {_name(schema['items'])}" if kind == "array" else str(kind)


if __name__ == "__main__":
    sys.stdout.write(render())
