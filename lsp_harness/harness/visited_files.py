"""The files that the user visits: the last cursor of each, kept for the next session, and their prepared prompts.

The file contains paths and numbers, and no text. Several servers may have the folder open, so each adds its own changes
to the file. It is written some time after a change and at the end, never at a key.

When such a file is opened, the engine has the prompt at its last cursor in memory or on disk.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from time import time
from typing import Any, cast

from lsp_harness.config import paths
from lsp_harness.disk.file_lock import FileLock
from lsp_harness.disk.file_reading import read_file, read_text
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.disk.file_writing import write_own_file
from lsp_harness.errors import FileError, FileMissing, HarnessError
from lsp_harness.harness.services import Services
from lsp_harness.text.document import Document
from lsp_harness.workspace.open_document import OpenDocument
from lsp_harness.workspace.snapshot import Snapshot

FILE_NAME = "visits.json"
MAX_FILES = 500
"""Number of files that are remembered. Those that were visited longest ago are forgotten first."""
MAX_OPENINGS = 1000
"""Sum of all counts above which each is halved, so that the work of this week counts more than that of last year."""
LOCK_TIMEOUT_S = 1.0
"""How long another server may hold the file. It takes milliseconds."""


@dataclass(frozen=True, slots=True)
class FileVisit:
    """The visits of the user to one file.

    Attributes:
        line: The line of the last cursor, from 0, or -1 if the user was never seen in the file.
        column: The byte in that line.
        openings: How often the file was opened.
        language: The language id that the editor gave it.
        time_s: The time of the last visit, in seconds since 1970.
    """

    line: int = -1
    column: int = 0
    openings: int = 0
    language: str = ""
    time_s: int = 0


class FileVisits:
    """The visits to the files of one workspace folder. Paths are relative to the folder.

    Args:
        file: The file that keeps them. It is read at the first question.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._saved: dict[str, FileVisit] | None = None
        self._changes: dict[str, FileVisit] = {}
        """The visits since the file was written, with the openings since then."""

    @property
    def has_changes(self) -> bool:
        return bool(self._changes)

    def record_open(self, path: str, language: str) -> None:
        """Record that the user opened a file."""
        change = self._changes.get(path, FileVisit())
        self._changes[path] = replace(change, openings=change.openings + 1, language=language, time_s=int(time()))

    def record_place(self, path: str, line: int, column: int) -> None:
        """Record the cursor in a file."""
        known = self._changes.get(path) or replace(self.find(path) or FileVisit(), openings=0)
        if (known.line, known.column) != (line, column):
            self._changes[path] = replace(known, line=line, column=column, time_s=int(time()))

    def find(self, path: str) -> FileVisit | None:
        """Return the visits to a file, or None if there were none."""
        change, saved = self._changes.get(path), self._read_once().get(path)
        return _merge(saved, change) if change else saved

    def most_opened(self) -> list[tuple[str, FileVisit]]:
        """Return the files in which the user was seen, those that were opened most first."""
        visits = [(path, self.find(path)) for path in {**self._read_once(), **self._changes}]
        seen = [(path, visit) for path, visit in visits if visit and visit.line >= 0]
        return sorted(seen, key=lambda item: (-item[1].openings, -item[1].time_s, item[0]))

    def save(self) -> None:
        """Add the changes since the last call to the file, if the file can be written."""
        if not self._changes:
            return
        changes = dict(self._changes)
        try:
            with FileLock(self._file.with_suffix(".lock")).hold(LOCK_TIMEOUT_S):
                visits = _read(self._file)
                merged = {**visits, **{path: _merge(visits.get(path), change) for path, change in changes.items()}}
                bounded = _limit_visits(merged)
                data = json.dumps({path: asdict(visit) for path, visit in bounded.items()})
                write_own_file(self._file, data.encode("utf-8", "surrogatepass"))
        except (OSError, UnicodeError) as error:
            paths.warn_not_saved("the last cursor of files", paths.CACHE, self._file, error)
        else:
            self._saved = bounded
            # what was recorded while the file was written belongs to the next call
            self._changes = {
                path: replace(change, openings=change.openings - changes[path].openings if path in changes else 0)
                for path, change in self._changes.items()
                if change != changes.get(path)
            }

    def _read_once(self) -> dict[str, FileVisit]:
        if self._saved is None:
            self._saved = _read(self._file)
        return self._saved


def _merge(saved: FileVisit | None, change: FileVisit) -> FileVisit:
    if saved is None:
        return change
    place = change if change.line >= 0 else saved
    openings = saved.openings + change.openings
    return FileVisit(place.line, place.column, openings, change.language or saved.language, change.time_s)


