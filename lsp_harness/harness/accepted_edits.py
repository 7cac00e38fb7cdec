"""What is held against edits the user took: verified after the fact, for exactly the version it was found in.

An accepted completion or an applied fix opens a watch on its document, with the text before it as the base line. Each
change is verified again after a quiet time, until nothing new is left to say; a result for a version that is no
longer the current one is dropped.
"""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from lsp_harness.coding.verdict_event import tell_verified
from lsp_harness.config.schema import Verification
from lsp_harness.errors import HarnessError
from lsp_harness.files.secrets import redacted
from lsp_harness.harness import verdict_document
from lsp_harness.harness.published_findings import Held, Published
from lsp_harness.session.log import SessionLog
from lsp_harness.text.document import Document
from lsp_harness.text.edit import shared
from lsp_harness.text.position import Span
from lsp_harness.verify.change import Change
from lsp_harness.verify.check_runner import run_checks
from lsp_harness.verify.enabled_checks import create_checks
from lsp_harness.verify.finding import Verdict
from lsp_harness.verify.ruff_linter import Ruff
from lsp_harness.workspace.documents import Documents
from lsp_harness.workspace.snapshot import Snapshot


@dataclass(slots=True)
class Watched:
    """`before` is the text that is not to blame, `path` what the log calls the file, as for those who edit it."""

    before: Document
    file: Path
    root: Path | None
    path: str
    task: asyncio.Task[None] | None = None
    held: Held = field(default_factory=lambda: Held(0))


class Watch:
    """All watched documents of a front end."""

    def __init__(
        self,
        documents: Documents,
        ruff: Ruff,
        settings: Verification,
        publish: Published,
        log: Callable[[], SessionLog],
        kept: Callable[[str], str],
    ) -> None:
        self._documents = documents
        self._ruff = ruff
        self.settings = settings
        self._publish = publish
        self._log = log
        self._kept = kept
        """Why a document is kept from the model, and so from the log on disk."""
        self._watched: dict[str, Watched] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        """Verifications that were overtaken, and have a tool to put away yet."""

    def start(self, before: Document, now: Snapshot) -> None:
        """The user took an edit of `before`. An earlier base line of the same document stays."""
        uri = before.uri
        if uri not in self._watched:
            self._watched[uri] = Watched(before, now.tool_path, now.root, now.path)
        self._schedule(uri, delay=0.0)

    def changed(self, uri: str) -> None:
        """The document has a new version."""
        if uri in self._watched:
            self._schedule(uri, delay=self.settings.debounce_ms / 1000)

    def stop(self, uri: str) -> None:
        """The document is closed: nothing is held against it any more."""
        if watched := self._watched.pop(uri, None):
            self._leave(watched)
            if watched.held.findings:
                self._publish(uri, Held(watched.held.version))

    def held(self, document: Document) -> Held:
        """What is held against this version; nothing while that is being found out."""
        watched, version = self._watched.get(document.uri), document.version
        return watched.held if watched and watched.held.version == version else Held(version)

    async def settled(self, uri: str) -> None:
        """Wait for the verification under way, for callers that have no events to wait for."""
        watched = self._watched.get(uri)
        if watched and watched.task:
            await asyncio.wait({watched.task})

    async def aclose(self) -> None:
        """End all verification, and wait until no tool of it runs: a loop that is closed under one hangs."""
        for watched in self._watched.values():
            self._leave(watched)
        self._watched.clear()
        await asyncio.gather(*self._leaving, return_exceptions=True)

    def _schedule(self, uri: str, delay: float) -> None:
        watched = self._watched[uri]
        self._leave(watched)
        watched.task = asyncio.ensure_future(self._verify(uri, watched, delay))

    def _leave(self, watched: Watched) -> None:
        """Cancel its verification, which is not over before its tool is."""
        if watched.task and not watched.task.done():
            watched.task.cancel()
            self._leaving.add(watched.task)
            watched.task.add_done_callback(self._leaving.discard)

    async def _verify(self, uri: str, watched: Watched, delay: float) -> None:
        await asyncio.sleep(delay)
        document = self._documents.get(uri)
        try:
            change = Change.from_documents(watched.before, document, watched.file, watched.root)
            verdict = await run_checks(change, create_checks(self.settings, self._ruff))
        except HarnessError as error:
            # ruff quotes the text it stumbles over
            sys.stderr.write(f"verification: {redacted(error.message)}\n")
            return
        if self._documents.get(uri).version != document.version:
            return
        had, watched.held = bool(watched.held.findings), self._record(watched, change, verdict)
        if had or watched.held.findings:
            self._publish(uri, watched.held)
        if not watched.held.findings:
            # clean: from now on this text is nobody's fault
            self._watched.pop(uri, None)

    def _record(self, watched: Watched, change: Change, verdict: Verdict) -> Held:
        """The verdict as what is held against this version; a turn of the session tells of it where it is not clean."""
        version = change.after.version
        if not verdict.findings and not watched.held.findings:
            return Held(version)
        # that what was told of is mended is told, too
        log = self._log()
        turn = log.turn(keep=not self._kept(change.after.uri))
        turn.tell("invocation.received", kind="check", text="a suggestion that was accepted here", path=watched.path)
        tell_verified(turn, change, verdict)
        if not verdict.findings:
            return Held(version)
        return Held(version, verdict.findings, _changed(change), verdict_document.name_of(log, turn.number))


def _changed(change: Change) -> Span:
    """From the first byte of the text that is another one to the last."""
    start, same = shared(change.before.data, change.after.data)
    return Span(start, len(change.after.data) - same)
