"""`exit`: end the process, with status 0 after `shutdown` and 1 without it, as the specification demands."""

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient

METHOD = types.EXIT


def run(client: EditorClient, params: None) -> None:
    client.stop(0 if client.server.lsp.is_shut_down else 1)
