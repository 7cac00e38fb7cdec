"""Reads JSON whose end may be missing and whose values may have unexpected types."""

import json
import re
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
