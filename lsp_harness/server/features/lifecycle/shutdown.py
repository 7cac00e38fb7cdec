"""`shutdown`: what is running is cancelled and answered so; afterwards only `exit` is heard."""

from lsprotocol import types

from lsp_harness.server.editor_client import Client

METHOD = types.SHUTDOWN


def run(client: Client, params: None) -> None:
    protocol = client.server.lsp
    protocol.shut = True
    for task in protocol.running.values():
        task.cancel()
