"""JSON that ends too soon, and values in it that need not be what they should be."""

import json
import re
from typing import Any, cast

TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', re.DOTALL)
DECODER = json.JSONDecoder()

JsonObject = dict[str, Any]


def parse_value(text: str, start: int) -> Any:
    """The array or object at `start`, None if there is none or its end is missing."""
    try:
        return DECODER.raw_decode(text, start)[0]
    except (ValueError, RecursionError):
        return None


def parse_beginning(text: str, start: int) -> Any:
    """What is complete of an array or object whose end is missing, None if nothing is."""
    opened: list[str] = []
    end = depth = 0
    for token in TOKEN.finditer(text, start):
        match token.group():
            case "[":
                opened.append("]")
            case "{":
                opened.append("}")
            case "]" | "}":
                if not opened or opened.pop() != token.group() or not opened:
                    return None
                end, depth = token.end(), len(opened)
            case _:
                continue
    # after the last value that is complete there were only beginnings
    return parse_value(text[start:end] + "".join(reversed(opened[:depth])), 0) if end else None


def as_objects(value: Any) -> list[JsonObject]:
    """The objects of an array."""
    return (
        [cast("JsonObject", item) for item in cast("list[Any]", value) if isinstance(item, dict)]
        if isinstance(value, list)
        else []
    )


def as_object(value: Any) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def as_int(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
