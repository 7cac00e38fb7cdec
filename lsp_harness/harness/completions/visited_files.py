"""The files that the user visits: where the cursor was last, and how often each was opened, for the next session."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from lsp_harness.errors import HarnessError
from lsp_harness.harness.completions.file_visits import FILE_NAME, FileVisit, FileVisits
from lsp_harness.harness.services import Services
from lsp_harness.text.document import Document
from lsp_harness.workspace.open_document import OpenDocument
from lsp_harness.workspace.snapshot import Snapshot

SAVE_DELAY_S = 30.0
"""Time between a change and the moment when it is written."""


class VisitedFiles:
    """The visits of one client to the files of its workspace folders.

    Nothing is recorded or read for a client that does not stay, in a workspace that is not trusted, for a file that no
    model may see, and for a file outside of the folders.

    Args:
        services: The shared parts.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._folders: dict[Path, FileVisits | None] = {}
        self._is_save_planned = False

    def record_open(self, opened: OpenDocument) -> None:
        """Record that the user opened a document."""
        snapshot = self._services.workspace.snapshot(opened.text)
        if visits := self._visits(snapshot):
            visits.record_open(snapshot.path, opened.text.language)
            self.plan_save()

    def record_close(self, opened: OpenDocument) -> None:
        """Record where the user was in a document that is closed now."""
        self._record_place(opened)
        self.plan_save()

    def recall(self, text: Document) -> int | None:
        """Return the byte offset where the user was in an earlier session, or None if that is not known."""
        snapshot = self._services.workspace.snapshot(text)
        # a remote server gets nothing for a guess
        visits = self._visits(snapshot) if self._services.engines.is_own else None
        visit = visits.find(snapshot.path) if visits else None
        return find_offset(text, visit) if visit else None

    def most_opened(self) -> Iterator[tuple[Path, FileVisit]]:
        """Yield the files that were opened most and are not open now, each with its visits."""
        documents, workspace = self._services.documents, self._services.workspace
        open_files = {workspace.snapshot(opened.text).file for opened in documents}
        for root in workspace.roots:
            visits = self._folder(root) if self._is_enabled else None
            for path, visit in visits.most_opened() if visits else ():
                if root / path not in open_files:
                    yield root / path, visit

    def plan_save(self) -> None:
        """Write the visits some time later, however often this is called until then."""
        if not self._is_save_planned and self._is_enabled:
            self._is_save_planned = True
            self._services.clock.call_later(SAVE_DELAY_S, self._start_save)

    def save(self) -> None:
        """Write where the user is and was. It is called at the end, while the documents are open."""
        for opened in self._services.documents:
            self._record_place(opened)
        for visits in self._changed():
            visits.save()

    def _start_save(self) -> None:
        self._is_save_planned = False
        for opened in self._services.documents:
            self._record_place(opened)
        for visits in self._changed():
            # another server may hold the file
            asyncio.get_running_loop().run_in_executor(None, visits.save)

    @property
    def _is_enabled(self) -> bool:
        services = self._services
        is_wanted = services.config.background.remember_places and not services.background.is_off
        return is_wanted and services.works_ahead and services.workspace.is_trusted

    def _record_place(self, opened: OpenDocument) -> None:
        if opened.cursor is None:
            return
        text = opened.text
        snapshot = self._services.workspace.snapshot(text)
        if visits := self._visits(snapshot):
            offset = min(opened.cursor, len(text.data))
            line = text.line_of(offset)
            visits.record_place(snapshot.path, line, offset - text.line_starts[line])

    def _changed(self) -> list[FileVisits]:
        return [visits for visits in self._folders.values() if visits and visits.has_changes]

    def _visits(self, snapshot: Snapshot) -> FileVisits | None:
        """Return the visits of the folder of a file, or None if the visits to that file are not recorded."""
        if not (self._is_enabled and snapshot.root) or self._services.workspace.private_reason(snapshot):
            return None
        return self._folder(snapshot.root)

    def _folder(self, root: Path) -> FileVisits | None:
        if root not in self._folders:
            # `initialize` must be answered before the database is imported
            from lsp_harness.index.index_place import prepare_place

            try:
                self._folders[root] = FileVisits(prepare_place(root).folder / FILE_NAME)
            except (HarnessError, OSError):
                self._folders[root] = None
        return self._folders[root]


def find_offset(text: Document, visit: FileVisit) -> int | None:
    """Return the place of a visit in the present text, or None if the user was never seen in the file."""
    if visit.line < 0:
        return None
    start, end = text.line_span(min(visit.line, len(text.line_starts) - 1))
    return min(start + visit.column, end)
