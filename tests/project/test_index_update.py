"""Updates of an index by a command, beside another process that indexes the same folder."""

import asyncio
import fcntl
import os
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from lsp_harness.config.schema import Config
from lsp_harness.files.walk import WalkedFile
from lsp_harness.index.builder.file_extract import extract_file
from lsp_harness.index.builder.import_links import ImportLinks
from lsp_harness.index.builder.index_writer import IndexWriter
from lsp_harness.index.index_place import prepare_place
from lsp_harness.index.index_tables import SCHEMA, is_complete, read_schema_version
from lsp_harness.project import index_update
from lsp_harness.project.command_project import CommandProject
from lsp_harness.project.index_update import scan_folder, update_index
from lsp_harness.store.database import DatabaseReader, DatabaseWriter

FILES = {"a.py": "import b\n", "b.py": "x = 1\n"}


class SilentOutput:
    """An output that shows nothing."""

    def warn(self, sentence: str) -> None: ...

    @contextmanager
    def progress(self, title: str) -> Generator[Callable[[int, int], None]]:
        yield lambda done, total: None


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CommandProject]:
    """A folder whose index is locked by another process."""
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    root = tmp_path / "project"
    root.mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text)
    place = prepare_place(root)
    with open(place.lock, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield CommandProject(place, Config(), SilentOutput())


@pytest.fixture
def writer(project: CommandProject) -> Iterator[DatabaseWriter]:
    with closing(DatabaseWriter(project.place.database, SCHEMA, read_schema_version())) as database_writer:
        yield database_writer


def write_files(writer: DatabaseWriter) -> IndexWriter:
    """Write all files to the index, but not yet the targets of their imports."""
    index_writer = IndexWriter(writer)
    index_writer.write(extract_file(WalkedFile(path, 1, len(text)), text.encode()) for path, text in FILES.items())
    return index_writer


async def is_waiting(task: asyncio.Task[CommandProject]) -> bool:
    """Return whether a task still waits after it had several turns."""
    for _ in range(5):
        await asyncio.sleep(0)
    return not task.done()


@pytest.mark.parametrize("begun", [False, True])
async def test_an_index_that_another_makes_is_waited_for(project: CommandProject, writer: DatabaseWriter, begun: bool):
    index_writer = write_files(writer) if begun else None
    task = asyncio.create_task(update_index(project))
    assert await is_waiting(task)
    index_writer = index_writer or write_files(writer)
    assert await is_waiting(task)
    index_writer.link_imports(ImportLinks(FILES))
    await task


async def test_an_index_of_no_file_is_finished(project: CommandProject, writer: DatabaseWriter):
    with closing(DatabaseReader(project.place.database)) as reader:
        assert not is_complete(reader)
        IndexWriter(writer).record_left_out([])
        assert is_complete(reader)
    await update_index(project)


async def test_an_update_does_not_wait_for_ever(
    project: CommandProject, writer: DatabaseWriter, monkeypatch: pytest.MonkeyPatch
):
    write_files(writer)
    monkeypatch.setattr(index_update, "FIRST_INDEX_WAIT_S", 0.0)
    monkeypatch.setattr(index_update, "LOCK_WAIT_S", 0.0)
    await update_index(project)
    # another process takes the lock after it was free
    monkeypatch.setattr(index_update, "is_locked", lambda lock: False)
    assert await scan_folder(project) is None
    await update_index(project)


async def test_an_index_that_another_leaves_half_made_is_finished(
    project: CommandProject, writer: DatabaseWriter, monkeypatch: pytest.MonkeyPatch
):
    write_files(writer)
    answers = iter([True, False, False])
    monkeypatch.setattr(index_update, "is_locked", lambda lock: next(answers))
    monkeypatch.setattr(index_update, "wait_for_lock", open_lock)
    await update_index(project)
    with closing(DatabaseReader(project.place.database)) as reader:
        assert is_complete(reader)
        assert reader.rows("SELECT count(*) FROM targets") == [(1,)]


async def open_lock(lock: Path) -> int:
    """Return a descriptor of the lock without waiting for it."""
    return os.open(lock, os.O_RDONLY)
