"""Work-done progress: a progress bar in the editor. Its cancel button cancels the work, not only the bar."""

import asyncio
import logging
from collections.abc import Generator
from contextlib import contextmanager, suppress
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from lsp_harness.kernel.results import Progress, Report
from lsp_harness.server.editor_client import EditorClient

log = logging.getLogger(__name__)


@contextmanager
def show_progress(
    client: EditorClient,
    title: str,
    token: int | str | None = None,
    *,
    cancellable: bool = True,
    delay_s: float = 0.0,
) -> Generator[Report]:
    """Show the progress of the current task until the context ends.

    The work does not wait for the bar: the latest report is shown as soon as the bar exists.

    Args:
        client: The client that shows the bar.
        title: The title of the bar.
        token: The token of the request. Without it, a bar is created if the client supports that.
        cancellable: Whether the user can cancel the current task.
        delay_s: Seconds before the bar appears, for work that is mostly done before.

    Yields:
        A function that reports progress.
    """
    bar = _ProgressBar(client, title, cancellable=cancellable)
    task = asyncio.current_task() if cancellable else None
    if token is None and not client.capabilities.progress:
        yield lambda progress: None
        return
    creation: asyncio.Task[None] | None = None
    bar_token = str(uuid4()) if token is None else token
    if task is not None:
        client.cancellable[bar_token] = task
    if token is None or delay_s:
        creation = asyncio.create_task(bar.start(bar_token, must_create=token is None, delay_s=delay_s))
    else:
        bar.begin(bar_token)
    try:
        yield bar.report
    finally:
        client.cancellable.pop(bar_token, None)
        if creation is not None:
            creation.cancel()
        bar.end()


class _ProgressBar:
    """One progress bar. Nothing is sent before `begin`."""

    def __init__(self, client: EditorClient, title: str, *, cancellable: bool) -> None:
        self._client = client
        self._title = title
        self._cancellable = cancellable
        self._token: int | str | None = None
        self._latest: Progress | None = None

    async def start(self, token: int | str, *, must_create: bool, delay_s: float) -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(delay_s)
            try:
                if must_create:
                    params = types.WorkDoneProgressCreateParams(token=token)
                    await self._client.server.window_work_done_progress_create_async(params)
            except JsonRpcException as error:
                log.info("the client shows no progress: %s", error)
            else:
                self.begin(token)

    def begin(self, token: int | str) -> None:
        self._token = token
        latest = self._latest or Progress("")
        self._send(
            types.WorkDoneProgressBegin(
                title=self._title,
                cancellable=self._cancellable,
                message=latest.message or None,
                percentage=latest.percentage,
            )
        )

    def report(self, progress: Progress) -> None:
        self._latest = progress
        self._send(types.WorkDoneProgressReport(message=progress.message, percentage=progress.percentage))

    def end(self) -> None:
        self._send(types.WorkDoneProgressEnd(message=self._latest.message if self._latest else None))

    def _send(
        self, value: types.WorkDoneProgressBegin | types.WorkDoneProgressReport | types.WorkDoneProgressEnd
    ) -> None:
        if self._token is not None:
            self._client.server.progress(types.ProgressParams(token=self._token, value=value))
