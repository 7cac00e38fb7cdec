"""Tests of the index process. They run its code without a process."""

import math
import threading
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue

import pytest

from lsp_harness.index import index_process
from lsp_harness.index.builder import indexer, reader_processes
from lsp_harness.index.builder.indexer import Indexer
from lsp_harness.index.index_process import IndexProcess
from lsp_harness.index.index_tables import SCHEMA, read_schema_version
from lsp_harness.store.database import DatabaseReader, DatabaseWriter

pytestmark = pytest.mark.process


class EmptyOrders:
    """Orders of a front end, of which there are none."""

    def __init__(self) -> None:
        self.started, self.stopped, self.rescan = threading.Event(), threading.Event(), threading.Event()
        self.started.set()
        self.priority_paths: set[str] = set()
        self.changed_paths: SimpleQueue[str] = SimpleQueue()


class EndingEvent(threading.Event):
    """An event that is set after `waits` waits."""

    def __init__(self, waits: int) -> None:
        super().__init__()
        self.waits = waits

    def wait(self, timeout: float | None = None) -> bool:
        self.waits -= 1
        if self.waits < 0:
            self.set()
        return self.is_set()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.py").write_text("def first(): ...\n")
    return folder


def read_indexed_names(database: Path) -> list[str]:
    with closing(DatabaseReader(database)) as reader:
        return [name for (name,) in reader.rows("SELECT name FROM symbols ORDER BY name")]


class StateLog(list[dict[str, object]]):
    def __call__(self, state: str, **more: object) -> None:
        self.append({"state": state, **more})


@pytest.fixture
def state_log(monkeypatch: pytest.MonkeyPatch) -> StateLog:
    result = StateLog()
    monkeypatch.setattr(index_process, "report_state", result)
    return result


def run_process(root: Path, orders: EmptyOrders, *, follow: bool) -> None:
    IndexProcess(root, root.parent / "index.db", orders, follow=follow).run()  # type: ignore[arg-type]


def test_without_following_files_are_read_once_and_on_request(root: Path, state_log: StateLog):
    orders = EmptyOrders()

    class Changing(EndingEvent):
        def wait(self, timeout: float | None = None) -> bool:
            if self.waits == 2:
                (root / "a.py").write_text("def second(): ...\n")
            if self.waits == 1:
                assert read_indexed_names(root.parent / "index.db") == ["first"]
                orders.rescan.set()
            return super().wait(timeout)

    orders.stopped = Changing(3)
    run_process(root, orders, follow=False)
    assert [result["parsed"] for result in state_log if result["state"] == "ready"] == [1, 1]
    assert read_indexed_names(root.parent / "index.db") == ["second"]


def test_without_notifications_of_the_system_all_files_are_looked_at(
    root: Path, state_log: StateLog, monkeypatch: pytest.MonkeyPatch
):
    import watchfiles

    def unable(*_: object, **__: object) -> Iterator[Collection[object]]:
        raise OSError("OS file watch limit reached")

    monkeypatch.setattr(watchfiles, "watch", unable)
    orders = EmptyOrders()

    class Changing(EndingEvent):
        def wait(self, timeout: float | None = None) -> bool:
            (root / "b.py").write_text("def other(): ...\n")
            return super().wait(timeout)

    orders.stopped = Changing(1)
    run_process(root, orders, follow=True)
    assert [result["state"] for result in state_log if result["state"] != "scanning"] == ["ready", "polling", "ready"]
    assert read_indexed_names(root.parent / "index.db") == ["first", "other"]


