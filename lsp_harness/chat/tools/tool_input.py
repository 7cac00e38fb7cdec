"""Values in the input of a tool call, where a wrong one gets a sentence, and lines of a result that is short enough."""

from collections.abc import Iterable, Mapping
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


def make_text_schema(description: str, max_chars: int = MAX_PATH_CHARS) -> Schema:
    """Return the schema of a text that is not empty."""
    return {"type": "string", "description": description, "minLength": 1, "maxLength": max_chars}


def make_number_schema(description: str, minimum: int = 0, maximum: int = 10_000_000) -> Schema:
    """Return the schema of a whole number."""
    return {"type": "integer", "description": description, "minimum": minimum, "maximum": maximum}


MAX_OUTPUT_BYTES = 7_500
"""Bytes of the result of a tool that can be continued. A result of more than 8 KiB would become an artifact."""
MAX_LINE_CHARS = 400


def shorten_line(line: str, limit: int = MAX_LINE_CHARS) -> str:
    """Return a line, cut off with the number of characters that are missing."""
    return line if len(line) <= limit else f"{line[:limit]}… ({len(line) - limit} more characters)"


def fit_lines(lines: Iterable[str], limit: int = MAX_OUTPUT_BYTES) -> list[str]:
    """Return the first lines that fit in `limit` bytes; always at least one, if there is one."""
    fitting: list[str] = []
    for line in lines:
        limit -= len(line.encode("utf-8", "replace")) + 1
        if limit < 0 and fitting:
            break
        fitting.append(line)
    return fitting
