"""The arguments of a command, checked against what the command takes. All functions raise UsageError.

The commands about documents take several arguments or an object. Those about sessions take one object, whose names are
in camel case.
"""

import re
from collections.abc import Mapping
from typing import Any, cast

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.json_value import value_at
from lsp_harness.server.lsp_conversion import byte_span
from lsp_harness.text.position import Span
from lsp_harness.workspace.snapshot import Snapshot


def first_argument(params: types.ExecuteCommandParams) -> Any:
    """Return the first argument, or None if there is none."""
    return params.arguments[0] if params.arguments else None


def uri_and_id(params: types.ExecuteCommandParams) -> tuple[str, str]:
    """Return the arguments of a command that takes the URI of a document and an id."""
    match params.arguments or ():
        case [str() as uri, str() as id]:
            return uri, id
        case _:
            raise UsageError(f"{params.command} needs the URI of a document and an id")


def single_string(params: types.ExecuteCommandParams, meaning: str) -> str:
    """Return the only argument, which must be a string with text. `meaning` describes it in the error."""
    match params.arguments or ():
        case [str() as value] if value:
            return value
        case _:
            raise UsageError(f"{params.command} takes {meaning}")


def document_uri(params: types.ExecuteCommandParams) -> str:
    """Return the `uri` of the first argument."""
    uri = value_at(first_argument(params), "uri")
    if not isinstance(uri, str):
        raise UsageError(f"{params.command} needs a uri and a range")
    return uri


def folder_uri(params: types.ExecuteCommandParams) -> str:
    """Return the `uri` of the first argument, which names a workspace folder.

    Return an empty string if it is missing.
    """
    uri = value_at(first_argument(params), "uri")
    if uri is not None and not isinstance(uri, str):
        raise UsageError(f"{params.command} takes the uri of a file or folder, or no uri")
    return uri or ""


def required_snapshot(snapshot: Snapshot | None) -> Snapshot:
    """Return the snapshot if the arguments named a document."""
    if snapshot is None:
        raise UsageError("this command needs a document; send its uri")
    return snapshot


def has_range(params: types.ExecuteCommandParams) -> bool:
    """Return whether the first argument has a `range`."""
    return value_at(first_argument(params), "range") is not None


def selected_span(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Span:
    """Return the `range` of the first argument as byte offsets in the document."""
    document, raw_range = required_snapshot(snapshot).document, value_at(first_argument(params), "range")
    numbers = [value_at(raw_range, f"{end}.{part}") for end in ("start", "end") for part in ("line", "character")]
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise UsageError(f"{params.command} needs a uri and a range")
    line, character, end_line, end_character = numbers
    range = types.Range(types.Position(line, character), types.Position(end_line, end_character))
    return Span(*byte_span(document, range, client.capabilities.encoding))


def tool_output(params: types.ExecuteCommandParams) -> str:
    """Return the output of a tool in `failing`, or an empty string if there is none."""
    output = value_at(first_argument(params), "failing")
    if output is not None and not isinstance(output, str):
        raise UsageError(f"{params.command} takes in `failing` the output of a tool, as a string")
    return output or ""


def text_argument(params: types.ExecuteCommandParams, name: str = "instruction") -> str:
    """Return a text of the user, such as the `instruction` of the first argument."""
    text = value_at(first_argument(params), name)
    if not isinstance(text, str):
        raise UsageError(f"{params.command} needs {'an' if name[0] in 'aeiou' else 'a'} {name} as a string")
    return text


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
            raise UsageError(f"{self._command} takes {name} as one of {', '.join(filter(None, words))}, not {value!r}")
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
