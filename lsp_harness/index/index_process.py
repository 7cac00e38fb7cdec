"""The process that keeps the index of one workspace folder: `python -m lsp_harness.index.index_process`.

It says what it does on its standard output, a JSON object a line: `{"state": "scanning", "done": 3, "of": 10}`, `ready` with
what a scan did, `paused` and `polling` with the reason. On its standard input it is told, in the same form, what to read first
(`{"first": ["a.py"]}`), which files somebody has written (`{"changed": ["a.py"]}`), as not every file system tells of that, and to
look at everything again (`{"scan": true}`). It begins with the first such line, and ends with
its input.
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

from lsp_harness.errors import StoreDamaged, StoreError
from lsp_harness.files.ignore_files import GIT_EXCLUDE_FILE
from lsp_harness.files.walk import SKIPPED_FOLDERS
from lsp_harness.index.build.indexer import Indexer
from lsp_harness.index.build.reader_processes import calm
from lsp_harness.index.index_place import prune
from lsp_harness.index.index_tables import SCHEMA, version
from lsp_harness.store.database import Writer, remove

POLL_SECONDS = 5.0
"""Between looks at everything where the system does not tell of changes."""
PAUSE_SECONDS = 10.0
"""Before the next try where nothing can be written."""
TICK_MS = 200
WATCHES = 2
"""How often a watch is begun that then breaks; one that cannot be begun is not tried again."""


class Orders:
    """What comes on the standard input."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.ended = threading.Event()
        self.scan = threading.Event()
        self.first: set[str] = set()
        self.changed: SimpleQueue[str] = SimpleQueue()
        threading.Thread(target=self._listen, name="orders", daemon=True).start()

    def _listen(self) -> None:
        for line in sys.stdin:
            try:
                order = json.loads(line)
            except ValueError:
                # who wrote it was killed in the middle of it: the end follows
                continue
            self.first |= set(order.get("first", ()))
            for path in order.get("changed", ()):
                self.changed.put(path)
            if order.get("scan"):
                self.scan.set()
            self.begun.set()
        self.ended.set()
        self.begun.set()


def say(state: str, **more: Any) -> None:
    # whoever listened may be gone; the input ends with them
    with suppress(BrokenPipeError):
        sys.stdout.write(json.dumps({"state": state, **more}) + "\n")
        sys.stdout.flush()


def _progress(done: int, of: int) -> None:
    say("scanning", done=done, of=of)


class Process:
    """Of the folder `root` and its index at `database`. It takes up what changes on disk where it is to `follow` that."""

    def __init__(self, root: Path, database: Path, orders: Orders, *, follow: bool) -> None:
        self._root = root
        self._database = database
        self._orders = orders
        self._follow = follow

    def run(self) -> None:
        """Until the input ends. A database that is damaged is made anew; one that cannot be written is tried again."""
        self._orders.begun.wait()
        while not self._orders.ended.is_set():
            try:
                with closing(Writer(self._database, SCHEMA, version())) as writer:
                    indexer = Indexer(self._root, writer, _progress, gives_way=True)
                    with closing(indexer):
                        self._update(indexer, writer)
            except StoreDamaged as error:
                say("paused", why=f"{error.message}; a new index is made")
                try:
                    remove(self._database)
                except StoreError as other:
                    self._pause(other)
            except StoreError as error:
                self._pause(error)

    def _pause(self, error: StoreError) -> None:
        say("paused", why=error.message)
        self._orders.ended.wait(PAUSE_SECONDS)

    def _update(self, indexer: Indexer, writer: Writer) -> None:
        for paths in self._changes():
            # who wants it made anew deletes it
            writer.check()
            told = self._told()
            paths = None if paths is None else {*paths, *told}
            if paths is not None and not paths and not self._orders.scan.is_set():
                continue
            began = monotonic()
            done = indexer.update(paths) if paths and not self._orders.scan.is_set() else None
            if done is None:
                self._orders.scan.clear()
                done = indexer.scan(self._orders.first)
            say("ready", **asdict(done), seconds=round(monotonic() - began, 3))

    def _changes(self) -> Iterator[Collection[Path] | None]:
        """Sets of files that changed, which are empty now and then; None for any file."""
        yield None
        while not self._follow and not self._orders.ended.wait(TICK_MS / 1000):
            yield ()
        why: Exception | None = None
        for _ in range(WATCHES):
            try:
                yield from self._watched()
                return
            except OSError as error:
                why = error
                break
            except RuntimeError as error:
                # such is a change of a file whose name is no UTF-8: the watch ends, and what it had to tell is lost
                why = error
        say("polling", why=f"changes of files on disk are not noticed: {why}")
        while not self._orders.ended.wait(POLL_SECONDS):
            yield None

    def _watched(self) -> Iterator[Collection[Path] | None]:
        # imported late: a process that has nothing to index should be there at once
        from watchfiles import watch

        ticks = watch(
            self._root,
            watch_filter=lambda _, path: self._counts(path),
            debounce=400,
            step=50,
            rust_timeout=TICK_MS,
            yield_on_timeout=True,
            stop_event=self._orders.ended,
            raise_interrupt=False,
        )
        # and again when the watch has begun: what changed before is told by nobody
        yield None if next(ticks, None) is not None else ()
        for changes in ticks:
            yield {Path(path) for _, path in changes}

    def _told(self) -> set[Path]:
        """The files that somebody says they have written, since the last look."""
        told: set[Path] = set()
        with suppress(Empty):
            while True:
                path = self._root / self._orders.changed.get_nowait()
                told |= {path} if self._counts(str(path)) else set()
        return told

    def _counts(self, path: str) -> bool:
        """Whether a change there may change the index."""
        inner = Path(path).relative_to(self._root)
        return SKIPPED_FOLDERS.isdisjoint(inner.parts) or inner.as_posix().endswith(GIT_EXCLUDE_FILE)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="lsp-harness index process", description=__doc__)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--database", type=Path, required=True)
    parser.add_argument("--no-follow", action="store_true", help="do not update the index when files change on disk")
    args = parser.parse_args(argv)
    calm()
    prune()
    Process(args.root, args.database, Orders(), follow=not args.no_follow).run()


if __name__ == "__main__":
    main()
