"""Values of settings: their types, and lists of texts and of tables."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from lsp_harness.config.schema import Kind, find_item_type, list_item_keys
from lsp_harness.text.json_reader import JsonReader

READER = JsonReader()

TYPE_NAMES: Mapping[Any, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
"""Type of a value → its name in messages."""

WORDS: Mapping[str, tuple[str, ...]] = {
    "verification.type_check": ("off", "on", "auto", "names"),
    "verification.diff_review": ("off", "report", "veto"),
}
"""Setting that once was true or false → its words: the one for false, the one for true, and others."""
BOOLEANS: Mapping[str, bool] = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


@dataclass(frozen=True, slots=True)
class Wanted:
    """A list that the schema knows, and the place of a value for it.

    Attributes:
        name: The name of the setting.
        kind: The type of the value.
        file: The file of the value.
        line: The line of the value, from 0.
        text: The text of the file.
    """

    name: str
    kind: Kind
    file: Path | None = None
    line: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class Mistake:
    """An item of a list that is not valid. `line` is zero-based."""

    message: str
    line: int


def type_name(kind: Kind) -> str:
    """Return the name of a type for messages."""
    item = find_item_type(kind)
    return TYPE_NAMES[kind] if item is None else "a list of texts" if item is str else "a list of tables"


def convert_value(kind: Kind, value: Any, *, has_text_values: bool = False) -> Any:
    """Return `value` as `kind`, or None if it has another type.

    With `has_text_values` the value is parsed from a string.
    """
    if has_text_values:
        if kind is bool:
            return BOOLEANS.get(str(value).lower())
        try:
            return cast("Any", kind)(value)
        except ValueError:
            return None
    try:
        return READER.reader(kind)(value)
    except ValueError:
        return None


def convert_word(name: str, value: Any, *, has_text_values: bool = False) -> str | None:
    """Return the word of `WORDS` that a value of a setting means, or None if it means none."""
    words = WORDS[name]
    flag = BOOLEANS.get(str(value).lower()) if has_text_values or isinstance(value, bool) else None
    return words[flag] if flag is not None else next((word for word in words if word == value), None)


def read_list(wanted: Wanted, value: Any, *, has_text_values: bool = False) -> tuple[tuple[Any, ...], list[Mistake]]:
    """Return the valid items of a list, and the mistakes in the others.

    With `has_text_values` the list is JSON.
    """
    if has_text_values:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return (), [Mistake(f"{wanted.name} must be {type_name(wanted.kind)} as JSON, not {value!r}", wanted.line)]
    if not isinstance(value, list | tuple):
        return (), [Mistake(f"{wanted.name} must be {type_name(wanted.kind)}, not {value!r}", wanted.line)]
    values, item = cast("list[Any]", value), find_item_type(wanted.kind)
    items, mistakes = list[Any](), list[Mistake]()
    for number, entry in enumerate(values):
        line = _item_line(wanted, number)
        if item is str:
            if isinstance(entry, str):
                items.append(entry)
            else:
                mistakes.append(Mistake(f"{wanted.name} must be a list of texts, and {entry!r} is none", line))
        elif item is not None:
            table, faults = _read_table(wanted, item, entry, line)
            mistakes += faults
            items += [table] if table is not None else []
    return tuple(items), mistakes


def _read_table(wanted: Wanted, item: type, entry: Any, line: int) -> tuple[Any, list[Mistake]]:
    if not isinstance(entry, Mapping):
        return None, [Mistake(f"{wanted.name} must be a list of tables, and {entry!r} is none", line)]
    keys, values, mistakes = list_item_keys(item), dict[str, Any](), list[Mistake]()
    for key, value in cast("Mapping[str, Any]", entry).items():
        if key not in keys:
            mistakes.append(Mistake(f"unknown key {wanted.name}.{key}; the keys are {', '.join(keys)}", line))
            continue
        kind = keys[key][0]
        inner = Wanted(f"{wanted.name}.{key}", kind, wanted.file, line)
        if find_item_type(kind) is None:
            converted = convert_value(kind, value)
            if converted is None:
                mistakes.append(Mistake(f"{inner.name} must be {type_name(kind)}, not {value!r}", line))
                continue
        else:
            converted, faults = read_list(inner, value)
            mistakes += faults
        values[key] = converted
    return item(**values, file=wanted.file, line=line), mistakes


def _item_line(wanted: Wanted, number: int) -> int:
    """Return the line of the header of a table in a list, or the line of the list."""
    pattern = rf"\s*\[\[\s*{re.escape(wanted.name)}(\.custom)?\s*\]\]"
    found = [line for line, text in enumerate(wanted.text.split("\n")) if re.match(pattern, text.replace('"', ""))]
    return found[number] if number < len(found) else wanted.line
