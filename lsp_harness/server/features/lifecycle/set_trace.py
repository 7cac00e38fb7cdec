"""`$/setTrace`: set how much the server writes to the trace of the client."""

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient

METHOD = types.SET_TRACE


def run(client: EditorClient, params: types.SetTraceParams) -> None:
    client.server.lsp.trace = params.value
