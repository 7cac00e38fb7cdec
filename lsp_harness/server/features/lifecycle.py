"""The start and the end of a connection, and the control of running requests."""

from typing import Any

from lsprotocol import types

from lsp_harness.server import client_settings, file_watching, session_listener
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.features.feature_binding import feature
from lsp_harness.server.json_value import value_at


@feature(types.INITIALIZED)
def start_work(client: EditorClient, params: types.InitializedParams | None) -> None:
    """Request the settings of the client, and start the engine and the index of the workspace.

    The server may send requests from here on.
    """
    client.harness.keep_indexes()
    client.spawn(_read_settings(client), "reading the settings of the editor")
    client.spawn(file_watching.follow(client), "registering for changes of settings files")


async def _read_settings(client: EditorClient) -> None:
    """Read the settings of the editor, which may choose another model, and then start the engine."""
    try:
        await client_settings.follow(client)
    finally:
        client.harness.completions.start_engine()
        session_listener.start(client)


@feature(types.SHUTDOWN)
def shut_down(client: EditorClient, params: None) -> None:
    """Cancel all running requests. After it, only `exit` is accepted."""
    protocol = client.server.lsp
    protocol.is_shut_down = True
    for task in protocol.running.values():
        task.cancel()


@feature(types.EXIT)
def end_process(client: EditorClient, params: None) -> None:
    """End the process, with status 0 after `shutdown` and 1 without it, as the specification demands."""
    client.stop(0 if client.server.lsp.is_shut_down else 1)


@feature(types.CANCEL_REQUEST)
def cancel_request(client: EditorClient, params: Any) -> None:
    """Cancel the task of a request.

    The id is read from plain JSON, because LSP types change some ids.
    """
    id = value_at(params, "id")
    if isinstance(id, int | float | str) and (task := client.server.lsp.running.get(id)):
        task.cancel()


@feature(types.SET_TRACE)
def set_trace(client: EditorClient, params: types.SetTraceParams) -> None:
    """Set how much the server writes to the trace of the client."""
    client.server.lsp.trace = params.value


@feature(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)
def cancel_progress(client: EditorClient, params: types.WorkDoneProgressCancelParams) -> None:
    """Cancel the work of a progress bar."""
    if task := client.cancellable.get(params.token):
        task.cancel()
