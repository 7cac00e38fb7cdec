"""Tests of faults: the index process goes on when its disk or its files fail, and reports what it skipped."""

import errno
import os
import random
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.errors import StoreError
from lsp_harness.files.ignore_files import IgnoreFiles
from lsp_harness.files.walk import SkippedFile, walk
from lsp_harness.index import index_keeper
from lsp_harness.index.builder.indexer import Indexer
from lsp_harness.index.index_place import prepare_place
from lsp_harness.index.index_tables import SCHEMA, read_schema_version
from lsp_harness.store.database import DatabaseReader, DatabaseWriter
from tests.index.test_index_keeper import FrontEnd, find_index_processes, open_front
from tests.support.rounds import count_rounds

pytestmark = pytest.mark.process

KILLS = count_rounds(20)
FILES = 120


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


def read_contents(database: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return the contents of an index without the numbers of its rows."""
    with closing(DatabaseReader(database)) as reader:
        return {
            "files": sorted(reader.rows("SELECT path, digest, language, skipped FROM files")),
            "symbols": sorted(
                reader.rows(
                    "SELECT path, n, parent, kind, qualified, start, end FROM symbols JOIN files ON files.id = file"
                )
            ),
            "imports": sorted(
                reader.rows(
                    "SELECT a.path, module, name, b.path FROM imports JOIN files a ON a.id = imports.file LEFT JOIN "
                    "targets "
                    "ON targets.file = imports.file AND targets.n = imports.n LEFT JOIN files b ON b.id = target"
                ),
                key=str,
            ),
            "texts": sorted(
                reader.rows(
                    "SELECT path, chunks.start, names, text, words FROM texts JOIN chunks ON chunks.id = texts.rowid "
                    "JOIN files ON files.id = chunks.file"
                )
            ),
        }


def index_again(root: Path, database: Path) -> dict[str, list[tuple[object, ...]]]:
    with (
        closing(DatabaseWriter(database, SCHEMA, read_schema_version())) as writer,
        closing(Indexer(root, writer)) as indexer,
    ):
        indexer.scan()
    return read_contents(database)


async def test_a_process_that_is_killed_at_any_moment_is_replaced_and_continues(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(index_keeper, "LONGEST_DELAY_S", 0.01)
    monkeypatch.setattr(index_keeper, "FIRST_DELAY_S", 0.01)
    chance = random.Random(20)
    for n in range(FILES):
        (root / f"m{n}.py").write_text(f"from m{n // 2} import f{n // 2}\n\ndef f{n}(): return f{n // 2}()\n" * 20)
    where = prepare_place(root)
    async with open_front(where) as result:
        for n in range(KILLS):
            # sometimes it has just begun, sometimes it is in the middle, sometimes it waits for changes
            for _ in range(chance.randrange(4)):
                (root / f"m{chance.randrange(FILES)}.py").write_text(f"def changed_{n}(): ...\n")
            for _ in range(chance.randrange(3)):
                await result.hears(lambda said: said["state"] in ("scanning", "ready"))
            await kill_index_processes(result, where.database, find_index_processes(where))
        (root / "last.py").write_text("def last(): ...\n")
        await result.hears(
            lambda said: (
                said["state"] == "ready" and any("last.py" in row for row in read_contents(where.database)["files"])
            )
        )
        assert read_contents(where.database) == index_again(root, tmp_path / "fresh.db")


async def kill_index_processes(front: FrontEnd, database: Path, pids: list[int]) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        await front.hears(lambda said: said["state"] == "ended")
    # who reads it meanwhile reads on
    read_contents(database)


def test_a_file_that_cannot_be_read_is_left_out_until_it_can_be_read(root: Path, monkeypatch: pytest.MonkeyPatch):
    (root / "good.py").write_text("def good(): ...\n")
    (root / "bad").mkdir()
    (root / "bad/a.py").write_text("def hidden(): ...\n")
    scandir = os.scandir

    def refusing(path: str) -> object:
        if str(path).endswith("/bad"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return scandir(path)

    database = root.parent / "index.db"
    with (
        closing(DatabaseWriter(database, SCHEMA, read_schema_version())) as writer,
        closing(Indexer(root, writer)) as indexer,
    ):
        with monkeypatch.context() as patch:
            patch.setattr(os, "scandir", refusing)
            assert indexer.scan().left == 1
        with closing(DatabaseReader(database)) as reader:
            assert reader.rows("SELECT * FROM left_out") == [("bad", "permission denied")]
        assert indexer.scan().left == 0
        assert [row[0] for row in read_contents(database)["files"]] == ["bad/a.py", "good.py"]


def test_links_in_a_circle_are_not_followed(root: Path):
    (root / "inner").mkdir()
    (root / "inner/a.py").write_text("def a(): ...\n")
    (root / "inner/again").symlink_to(root)
    (root / "self").symlink_to("self")
    assert [result.path for result in walk(root, IgnoreFiles([root]))] == ["inner/a.py"]


def test_a_huge_file_is_not_even_read(root: Path):
    with (root / "huge.py").open("wb") as file:
        file.truncate(300_000_000)
    database = root.parent / "index.db"
    with (
        closing(DatabaseWriter(database, SCHEMA, read_schema_version())) as writer,
        closing(Indexer(root, writer)) as indexer,
    ):
        assert indexer.scan().files == 1
        assert writer.rows("SELECT path, skipped FROM files") == [("huge.py", "larger than 2000 kB")]
        assert indexer.scan().parsed == 0


def test_only_the_file_that_kills_its_reader_is_left_out(root: Path, monkeypatch: pytest.MonkeyPatch):
    from lsp_harness.index.builder import reader_processes

    for n in range(40):
        (root / f"m{n}.py").write_text(f"def f{n}(): ...\n")
    # the processes that read take what they are from here
    monkeypatch.setattr(reader_processes, "START_METHOD", "fork")
    read = reader_processes.read_and_extract

    def dying(root: Path, found: object, known: bytes) -> object:
        if found.path == "m7.py":  # type: ignore[attr-defined]
            os.kill(os.getpid(), signal.SIGKILL)
        return read(root, found, known)  # type: ignore[arg-type]

    monkeypatch.setattr(reader_processes, "read_and_extract", dying)
    database = root.parent / "index.db"
    with (
        closing(DatabaseWriter(database, SCHEMA, read_schema_version())) as writer,
        closing(Indexer(root, writer)) as indexer,
    ):
        assert indexer.scan().files == 40
        assert writer.rows("SELECT path, skipped FROM files WHERE skipped != ''") == [
            ("m7.py", "the parser crashed or did not end")
        ]
        assert writer.rows("SELECT count(*) FROM symbols") == [(39,)]


def test_a_file_that_disappears_during_its_reading_is_left_out(root: Path, monkeypatch: pytest.MonkeyPatch):
    from lsp_harness.index.builder import indexer as module

    (root / "a.py").write_text("def a(): ...\n")

    def going(root: Path, ignores: IgnoreFiles) -> Iterator[object]:
        yield from walk(root, ignores)
        (root / "a.py").unlink()

    database = root.parent / "index.db"
    with (
        closing(DatabaseWriter(database, SCHEMA, read_schema_version())) as writer,
        closing(Indexer(root, writer)) as indexer,
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, "walk", going)
            indexer.scan()
        assert writer.rows("SELECT * FROM left_out") == [("a.py", "no such file or directory")]
        assert indexer.scan().left == 0


def test_a_path_that_is_not_utf_8_is_reported(root: Path):
    (root / os.fsdecode(b"na\xefme.py")).write_text("x = 1\n")
    assert [*walk(root, IgnoreFiles([root]))] == [SkippedFile("na?me.py", "its name is not UTF-8")]


def test_after_a_full_disk_indexing_continues(root: Path):
    (root / "a.py").write_text("def a(): ...\n")
    database = root.parent / "index.db"
    with (
        closing(DatabaseWriter(database, SCHEMA, read_schema_version())) as writer,
        closing(Indexer(root, writer)) as indexer,
    ):
        indexer.scan()
        writer.rows("PRAGMA max_page_count = 40")
        for n in range(60):
            (root / f"m{n}.py").write_text(f"def f{n}(): ...\n" * 400)
        with pytest.raises(StoreError, match="full"):
            indexer.scan()
        assert "a.py" in [row[0] for row in read_contents(database)["files"]]
        writer.rows("PRAGMA max_page_count = 1000000")
        assert indexer.scan().files == 61
        assert len(read_contents(database)["files"]) == 61
