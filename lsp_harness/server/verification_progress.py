"""Shows a progress bar while a document is verified, if that takes long. Its cancel button ends the verification."""

import asyncio

from lsp_harness.harness.events import HarnessEvent, Listener, VerificationReported
from lsp_harness.kernel.results import Progress
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.progress import show_progress

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
