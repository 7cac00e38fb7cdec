"""Values in the input of a tool call. A wrong value gets a sentence that says what to write instead."""

from collections.abc import Mapping
from typing import Any

from lsp_harness.errors import UsageError

MAX_PATH_CHARS = 260

Input = Mapping[str, Any]
Schema = Mapping[str, Any]


def read_text(input: Input, name: str, default: str | None = None) -> str:
    """Return a text of the input. Raise UsageError if it is missing, and there is no default, or is no text."""
    value = input.get(name)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise UsageError(f'"{name}" is missing; give it as a text' if value is None else f'"{name}" must be a text')
    return value


def read_number(input: Input, name: str, default: int, minimum: int = 0, maximum: int = 2**31) -> int:
    """Return a whole number of the input. Raise UsageError if it is none or outside of its range."""
    value = input.get(name)
    if value is None:
        return default
    if isinstance(value, str) and value.strip().isdecimal():
        # models without a grammar put numbers in quotes
        value = int(value)
    if type(value) is not int or not minimum <= value <= maximum:
        raise UsageError(f'"{name}" must be a whole number from {minimum} to {maximum}')
    return value


def object_schema(required: Schema, optional: Schema | None = None) -> Schema:
    """Return the schema of an input with some required and some optional members."""
    return {"type": "object", "properties": {**required, **(optional or {})}, "required": list(required)}


def text_schema(description: str, max_chars: int = MAX_PATH_CHARS) -> Schema:
    """Return the schema of a text that is not empty."""
    return {"type": "string", "description": description, "minLength": 1, "maxLength": max_chars}


def number_schema(description: str, minimum: int = 0, maximum: int = 10_000_000) -> Schema:
    """Return the schema of a whole number."""
    return {"type": "integer", "description": description, "minimum": minimum, "maximum": maximum}
