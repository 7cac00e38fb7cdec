"""The arguments and results of the commands about sessions. Names are in camel case there. Raises UsageError."""

import re
from collections.abc import Mapping
from typing import Any, cast

from lsprotocol import types

from lsp_harness.errors import UsageError

HUMP = re.compile(r"_([a-z])")
BORDER = re.compile(r"(?<!^)(?=[A-Z])")


class SessionArguments:
    """The only argument of a command about sessions: an object.

    Args:
        params: The params of the request.
    """

    def __init__(self, params: types.ExecuteCommandParams) -> None:
        self._command = params.command
        value: Any = params.arguments[0] if params.arguments else {}
        if not isinstance(value, dict):
            raise UsageError(f"{params.command} takes one object, such as {{sessionId: …}}")
        self._values = cast("dict[str, Any]", value)

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text. Without a default, it must be there."""
        value = self._values.get(name, default)
        if not isinstance(value, str):
            raise UsageError(f"{self._command} needs {name}, a string")
        return value

    def value(self, name: str) -> Any:
        """Return a value as the client sent it, or None if it is missing."""
        return self._values.get(name)

    def number(self, name: str) -> int | None:
        """Return a whole number, or None if it is missing."""
        value = self._values.get(name)
        if value is not None and (type(value) is not int or value < -1):
            raise UsageError(f"{self._command} takes {name} as a whole number, not {value!r}")
        return value

    def seconds(self, name: str, default: float) -> float:
        """Return a number of seconds."""
        value = self._values.get(name, default)
        if type(value) not in (int, float) or not 0 <= value <= 1e6:
            raise UsageError(f"{self._command} takes {name} as a number of seconds, not {value!r}")
        return float(value)

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return a flag, or its default if it is missing."""
        value = self._values.get(name, default)
        if not isinstance(value, bool):
            raise UsageError(f"{self._command} takes {name} as true or false, not {value!r}")
        return value

    def word(self, name: str, words: tuple[str, ...]) -> str:
        """Return one of some words. The first one is the default."""
        value = self._values.get(name, words[0])
        if value not in words:
            raise UsageError(f"{self._command} takes {name} as one of {', '.join(words)}, not {value!r}")
        return str(value)

    def token(self, name: str) -> int | str | None:
        """Return a token for progress, or None if it is missing."""
        value = self._values.get(name)
        if value is not None and type(value) not in (int, str):
            raise UsageError(f"{self._command} takes {name} as a number or a string, not {value!r}")
        return value

    @property
    def session_id(self) -> str:
        """The id of a session, or its beginning."""
        return self.text("sessionId")

    @property
    def fields(self) -> Mapping[str, Any]:
        """All values, with names as in the protocol of sessions: `taskId` is `task_id`."""
        return {BORDER.sub("_", name).lower(): value for name, value in self._values.items()}


def camel_keys(value: Any) -> Any:
    """Return the same data with keys in camel case: `task_id` becomes `taskId`."""
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {HUMP.sub(lambda match: match[1].upper(), str(key)): camel_keys(item) for key, item in items}
    if isinstance(value, list | tuple):
        return [camel_keys(item) for item in cast("list[Any]", value)]
    return value
