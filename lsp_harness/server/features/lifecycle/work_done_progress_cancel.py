"""`window/workDoneProgress/cancel`: the cancel button of a progress bar ends the work, not only the bar."""

from lsprotocol import types

from lsp_harness.server.editor_client import Client

METHOD = types.WINDOW_WORK_DONE_PROGRESS_CANCEL


def run(client: Client, params: types.WorkDoneProgressCancelParams) -> None:
    if task := client.cancellable.get(params.token):
        task.cancel()
