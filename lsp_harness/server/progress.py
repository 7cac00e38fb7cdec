"""Work-done progress: a progress bar in the editor. Its cancel button cancels the work, not only the bar.

Besides the bars of requests there are two of the server: while folders are indexed, and while a document is verified.
"""

import asyncio
import logging
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from lsp_harness.harness.events import HarnessEvent, IndexReported, Listener, VerificationReported
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


MIN_FILES = 200
"""Number of files to read from which on there is a progress bar."""


def index_listener(client: EditorClient) -> Listener:
    """Return a listener that shows how the folders of a client are indexed."""
    message_queues: dict[Path, asyncio.Queue[Mapping[str, Any]]] = {}

    async def show_folder(root: Path, messages: "asyncio.Queue[Mapping[str, Any]]") -> None:
        with show_progress(client, f"Indexing {root.name}", cancellable=False) as report:
            while (message := await messages.get())["state"] == "scanning":
                done, total = message["done"], message["of"]
                report(Progress(f"{done:,} of {total:,} files", 100 * done // total))
            is_ready = message["state"] == "ready"
            report(Progress(f"{message['files']:,} files" if is_ready else str(message.get("why", "ended")), 100))
        del message_queues[root]

    def handle_event(event: HarnessEvent) -> None:
        if not isinstance(event, IndexReported):
            return
        root, message = event.root, event.message
        if root not in message_queues and message["state"] == "scanning" and message["of"] >= MIN_FILES:
            message_queues[root] = asyncio.Queue()
            client.spawn(show_folder(root, message_queues[root]), f"the progress of indexing {root.name}")
        if root in message_queues:
            message_queues[root].put_nowait(message)

    return handle_event


PROGRESS_DELAY_S = 1.0
"""A verification that ends before shows no bar."""


def verification_listener(client: EditorClient) -> Listener:
    """Return a listener that shows how the documents of a client are verified."""
    reports: dict[str, asyncio.Queue[VerificationReported]] = {}

    async def show_document(uri: str, queue: "asyncio.Queue[VerificationReported]") -> None:
        try:
            with show_progress(client, "Verifying with lsp-harness", delay_s=PROGRESS_DELAY_S) as report:
                newest = latest = await queue.get()
                # the end of a verification that was overtaken is not the end
                while latest.check or latest.version < newest.version:
                    if latest.check:
                        newest = latest
                        report(Progress(latest.check, 100 * latest.done // latest.total))
                    latest = await queue.get()
        except asyncio.CancelledError:
            client.harness.verification.stop(uri)
            raise
        finally:
            reports.pop(uri, None)

    def handle_event(event: HarnessEvent) -> None:
        if not isinstance(event, VerificationReported) or not client.capabilities.progress:
            return
        if event.uri not in reports and event.check:
            reports[event.uri] = asyncio.Queue()
            client.spawn(show_document(event.uri, reports[event.uri]), f"the progress of verifying {event.uri}")
        if event.uri in reports:
            reports[event.uri].put_nowait(event)

    return handle_event