def _limit_visits(visits: dict[str, FileVisit]) -> dict[str, FileVisit]:
    """Return the newest visits, with counts that are not too large."""
    newest = sorted(visits.items(), key=lambda item: -item[1].time_s)[:MAX_FILES]
    is_large = sum(visit.openings for _, visit in newest) > MAX_OPENINGS
    return {path: replace(visit, openings=visit.openings // 2) if is_large else visit for path, visit in newest}


def _read(file: Path) -> dict[str, FileVisit]:
    """Return the visits in the file. There are none if the file cannot be read or is another file."""
    try:
        content: Any = json.loads(read_text(file))
        entries = cast("dict[str, dict[str, Any]]", content)
        visits = {path: FileVisit(**entry) for path, entry in entries.items()}
    except FileMissing:
        return {}
    except FileError as error:
        warn_once(f"{error.message}; the last cursors of files are forgotten")
        return {}
    except (ValueError, TypeError, AttributeError, RecursionError):
        return {}
    return {path: visit for path, visit in visits.items() if _is_valid(visit)}


def _is_valid(visit: FileVisit) -> bool:
    numbers = (visit.line, visit.column, visit.openings, visit.time_s)
    return all(type(number) is int and number >= -1 for number in numbers) and isinstance(
        cast("Any", visit.language), str
    )


SAVE_DELAY_S = 30.0
"""Time between a change and the moment when it is written."""


class VisitedFiles:
    """The visits of one client to the files of its workspace folders.

    Nothing is recorded or read for a client that does not stay, in a workspace that is not trusted, for a file that no
    model may see, and for a file outside of the folders.

    Args:
        services: The settings, documents, engine and checks that all parts of the harness share.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._folders: dict[Path, FileVisits | None] = {}
        self._is_save_planned = False

    def record_open(self, opened: OpenDocument) -> None:
        """Record that the user opened a document."""
        snapshot = self._services.workspace.snapshot(opened.text)
        if visits := self._find_visits(snapshot):
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
        visits = self._find_visits(snapshot) if self._services.engines.is_own else None
        visit = visits.find(snapshot.path) if visits else None
        return find_offset(text, visit) if visit else None

    def most_opened(self) -> Iterator[tuple[Path, FileVisit]]:
        """Yield the files that were opened most and are not open now, each with its visits."""
        documents, workspace = self._services.documents, self._services.workspace
        open_files = {workspace.snapshot(opened.text).file for opened in documents}
        for root in workspace.roots:
            visits = self._open_folder(root) if self._is_enabled else None
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
        for visits in self._list_changed():
            visits.save()

    def _start_save(self) -> None:
        self._is_save_planned = False
        for opened in self._services.documents:
            self._record_place(opened)
        for visits in self._list_changed():
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
        if visits := self._find_visits(snapshot):
            offset = min(opened.cursor, len(text.data))
            line = text.line_of(offset)
            visits.record_place(snapshot.path, line, offset - text.line_starts[line])

    def _list_changed(self) -> list[FileVisits]:
        return [visits for visits in self._folders.values() if visits and visits.has_changes]

    def _find_visits(self, snapshot: Snapshot) -> FileVisits | None:
        """Return the visits of the folder of a file, or None if the visits to that file are not recorded."""
        if not (self._is_enabled and snapshot.root) or self._services.workspace.private_reason(snapshot):
            return None
        return self._open_folder(snapshot.root)

    def _open_folder(self, root: Path) -> FileVisits | None:
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


IDLE_S = 10.0
"""Time without a key or a request of the user after which the work begins."""
Prepare = Callable[[Snapshot, int], Awaitable[None]]
"""Evaluates the prompt at a byte offset of a text that is not open."""


class HotFiles:
    """The files that the user visits most, whose prompts are evaluated while nothing else is to be done.

    Args:
        services: The settings, documents, engine and checks that all parts of the harness share.
        visited_files: The files that the user visits.
        prepare: Evaluates the prompt of a file.
    """

    def __init__(self, services: Services, visited_files: VisitedFiles, prepare: Prepare) -> None:
        self._services = services
        self._visited_files = visited_files
        self._prepare = prepare
        self._prepared: dict[Path, tuple[object, ...]] = {}
        """The version of each file and the place that were prepared."""
        self._is_planned = False
        self._idle_time_s = 0.0
        self._task: asyncio.Task[None] | None = None

    def postpone(self) -> None:
        """Record that the user does something: stop, and begin again after `IDLE_S` without anything."""
        self.stop()
        self._idle_time_s = self._services.clock.now_s() + IDLE_S
        if not self._is_planned and self._services.works_ahead and self._services.config.background.hot_files > 0:
            self._is_planned = True
            self._services.clock.call_later(IDLE_S, self._start)

    def stop(self) -> None:
        """Stop the work under way. The engine keeps what it has evaluated so far."""
        task, self._task = self._task, None
        if task:
            task.cancel()

    async def wait_until_idle(self) -> None:
        """Wait for the work under way, for callers that have no event to wait for."""
        if self._task:
            await asyncio.wait({self._task})

    async def aclose(self) -> None:
        task = self._task
        self.stop()
        if task:
            await asyncio.wait({task})

    def _start(self) -> None:
        rest_s = self._idle_time_s - self._services.clock.now_s()
        engines = self._services.engines
        if rest_s <= 0 and engines.is_running and engines.current.state == "busy":
            # what follows the last request of the user is still evaluated
            rest_s = IDLE_S
        if rest_s > 0:
            self._services.clock.call_later(rest_s, self._start)
            return
        self._is_planned = False
        if self._is_allowed():
            self._task = asyncio.ensure_future(self._run())

    def _is_allowed(self) -> bool:
        services = self._services
        engines, config = services.engines, services.config
        # it must neither start an engine nor send files that nobody opened to a remote server
        is_engine_idle = engines.is_own and engines.is_running and engines.current.state == "ready"
        return is_engine_idle and config.completion.warm and not services.background.is_off

    async def _run(self) -> None:
        files = list(islice(self._visited_files.most_opened(), self._services.config.background.hot_files))
        for file, visit in files:
            # the user's own request will report what is wrong with the engine
            with suppress(HarnessError, OSError):
                await self._prepare_file(file, visit)

    async def _prepare_file(self, file: Path, visit: FileVisit) -> None:
        version = (file.stat().st_mtime_ns, visit.line, visit.column)
        if self._prepared.get(file) == version:
            return
        data = await asyncio.to_thread(read_file, file)
        text = Document.from_text(file.as_uri(), data, language=visit.language)
        snapshot = self._services.workspace.snapshot(text)
        # the rules may have changed since the visit
        if self._services.workspace.private_reason(snapshot) or (offset := find_offset(text, visit)) is None:
            return
        await self._prepare(snapshot, offset)
        self._prepared[file] = version
