"""The arguments of a command, checked against what the command takes. All functions raise UsageError."""

from typing import Any

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
