"""`exit`: status 0 after `shutdown`, 1 without, as the specification says."""

from lsprotocol import types

from lsp_harness.server.editor_client import Client

METHOD = types.EXIT


def run(client: Client, params: None) -> None:
    client.stop(0 if client.server.lsp.shut else 1)
