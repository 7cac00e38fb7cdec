"""JSON that ends too soon, and values in it that need not be what they should be."""

import json
import re
from typing import Any, cast

TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', re.DOTALL)
DECODER = json.JSONDecoder()

Row = dict[str, Any]


def whole(text: str, start: int) -> Any:
    """The array or object at `start`, None if there is none or its end is missing."""
    try:
        return DECODER.raw_decode(text, start)[0]
    except (ValueError, RecursionError):
        return None


def beginning(text: str, start: int) -> Any:
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
    return whole(text[start:end] + "".join(reversed(opened[:depth])), 0) if end else None


def rows(value: Any) -> list[Row]:
    """The objects of an array."""
    return (
        [cast("Row", item) for item in cast("list[Any]", value) if isinstance(item, dict)]
        if isinstance(value, list)
        else []
    )


def row(value: Any) -> Row:
    return cast("Row", value) if isinstance(value, dict) else {}


def words(value: Any) -> str:
    return value if isinstance(value, str) else ""


def number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
