"""What a command was given, held to what it takes."""

from typing import Any

from lsprotocol import types

from lsp_harness.errors import UsageError


def first(params: types.ExecuteCommandParams) -> Any:
    return params.arguments[0] if params.arguments else None


def two_names(params: types.ExecuteCommandParams) -> tuple[str, str]:
    match params.arguments or ():
        case [str() as uri, str() as id]:
            return uri, id
        case _:
            raise UsageError(f"{params.command} takes a document URI and an id")


def one_name(params: types.ExecuteCommandParams, what: str) -> str:
    match params.arguments or ():
        case [str() as name] if name:
            return name
        case _:
            raise UsageError(f"{params.command} takes {what}")
