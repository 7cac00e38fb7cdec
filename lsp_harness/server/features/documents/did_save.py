"""`textDocument/didSave`: use a saved settings file at once, and tell the index of any other file.

What was changed since the last save is verified, if the settings say so. A save is also a pause of the user, in which a
completion can be prepared. If the
settings say so, the server does what a comment with `ai!` says.
"""

from lsprotocol import types

from lsp_harness.server import file_watching
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution import comment_trigger

METHOD = types.TEXT_DOCUMENT_DID_SAVE


def run(client: EditorClient, params: types.DidSaveTextDocumentParams) -> None:
    file_watching.handle_changes(client, [(params.text_document.uri, "changed")])
    client.harness.verification.record_save(params.text_document.uri)
    client.harness.completions.warm(params.text_document.uri)
    if client.harness.config.actions.comment_trigger:
        comment_trigger.start(client, params.text_document.uri)
