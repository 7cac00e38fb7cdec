"""`shutdown`: cancel all running requests. After it, only `exit` is accepted."""

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient

METHOD = types.SHUTDOWN


def run(client: EditorClient, params: None) -> None:
    protocol = client.server.lsp
    protocol.is_shut_down = True
    for task in protocol.running.values():
        task.cancel()
