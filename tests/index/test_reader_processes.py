"""Tests that a parser that crashes or never ends costs only the file that it was given."""

import math
import multiprocessing
import os
import signal
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from lsp_harness.files.walk import SkippedFile, WalkedFile
from lsp_harness.index.builder import reader_processes
from lsp_harness.index.builder.file_extract import Extract, extract_file, hash_content
from lsp_harness.index.builder.reader_processes import ReaderPool, ReadResult

pytestmark = pytest.mark.process


def write_python_files(root: Path, count: int) -> list[tuple[WalkedFile, bytes]]:
    for n in range(count):
        (root / f"{n}.py").write_text(f"def f{n}(): pass\n")
    return [(WalkedFile(f"{n}.py", 1, 20), b"") for n in range(count)]


def list_parsed_paths(read: list[ReadResult]) -> set[str]:
    return {item.file.path for item in read if isinstance(item, Extract) and not item.skipped}


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    # the children of a fork have what a test puts in place of something
    monkeypatch.setattr(reader_processes, "START_METHOD", "fork")
    reader_pool = ReaderPool(tmp_path, 2)
    yield reader_pool
    reader_pool.close()


def test_all_files_are_read(pool: ReaderPool, tmp_path: Path):
    wanted = write_python_files(tmp_path, 50)
    assert list_parsed_paths(list(pool.read(wanted))) == {item.path for item, _ in wanted}


def test_unchanged_and_missing_files_are_reported(pool: ReaderPool, tmp_path: Path):
    [(first, _), result] = write_python_files(tmp_path, 2)
    (tmp_path / "1.py").unlink()
    assert list(pool.read([(first, hash_content(b"def f0(): pass\n"))])) == [first]
    assert list(pool.read([result])) == [SkippedFile("1.py", "no such file or directory")]


@pytest.mark.parametrize("how", ["crashes", "never ends"])
def test_the_file_that_breaks_a_parser_is_left_out_and_no_other(
    pool: ReaderPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
):
    def breaks(workspace_file: WalkedFile, data: bytes) -> Extract:
        while workspace_file.path == "7.py":
            if how == "crashes":
                os.kill(os.getpid(), signal.SIGSEGV)
        return extract_file(workspace_file, data)

    monkeypatch.setattr(reader_processes, "extract_file", breaks)
    monkeypatch.setattr(reader_processes, "CPU_LIMIT_S", 0)
    wanted = write_python_files(tmp_path, 40)
    read = list(pool.read(wanted))
    assert list_parsed_paths(read) == {workspace_file.path for workspace_file, _ in wanted} - {"7.py"}
    assert [item.skipped for item in read if isinstance(item, Extract) and item.file.path == "7.py"] == [
        "the parser crashed or did not end"
    ]
    assert len(read) == 40


def test_an_internal_error_costs_only_its_file(pool: ReaderPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def buggy(workspace_file: WalkedFile, data: bytes) -> Extract:
        if workspace_file.path == "1.py":
            raise RecursionError
        return extract_file(workspace_file, data)

    monkeypatch.setattr(reader_processes, "extract_file", buggy)
    wanted = write_python_files(tmp_path, 3)
    read = list(pool.read(wanted))
    assert [item.skipped for item in read if isinstance(item, Extract)] == ["", "it cannot be read: RecursionError", ""]


def test_a_file_that_is_too_large_is_not_even_opened(pool: ReaderPool):
    [read] = pool.read([(WalkedFile("none.py", 1, 300_000_000), b"")])
    assert isinstance(read, Extract)
    assert read.skipped == "larger than 2000 kB"


def read_and_wait(root: Path, count: int, typed: list[float]) -> tuple[set[str], list[float]]:
    """Read `count` files, and return their paths and the pauses in seconds.

    Args:
        root: The folder of the files.
        count: The number of files.
        typed: The seconds since the last key, one value for each question of the pool.
    """
    waited: list[float] = []
    ago = iter(typed)
    reader_pool = ReaderPool(root, 2, seconds_since_key=lambda: next(ago, math.inf), wait=waited.append)
    try:
        return list_parsed_paths(list(reader_pool.read(write_python_files(root, count)))), waited
    finally:
        reader_pool.close()


def test_while_the_user_types_every_batch_but_the_first_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reader_processes, "START_METHOD", "fork")
    read, waited = read_and_wait(tmp_path, 3 * reader_processes.BATCH_FILES, [0.1, 0.2, math.inf, 0.1])
    assert (len(read), waited) == (3 * reader_processes.BATCH_FILES, [reader_processes.PAUSE_STEP_S] * 3)


def test_a_saved_change_does_not_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reader_processes, "START_METHOD", "fork")
    assert read_and_wait(tmp_path, reader_processes.BATCH_FILES, [0.0]) == (
        {f"{n}.py" for n in range(reader_processes.BATCH_FILES)},
        [],
    )


def test_an_endless_typist_gets_an_index_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reader_processes, "START_METHOD", "fork")
    read, waited = read_and_wait(tmp_path, 3 * reader_processes.BATCH_FILES, [0.0] * 10_000)
    assert len(read) == 3 * reader_processes.BATCH_FILES
    assert sum(waited) == pytest.approx(2 * reader_processes.MAX_PAUSE_S)


def test_a_process_that_is_stuck_is_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    task, killed = Future[bytes](), list[str]()

    class Stopped:
        """A stopped process, and the task that it does not finish."""

        pid = 0

        def kill(self) -> None:
            killed.append("it")
            task.set_exception(BrokenProcessPool())

    monkeypatch.setattr(multiprocessing, "active_children", lambda: [Stopped()])
    monkeypatch.setattr(reader_processes, "POLL_INTERVAL_S", 0.01)
    monkeypatch.setattr(reader_processes, "SILENCE_LIMIT_S", 0.05)
    reader_pool = ReaderPool(tmp_path)

    assert reader_pool._wait_for_any([task]) == {task}  # pyright: ignore[reportPrivateUsage]
    assert killed == ["it"]
