"""Commands beside another process that indexes the same folder."""

import asyncio
import fcntl
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.cli import fresh_index
from lsp_harness.cli.fresh_index import fresh, scan
from lsp_harness.files.walk import WorkspaceFile
from lsp_harness.index.builder.file_extract import extract_file
from lsp_harness.index.builder.import_links import ImportLinks
from lsp_harness.index.builder.index_writer import IndexWriter
from lsp_harness.index.index_place import IndexPlace, prepare_place
from lsp_harness.index.index_tables import SCHEMA, is_complete, schema_version
from lsp_harness.store.database import Reader, Writer

FILES = {"a.py": "import b\n", "b.py": "x = 1\n"}


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[IndexPlace]:
    """A folder whose lock another has."""
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    root = tmp_path / "project"
    root.mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text)
    made = prepare_place(root)
    with open(made.lock, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield made


@pytest.fixture
def writer(where: IndexPlace) -> Iterator[Writer]:
    with closing(Writer(where.database, SCHEMA, schema_version())) as made:
        yield made


def half(writer: Writer) -> IndexWriter:
    filling = IndexWriter(writer)
    filling.write(extract_file(WorkspaceFile(path, 1, len(text)), text.encode()) for path, text in FILES.items())
    return filling


async def waits(task: asyncio.Task[IndexPlace]) -> bool:
    """Whether it does after it had its turns."""
    for _ in range(5):
        await asyncio.sleep(0)
    return not task.done()


@pytest.mark.parametrize("begun", [False, True])
async def test_an_index_that_another_makes_is_waited_for(where: IndexPlace, writer: Writer, begun: bool):
    filling = half(writer) if begun else None
    task = asyncio.create_task(fresh(where))
    assert await waits(task)
    filling = filling or half(writer)
    assert await waits(task)
    filling.link_imports(ImportLinks(FILES))
    await task


async def test_an_index_of_no_file_is_finished(where: IndexPlace, writer: Writer):
    with closing(Reader(where.database)) as reader:
        assert not is_complete(reader)
        IndexWriter(writer).record_left_out([])
        assert is_complete(reader)
    await fresh(where)


async def test_nobody_waits_for_ever(where: IndexPlace, writer: Writer, monkeypatch: pytest.MonkeyPatch):
    half(writer)
    monkeypatch.setattr(fresh_index, "WAIT", 0.0)
    monkeypatch.setattr(fresh_index, "TAKEN", 0.0)
    await fresh(where)
    # who takes the lock after it was free
    monkeypatch.setattr(fresh_index, "is_locked", lambda lock: False)
    assert await scan(where) is None
    await fresh(where)


async def test_what_another_leaves_half_made_is_finished(
    where: IndexPlace, writer: Writer, monkeypatch: pytest.MonkeyPatch
):
    half(writer)
    led = iter([True, False, False])
    monkeypatch.setattr(fresh_index, "is_locked", lambda lock: next(led))
    monkeypatch.setattr(fresh_index, "wait_for_lock", free)
    await fresh(where)
    with closing(Reader(where.database)) as reader:
        assert is_complete(reader)
        assert reader.rows("SELECT count(*) FROM targets") == [(1,)]


async def free(lock: Path) -> int:
    return os.open(lock, os.O_RDONLY)
