"""What a command was given, held to what it takes."""

from typing import Any

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.server.client_capabilities import at
from lsp_harness.server.editor_client import Client
from lsp_harness.server.lsp_conversion import span
from lsp_harness.text.position import Span
from lsp_harness.workspace.snapshot import Snapshot


def first(params: types.ExecuteCommandParams) -> Any:
    return params.arguments[0] if params.arguments else None


def two_names(params: types.ExecuteCommandParams) -> tuple[str, str]:
    match params.arguments or ():
        case [str() as uri, str() as id]:
            return uri, id
        case _:
            raise UsageError(f"{params.command} needs the URI of a document and an id")


def one_name(params: types.ExecuteCommandParams, what: str) -> str:
    match params.arguments or ():
        case [str() as name] if name:
            return name
        case _:
            raise UsageError(f"{params.command} takes {what}")


def about(params: types.ExecuteCommandParams) -> str:
    """The URI of the document a verb is about."""
    uri = at(first(params), "uri")
    if not isinstance(uri, str):
        raise UsageError(f"{params.command} needs a uri and a range")
    return uri


def opened(snapshot: Snapshot | None) -> Snapshot:
    if snapshot is None:
        raise UsageError("this command needs a document; send its uri")
    return snapshot


def place(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Span:
    """The range, in bytes of the document."""
    document, given = opened(snapshot).document, at(first(params), "range")
    numbers = [at(given, f"{end}.{part}") for end in ("start", "end") for part in ("line", "character")]
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise UsageError(f"{params.command} needs a uri and a range")
    line, character, last, column = numbers
    range = types.Range(types.Position(line, character), types.Position(last, column))
    return Span(*span(document, range, client.able.encoding))


def failing(params: types.ExecuteCommandParams) -> str:
    """What a tool has printed, where that is given."""
    said = at(first(params), "failing")
    if said is not None and not isinstance(said, str):
        raise UsageError(f"{params.command} takes in `failing` the output of a tool, as a string")
    return said or ""


def placed(params: types.ExecuteCommandParams) -> bool:
    """Whether a place is said."""
    return at(first(params), "range") is not None


def nearby(params: types.ExecuteCommandParams) -> str:
    """The URI of a file or folder that somebody is in; empty where none is said."""
    uri = at(first(params), "uri")
    if uri is not None and not isinstance(uri, str):
        raise UsageError(f"{params.command} takes the uri of a file or folder, or no argument")
    return uri or ""


def words(params: types.ExecuteCommandParams, name: str = "instruction") -> str:
    """An instruction, or what else is said in words."""
    said = at(first(params), name)
    if not isinstance(said, str):
        raise UsageError(f"{params.command} needs {'an' if name[0] in 'aeiou' else 'a'} {name} in words")
    return said
