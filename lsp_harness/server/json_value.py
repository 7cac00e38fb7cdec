"""Values inside plain JSON that the client sent.

Missing keys and wrong types give None or an empty list, not an error.
"""

from typing import Any, cast


def value_at(raw: Any, path: str) -> Any:
    """Return the value at a dotted path such as `textDocument.uri`, or None if there is none."""
    for key in path.split("."):
        if not isinstance(raw, dict):
            return None
        raw = cast("dict[str, Any]", raw).get(key)
    return raw


def list_at(raw: Any, path: str) -> list[Any]:
    """Return the list at a dotted path, or an empty list if there is none."""
    value = value_at(raw, path)
    return cast("list[Any]", value) if isinstance(value, list) else []
