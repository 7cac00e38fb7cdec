"""Ruff with a server that runs all the time, for the checks of candidates: some milliseconds instead of a process each.

The command stays the reference: it answers until the server has started, whenever the server cannot, and all questions
about fixes and single rules.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic

from lsp_harness.errors import HarnessError
from lsp_harness.text.document import Document
from lsp_harness.text.uri import local_path
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.ruff_linter import CANARY, CANARY_TTL_S, RUFF_SETTINGS_NAMES, Ruff, settings_options
from lsp_harness.verify.types.checker_pool import CheckerPool
from lsp_harness.verify.types.checker_session import CheckerSession
from lsp_harness.verify.types.checkers import RuffServer
from lsp_harness.workspace.folder_stamps import ChangedFile

Stamp = tuple[tuple[str, int, int], ...]


class WarmRuff(Ruff):
    """A linter whose findings come from a running server.

    Args:
        pool: The pool that has the server.
        clock: Returns the present time in seconds.
    """

    def __init__(self, pool: CheckerPool, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(clock)
        self._pool = pool
        self._stamps: dict[Path, Stamp] = {}
        """The settings files of each folder when the server last read them."""
        self._included_until_s: dict[str, float] = {}
        """The time until which a file counts as one that the settings do not exclude."""

    async def find_findings(self, document: Document, file: Path, root: Path | None) -> tuple[Finding, ...]:
        session = self._find_session(document, file, root)
        if session and session.prepare(document):
            self._announce_settings(session, file)
            try:
                findings = await session.find_findings(document, is_patient=True)
                if findings or await self._is_included(session, document):
                    return await self.name_by_code(findings)
            except (HarnessError, TimeoutError):
                # the command says what is wrong
                pass
        return await super().find_findings(document, file, root)

    def _find_session(self, document: Document, file: Path, root: Path | None) -> CheckerSession | None:
        """Return the server for a text, or None if only the command can lint it."""
        is_named = root is not None and local_path(document.uri) == file and file.is_relative_to(root)
        # the server would wait for a settings file that never ends
        if root is None or not is_named or self.missing_reason or settings_options(file):
            return None
        return self._pool.find(RuffServer.name, root)

    def _announce_settings(self, session: CheckerSession, file: Path) -> None:
        """Tell the server if a settings file above a file is new, gone or another one."""
        stamp = tuple(_stat_settings(file.parent))
        if self._stamps.setdefault(file.parent, stamp) != stamp:
            self._stamps[file.parent] = stamp
            self._included_until_s.clear()
            names = (*RUFF_SETTINGS_NAMES, "pyproject.toml")
            changes = [ChangedFile(folder / name, "changed") for folder in file.parents for name in names]
            session.record_file_changes(changes)

    async def _is_included(self, session: CheckerSession, document: Document) -> bool:
        """Return whether the server lints a file at all, because it reports nothing for an excluded one."""
        now = self._clock()
        if self._included_until_s.get(document.uri, now) > now:
            return True
        canary = Document.from_text(document.uri, CANARY, language=document.language)
        if not await session.find_findings(canary, is_patient=True):
            return False
        self._included_until_s[document.uri] = now + CANARY_TTL_S
        return True


def _stat_settings(folder: Path) -> Iterator[tuple[str, int, int]]:
    """Yield the path, the time and the size of each settings file of ruff in a folder and above it."""
    for place in (folder, *folder.parents):
        for name in (*RUFF_SETTINGS_NAMES, "pyproject.toml"):
            try:
                status = os.stat(place / name)
            except OSError:
                continue
            yield str(place / name), status.st_mtime_ns, status.st_size
