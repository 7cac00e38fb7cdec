"""Tests that one process keeps an index for all front ends, and is replaced when it ends."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from lsp_harness.index import index_keeper
from lsp_harness.index.index_keeper import IndexKeeper
from lsp_harness.index.index_place import IndexPlace, prepare_place
from lsp_harness.process.leader_lock import is_locked
from lsp_harness.store.database import DatabaseReader

pytestmark = pytest.mark.process


class FrontEnd:
    """A front end that records the reports of its index process."""

    def __init__(self, where: IndexPlace) -> None:
        self.told: list[dict[str, object]] = []
        self._news = asyncio.Event()
        self.keeper = IndexKeeper(where, self._record_event)

    def _record_event(self, said) -> None:
        self.told.append(dict(said))
        self._news.set()

    async def hears(self, wanted: Callable[[dict[str, object]], bool]) -> dict[str, object]:
        """Wait for the next report that the condition accepts."""
        while True:
            for n, item in enumerate(self.told):
                if wanted(item):
                    del self.told[: n + 1]
                    return item
            self._news.clear()
            await self._news.wait()


def is_in_state(name: str) -> Callable[[dict[str, object]], bool]:
    return lambda said: said["state"] == name


@pytest.fixture
def index_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> IndexPlace:
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws/a.py").write_text("def first(): pass\n")
    return prepare_place(tmp_path / "ws")


@asynccontextmanager
async def open_front(where: IndexPlace) -> AsyncIterator[FrontEnd]:
    result = FrontEnd(where)
    try:
        yield result
    finally:
        await result.keeper.close()


def find_index_processes(where: IndexPlace) -> list[int]:
    """Return the processes that keep this database."""
    mine = [child for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE]
    return [child.pid for child in mine if str(where.database) in child.cmdline()]


def read_indexed_names(where: IndexPlace) -> list[str]:
    reader = DatabaseReader(where.database)
    try:
        return [name for (name,) in reader.rows("SELECT name FROM symbols ORDER BY name")]
    finally:
        reader.close()


async def test_the_index_follows_the_files(index_place: IndexPlace):
    async with open_front(index_place) as result:
        assert (await result.hears(is_in_state("ready")))["parsed"] == 1
        assert read_indexed_names(index_place) == ["first"]
        (index_place.root / "b.py").write_text("def second(): pass\n")
        await result.hears(lambda said: said.get("parsed") == 1)
        assert read_indexed_names(index_place) == ["first", "second"]
        (index_place.root / "a.py").unlink()
        await result.hears(lambda said: said["state"] == "ready" and read_indexed_names(index_place) == ["second"])
    assert find_index_processes(index_place) == []
    assert not is_locked(index_place.lock)


async def test_a_file_name_that_is_not_utf_8_does_not_end_the_process(index_place: IndexPlace):
    odd = Path(os.fsdecode(os.fsencode(index_place.root) + b"/\xff.py"))
    try:
        odd.touch()
    except OSError:
        pytest.skip("no file can have such a name here")
    async with open_front(index_place) as result:
        await result.hears(is_in_state("ready"))
        [pid] = find_index_processes(index_place)
        # who is told of this one watches
        (index_place.root / "b.py").write_text("def second(): pass\n")
        await result.hears(
            lambda said: said["state"] == "ready" and read_indexed_names(index_place) == ["first", "second"]
        )
        odd.write_text("def odd(): pass\n")
        (index_place.root / "c.py").write_text("def third(): pass\n")
        await result.hears(
            lambda said: said["state"] == "ready" and read_indexed_names(index_place) == ["first", "second", "third"]
        )
        assert find_index_processes(index_place) == [pid]


async def test_two_front_ends_share_one_index_process(index_place: IndexPlace):
    async with open_front(index_place) as result:
        await result.hears(is_in_state("ready"))
        async with open_front(index_place) as other:
            assert len(find_index_processes(index_place)) == 1
            await result.keeper.close()
            assert (await other.hears(is_in_state("ready")))["parsed"] == 0
            assert len(find_index_processes(index_place)) == 1
            (index_place.root / "a.py").write_text("def changed(): pass\n")
            await other.hears(lambda said: said["state"] == "ready" and read_indexed_names(index_place) == ["changed"])


async def test_a_killed_index_process_is_replaced(index_place: IndexPlace):
    async with open_front(index_place) as result:
        await result.hears(is_in_state("ready"))
        [pid] = find_index_processes(index_place)
        os.kill(pid, signal.SIGKILL)
        assert (await result.hears(is_in_state("ended")))["code"] == -signal.SIGKILL
        (index_place.root / "a.py").write_text("def later(): pass\n")
        await result.hears(lambda said: said["state"] == "ready" and read_indexed_names(index_place) == ["later"])


async def test_an_index_process_that_made_progress_is_replaced_soon(
    index_place: IndexPlace, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(index_keeper, "FIRST_DELAY_S", 3600.0)
    monkeypatch.setattr(index_keeper, "LONGEST_DELAY_S", 3600.0)
    monkeypatch.setattr(index_keeper, "LONGEST_DELAY_AFTER_PROGRESS_S", 0.01)
    async with open_front(index_place) as result:
        for _ in range(3):
            await result.hears(is_in_state("ready"))
            [pid] = find_index_processes(index_place)
            os.kill(pid, signal.SIGKILL)
            await result.hears(is_in_state("ended"))
        assert (await result.hears(is_in_state("ready")))["parsed"] == 0


async def test_a_damaged_database_is_replaced(index_place: IndexPlace):
    async with open_front(index_place) as result:
        await result.hears(is_in_state("ready"))
    for suffix in ("-wal", "-shm"):
        Path(f"{index_place.database}{suffix}").unlink(missing_ok=True)
    index_place.database.write_bytes(b"no database" * 1000)
    async with open_front(index_place) as result:
        assert (await result.hears(is_in_state("ready")))["parsed"] == 1
        assert read_indexed_names(index_place) == ["first"]


async def test_a_process_that_is_stuck_is_ended_and_another_one_started(
    index_place: IndexPlace, monkeypatch: pytest.MonkeyPatch
):
    async with open_front(index_place) as result:
        await result.hears(is_in_state("ready"))
        first = find_index_processes(index_place)
    monkeypatch.setattr(index_keeper, "POLL_INTERVAL_S", 0.05)
    monkeypatch.setattr(index_keeper, "SILENCE_LIMIT_S", 0.5)
    async with open_front(index_place) as result:
        await result.hears(is_in_state("ready"))
        [stopped] = find_index_processes(index_place)
        os.kill(stopped, signal.SIGSTOP)

        outcome = await result.hears(is_in_state("paused"))

        assert outcome["why"] == "the index process does not respond; it is stopped and started again"
        await result.hears(is_in_state("ready"))
        [other] = find_index_processes(index_place)
        assert other not in (stopped, *first)
