"""The JSON schema of all events, made from their classes.

An event of a later version may have more fields, and fields without a value are left out. So the schema requires only
what every writer writes.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from inspect import cleandoc
from types import NoneType, UnionType
from typing import Any, cast, get_args, get_origin, get_type_hints

from lsp_harness.events.event_codec import EVENT_CLASSES
from lsp_harness.events.event_type import UNSAVED
from lsp_harness.text.json_reader import key_of
from lsp_harness.wire.event import EVENT_VERSION

Schema = dict[str, Any]
SCALARS: dict[Any, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
}
ENVELOPE: dict[str, Schema] = {
    "v": {"const": EVENT_VERSION, "description": "The version of this form."},
    "id": {"type": "string", "description": "The id of the event, a ULID."},
    "seq": {"type": "integer", "minimum": 0, "description": "The number of the event in its session, without gaps."},
    "ts": {"type": "string", "description": "The time in UTC, ISO 8601."},
    "session_id": {"type": "string", "description": "The session."},
    "turn": {"type": ["integer", "null"], "description": "The turn, from 0, or null outside of turns."},
    "step": {"type": ["string", "null"], "description": "The state or the step of the turn."},
    "cause": {"type": ["string", "null"], "description": "The id of the event that began the turn."},
}
"""The members of every event, besides `type` and `data`."""


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field of an event.

    Attributes:
        key: Its key in the log.
        schema: The JSON schema of the field.
        is_required: Whether every such event has it.
        meaning: What it means, if the class says so.
    """

    key: str
    schema: Schema
    is_required: bool
    meaning: str


def build_schema() -> Schema:
    """Return the JSON schema of one line of a log."""
    definitions: Schema = {}
    branches: list[Schema] = []
    for type, cls in sorted(EVENT_CLASSES.items()):
        definitions[type] = _object_schema(cls)
        data = {"$ref": f"#/$defs/{type}"}
        branches.append({"properties": {"type": {"const": type}, "data": data}})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Event of a session of lsp-harness",
        "description": "One line of events.jsonl. Readers ignore types and fields that they do not know.",
        "type": "object",
        "properties": {**ENVELOPE, "type": {"type": "string"}, "data": {"type": "object"}},
        "required": [*ENVELOPE, "type", "data"],
        "anyOf": [*branches, {"properties": {"type": {"not": {"enum": sorted(EVENT_CLASSES)}}}}],
        "$defs": definitions,
    }


def list_field_rows(cls: type[Any]) -> list[FieldRow]:
    """Return the fields of an event class that the log has, in their order."""
    hints, meanings = get_type_hints(cls), _read_meanings(cls)
    rows: list[FieldRow] = []
    for item in fields(cls):
        if UNSAVED in item.metadata:
            continue
        schema = _type_schema(hints[item.name])
        is_required = _has_no_default(item) and NoneType not in get_args(hints[item.name])
        rows.append(FieldRow(key_of(item), schema, is_required, meanings.get(item.name, "")))
    return rows


def describe_class(cls: type[Any]) -> str:
    """Return the sentences that say what an event means, without the list of its fields."""
    return " ".join(cleandoc(cls.__doc__ or "").partition("\nAttributes:")[0].split())


def _has_no_default(item: "Field[Any]") -> bool:
    return item.default is MISSING and item.default_factory is MISSING


def _object_schema(cls: type[Any]) -> Schema:
    rows = list_field_rows(cls)
    properties = {
        row.key: row.schema | ({"description": row.meaning} if row.meaning and "$ref" not in row.schema else {})
        for row in rows
    }
    required = [row.key for row in rows if row.is_required]
    return {"description": describe_class(cls), "type": "object", "properties": properties, "required": required}


def _type_schema(kind: Any) -> Schema:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is UnionType or (origin and NoneType in arguments):
        # a field without a value is left out, and not written as null
        return _type_schema(next(argument for argument in arguments if argument is not NoneType))
    if origin is tuple:
        return {"type": "array", "items": _type_schema(arguments[0])}
    if origin in (dict, Mapping):
        # the keys of an object are texts, also those that are numbers in the program
        return {"type": "object", "additionalProperties": _type_schema(arguments[1])}
    if is_dataclass(kind):
        return _object_schema(cast("type[Any]", kind))
    return SCALARS.get(kind, {})


def _read_meanings(cls: type[Any]) -> dict[str, str]:
    """Return the meaning of each field, as the docstring of its class lists them."""
    listed = cleandoc(cls.__doc__ or "").partition("\nAttributes:")[2]
    pairs = re.findall(r"^ {4}(\w+): (.*(?:\n {6,}.*)*)", listed, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in pairs}


def render() -> str:
    """Return the schema as JSON."""
    return f"{json.dumps(build_schema(), ensure_ascii=False, indent=1)}\n"
