"""The process that updates the index of one workspace folder: `python -m lsp_harness.index.index_process`.

It writes its status to standard output, one JSON object per line: `{"state": "scanning", "done": 3, "of": 10}`, `ready`
with the result of a scan and the files that had changed (null stands for any), `paused` and `polling` with the reason.
It reads orders from standard input in the same form: which files to read first (`{"first": ["a.py"]}`), which files
were written (`{"changed": ["a.py"]}`), as not every file system reports changes, and to check every file again
(`{"scan": true}`). It starts with the first order and ends when its input ends.
"""

import argparse
import json
import sys
import threading
from collections.abc import Collection, Iterator
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any

from lsp_harness.errors import ExtraMissing, StoreDamaged, StoreError
from lsp_harness.extras import need_extra
from lsp_harness.files.ignore_files import GIT_EXCLUDE_FILE
from lsp_harness.files.walk import SKIPPED_FOLDERS
from lsp_harness.index.builder.indexer import Indexer
from lsp_harness.index.builder.reader_processes import yield_processor
from lsp_harness.index.index_place import remove_orphaned_indexes
from lsp_harness.index.index_tables import SCHEMA, read_schema_version
from lsp_harness.store.database import DatabaseWriter, remove_database

POLL_INTERVAL_S = 5.0
"""Time between two full scans if the system does not report changes of files."""
RETRY_DELAY_S = 10.0
"""Time before the next attempt if the index cannot be written."""
TICK_MS = 200
MAX_NAMED_FILES = 100
"""Most changed files that a status names."""
PRIORITY_TRIES = 10
"""How often to try to lower the priority of the session: this process may work for minutes."""
MAX_WATCH_ATTEMPTS = 2
"""Number of times that a broken watch is started. A watch that cannot be started is not tried again."""


class Orders:
    """The orders from standard input, read in a thread."""

    def __init__(self) -> None:
        self.started = threading.Event()
        self.stopped = threading.Event()
        self.rescan = threading.Event()
        self.priority_paths: set[str] = set()
        self.changed_paths: SimpleQueue[str] = SimpleQueue()
        threading.Thread(target=self._listen, name="orders", daemon=True).start()

    def _listen(self) -> None:
        for line in sys.stdin:
            try:
                order = json.loads(line)
            except ValueError:
                # The writer was killed in the middle of the line. The end of the input follows.
                continue
            self.priority_paths |= set(order.get("first", ()))
            for path in order.get("changed", ()):
                self.changed_paths.put(path)
            if order.get("scan"):
                self.rescan.set()
            self.started.set()
        self.stopped.set()
        self.started.set()


def report_state(state: str, **fields: Any) -> None:
    """Write a status line."""
    # If the reader is gone, the input ends too and stops the process.
    with suppress(BrokenPipeError):
        sys.stdout.write(json.dumps({"state": state, **fields}) + "\n")
        sys.stdout.flush()


def _report_progress(done: int, of: int) -> None:
    report_state("scanning", done=done, of=of)


class IndexProcess:
    """Updates the index of one folder."""

    def __init__(self, root: Path, database: Path, orders: Orders, *, follow: bool) -> None:
        self._root = root
        self._database = database
        self._orders = orders
        self._follow = follow

    def run(self) -> None:
        """Update the index until the input ends. A damaged database is created again; one that cannot be written is
        tried again later."""
        self._orders.started.wait()
        while not self._orders.stopped.is_set():
            try:
                with closing(DatabaseWriter(self._database, SCHEMA, read_schema_version())) as writer:
                    indexer = Indexer(self._root, writer, _report_progress, yields_to_typing=True)
                    with closing(indexer):
                        self._update(indexer, writer)
            except StoreDamaged as error:
                report_state("paused", why=f"{error.message}; a new index is created")
                try:
                    remove_database(self._database)
                except StoreError as other:
                    self._wait_for_retry(other)
            except StoreError as error:
                self._wait_for_retry(error)

    def _wait_for_retry(self, error: StoreError) -> None:
        report_state("paused", why=error.message)
        self._orders.stopped.wait(RETRY_DELAY_S)

    def _update(self, indexer: Indexer, writer: DatabaseWriter) -> None:
        for paths in self._changes():
            # A user may delete the database to get a new one.
            writer.check_file()
            reported = self._reported_changes()
            paths = None if paths is None else {*paths, *reported}
            if paths is not None and not paths and not self._orders.rescan.is_set():
                continue
            start = monotonic()
            result = indexer.update(paths) if paths and not self._orders.rescan.is_set() else None
            if result is None:
                self._orders.rescan.clear()
                result = indexer.scan(self._orders.priority_paths)
            report_state("ready", **asdict(result), seconds=round(monotonic() - start, 3), changed=self._names(paths))

    def _names(self, paths: Collection[Path] | None) -> list[str] | None:
        """Return changed files for the status, or None if any may have changed."""
        if paths is None or len(paths) > MAX_NAMED_FILES:
            return None
        return sorted(path.relative_to(self._root).as_posix() for path in paths)

    def _changes(self) -> Iterator[Collection[Path] | None]:
        """Yield sets of changed files, which are empty now and then, and None if any file may have changed."""
        yield None
        while not self._follow and not self._orders.stopped.wait(TICK_MS / 1000):
            yield ()
        reason: Exception | None = None
        for _ in range(MAX_WATCH_ATTEMPTS):
            try:
                yield from self._watch_changes()
                return
            except (OSError, ExtraMissing) as error:
                reason = error
                break
            except RuntimeError as error:
                # A change of a file whose name is not UTF-8 breaks the watch. Its other events are lost.
                reason = error
        report_state("polling", why=f"changes of files on disk are not noticed: {reason}")
        while not self._orders.stopped.wait(POLL_INTERVAL_S):
            yield None

    def _watch_changes(self) -> Iterator[Collection[Path] | None]:
        # Imported late, so that a process without work starts at once.
        with need_extra("engine"):
            from watchfiles import watch

        ticks = watch(
            self._root,
            watch_filter=lambda _, path: self._is_relevant(path),
            debounce=400,
            step=50,
            rust_timeout=TICK_MS,
            yield_on_timeout=True,
            stop_event=self._orders.stopped,
            raise_interrupt=False,
        )
        # Scan again when the watch has started: nobody reported the changes before.
        yield None if next(ticks, None) is not None else ()
        for changes in ticks:
            yield {Path(path) for _, path in changes}

    def _reported_changes(self) -> set[Path]:
        """Return the files that orders reported as written since the last call."""
        paths: set[Path] = set()
        with suppress(Empty):
            while True:
                path = self._root / self._orders.changed_paths.get_nowait()
                paths |= {path} if self._is_relevant(str(path)) else set()
        return paths

    def _is_relevant(self, path: str) -> bool:
        """Return whether a change of this file may change the index."""
        relative = Path(path).relative_to(self._root)
        return SKIPPED_FOLDERS.isdisjoint(relative.parts) or relative.as_posix().endswith(GIT_EXCLUDE_FILE)


def main(argv: list[str] | None = None) -> None:
    """Run the process until its input ends."""
    parser = argparse.ArgumentParser(prog="lsp-harness index process", description=__doc__)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--database", type=Path, required=True)
    parser.add_argument("--no-follow", action="store_true", help="do not update the index when files change on disk")
    args = parser.parse_args(argv)
    yield_processor(tries=PRIORITY_TRIES)
    remove_orphaned_indexes()
    IndexProcess(args.root, args.database, Orders(), follow=not args.no_follow).run()


if __name__ == "__main__":
    main()
