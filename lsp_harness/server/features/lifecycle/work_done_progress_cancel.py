"""`window/workDoneProgress/cancel`: cancel the work of a progress bar."""

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient

METHOD = types.WINDOW_WORK_DONE_PROGRESS_CANCEL


def run(client: EditorClient, params: types.WorkDoneProgressCancelParams) -> None:
    if task := client.cancellable.get(params.token):
        task.cancel()
