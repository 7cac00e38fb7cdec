"""The output of a tool in the forms that readers need: plain text, lines, a JSON value, and lines of JSON.

The end of JSON may be missing, and its values may have unexpected types.
"""

import json
import re
from functools import cached_property
from typing import Any, cast

TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["\[\]{}]', re.DOTALL)
DECODER = json.JSONDecoder()

JsonObject = dict[str, Any]


def parse_value(text: str, start: int) -> Any:
    """Return the array or object at the character `start`, or None if there is none or its end is missing."""
    try:
        return DECODER.raw_decode(text, start)[0]
    except (ValueError, RecursionError):
        return None


def parse_beginning(text: str, start: int) -> Any:
    """Return the complete items of an array or object whose end is missing, or None if no item is complete."""
    closing_brackets: list[str] = []
    end = depth = 0
    for token in TOKEN.finditer(text, start):
        match token.group():
            case "[":
                closing_brackets.append("]")
            case "{":
                closing_brackets.append("}")
            case "]" | "}":
                if not closing_brackets or closing_brackets.pop() != token.group() or not closing_brackets:
                    return None
                end, depth = token.end(), len(closing_brackets)
            case '"':
                # the end of this string is missing: the brackets in it are text
                break
            case _:
                continue
    # behind the last complete value, close the brackets that are open there
    return parse_value(text[start:end] + "".join(reversed(closing_brackets[:depth])), 0) if end else None


def as_objects(value: Any) -> list[JsonObject]:
    """Return the objects in an array, or nothing if the value is no array."""
    return (
        [cast("JsonObject", item) for item in cast("list[Any]", value) if isinstance(item, dict)]
        if isinstance(value, list)
        else []
    )


def as_object(value: Any) -> JsonObject:
    """Return the value if it is an object, or an empty object."""
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def as_text(value: Any) -> str:
    """Return the value if it is a string, or an empty string."""
    return value if isinstance(value, str) else ""


def as_int(value: Any) -> int:
    """Return the value if it is an integer, or 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


MAX_LINE_CHARS = 4_000
"""Longer lines are cut: they are minified code in a code frame, and never a message."""
MAX_JSON_STARTS = 8
"""Most places to try as the start of a JSON value: some tools print a line or two before it."""
ESCAPE_SEQUENCES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]_P^X][^\x07\x1b]{0,4000}(?:\x07|\x1b\\)|[@-Z\\-_])|[\x00\x08]"
)
LONG_LINE = re.compile(rf"(?m)^(.{{{MAX_LINE_CHARS}}}).+$")
JSON_START = re.compile(r"(?m)^[ \t]*(?=[\[{])")


class ToolOutput:
    """The output of a tool as text, as lines and as JSON. Each form is computed when a reader first needs it."""

    def __init__(self, text: str) -> None:
        """Remove escape sequences from the output, and give all lines the same line end."""
        self.raw = ESCAPE_SEQUENCES.sub("", text).replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")

    @cached_property
    def text(self) -> str:
        """The output with long lines cut."""
        return LONG_LINE.sub(r"\1…", self.raw)

    @cached_property
    def lines(self) -> list[str]:
        """The lines of `text`."""
        return self.text.split("\n")

    @cached_property
    def value(self) -> tuple[Any, bool]:
        """The JSON value in the output, or None if there is none, and whether its end is missing."""
        starts = [match.end() for _, match in zip(range(MAX_JSON_STARTS), JSON_START.finditer(self.raw), strict=False)]
        for start in starts:
            value = parse_value(self.raw, start)
            if value is not None:
                return value, False
            # a later start may be a part of this value, so the incomplete value is tried first
            value = parse_beginning(self.raw, start)
            if value is not None:
                return value, True
        return None, False

    @cached_property
    def rows(self) -> tuple[list[dict[str, Any]], bool]:
        """The objects that stand on a line each, and whether the last of these lines is incomplete."""
        rows: list[dict[str, Any]] = []
        is_truncated = False
        for line in self.raw.split("\n"):
            if not line.startswith("{"):
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                is_truncated = True
                continue
            is_truncated = False
            if isinstance(row, dict):
                rows.append(cast("dict[str, Any]", row))
        return rows, is_truncated