@pytest.mark.parametrize("times", [1, 2])
def test_a_broken_watch_is_started_again_once(
    root: Path, state_log: StateLog, monkeypatch: pytest.MonkeyPatch, times: int
):
    import watchfiles

    begun: list[None] = []

    def watch(*_: object, **__: object) -> Iterator[Collection[tuple[int, str]]]:
        begun.append(None)
        yield ()
        (root / "b.py").write_text(f"def after{len(begun)}(): ...\n")
        if len(begun) <= times:
            # as `WatchfilesRustInternalError` is
            raise RuntimeError("error in underlying watcher: Unable to decode path")
        yield [(1, str(root / "b.py"))]
        orders.stopped.set()

    monkeypatch.setattr(watchfiles, "watch", watch)
    orders = EmptyOrders()
    orders.stopped = EndingEvent(1)
    run_process(root, orders, follow=True)
    states = [result["state"] for result in state_log if result["state"] != "scanning"]
    assert states == [*["ready"] * 3, *(["ready"] if times == 1 else ["polling", "ready"])]
    assert read_indexed_names(root.parent / "index.db") == ["after2", "first"]


def test_a_file_that_was_reported_as_written_is_read_without_a_watch(
    root: Path, state_log: StateLog, monkeypatch: pytest.MonkeyPatch
):
    import watchfiles

    (root / "b.py").write_text("def silent(): ...\n")
    orders, database = EmptyOrders(), root.parent / "index.db"

    def deaf(*_: object, **__: object) -> Iterator[Collection[object]]:
        """Report no changes, as a network file system does."""
        yield ()
        for file in ("a.py", "b.py"):
            (root / file).write_text("def later(): ...\n")
        yield ()
        assert read_indexed_names(database) == ["first", "silent"]
        orders.changed_paths.put("a.py")
        orders.changed_paths.put("node_modules/foreign.js")
        yield ()
        assert read_indexed_names(database) == ["later", "silent"]
        # one that is new may be a folder, so that everything is looked at
        (root / "new.py").write_text("def new(): ...\n")
        orders.changed_paths.put("new.py")
        yield ()
        assert read_indexed_names(database) == ["later", "later", "new"]
        (root / "new.py").unlink()
        orders.changed_paths.put("new.py")
        yield ()
        orders.stopped.set()

    monkeypatch.setattr(watchfiles, "watch", deaf)
    run_process(root, orders, follow=True)
    assert read_indexed_names(database) == ["later", "later"]
    done = [(result["parsed"], result["dropped"]) for result in state_log if result["state"] == "ready"]
    assert done == [(2, 0), (0, 0), (1, 0), (2, 0), (0, 1)]


def test_a_full_disk_is_reported_and_tried_again(root: Path, state_log: StateLog, monkeypatch: pytest.MonkeyPatch):
    from lsp_harness.errors import StoreError
    from lsp_harness.index.builder.indexer import Indexer

    scan, full = Indexer.scan, [StoreError("database or disk is full")]

    def scanning(self: Indexer, first: Collection[str] = ()) -> object:
        if full:
            raise full.pop()
        return scan(self, first)

    monkeypatch.setattr(Indexer, "scan", scanning)
    orders = EmptyOrders()
    orders.stopped = EndingEvent(2)
    run_process(root, orders, follow=False)
    assert [result["state"] for result in state_log if result["state"] != "scanning"] == ["paused", "ready"]
    assert "full" in str(state_log[0]["why"])
    assert read_indexed_names(root.parent / "index.db") == ["first"]


def test_indexing_waits_for_a_typing_user_unless_a_caller_waits(
    root: Path, state_log: StateLog, monkeypatch: pytest.MonkeyPatch
):
    items: list[None] = []

    def no_recent_key() -> float:
        items.append(None)
        return math.inf

    monkeypatch.setattr(indexer, "seconds_since_typing", no_recent_key)
    for n in range(3 * reader_processes.BATCH_FILES):
        (root / f"m{n}.py").write_text(f"def f{n}(): ...\n")
    with (
        closing(DatabaseWriter(root.parent / "other.db", SCHEMA, read_schema_version())) as writer,
        closing(Indexer(root, writer)) as result,
    ):
        result.scan()
    assert items == []
    orders = EmptyOrders()
    orders.stopped = EndingEvent(0)
    run_process(root, orders, follow=False)
    assert items
