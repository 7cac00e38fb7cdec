"""Work-done progress: a bar in the editor that can really be cancelled."""

import asyncio
import logging
from collections.abc import Generator
from contextlib import contextmanager, suppress
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from lsp_harness.server.editor_client import Client
from lsp_harness.session.results import Progress, Report

log = logging.getLogger(__name__)


@contextmanager
def shown(client: Client, title: str, token: int | str | None = None, *, cancellable: bool = True) -> Generator[Report]:
    """Shows the reports of the current task. `token` is the one the request came with; without it a bar is created
    where the client knows how. The work does not wait for that: what is reported earlier is shown when it is there."""
    bar = _Bar(client, title, cancellable=cancellable)
    task = asyncio.current_task() if cancellable else None
    if token is None and not client.able.progress:
        yield lambda progress: None
        return
    creating: asyncio.Task[None] | None = None
    own = str(uuid4()) if token is None else token
    if task is not None:
        client.cancellable[own] = task
    if token is None:
        creating = asyncio.create_task(bar.create(own))
    else:
        bar.begin(own)
    try:
        yield bar.report
    finally:
        client.cancellable.pop(own, None)
        if creating is not None:
            creating.cancel()
        bar.end()


class _Bar:
    def __init__(self, client: Client, title: str, *, cancellable: bool) -> None:
        self._client = client
        self._title = title
        self._cancellable = cancellable
        self._token: int | str | None = None
        self._latest: Progress | None = None

    async def create(self, token: int | str) -> None:
        with suppress(asyncio.CancelledError):
            try:
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
