"""`$/setTrace`: how much the client wants to be told through `$/logTrace`."""

from lsprotocol import types

from lsp_harness.server.editor_client import Client

METHOD = types.SET_TRACE


def run(client: Client, params: types.SetTraceParams) -> None:
    client.server.lsp.trace = params.value
