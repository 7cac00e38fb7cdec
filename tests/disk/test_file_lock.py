"""The lock of a file: one holder at a time, a limited wait, and files that are no files."""

import os
from pathlib import Path

import pytest

from lsp_harness.disk import file_lock
from lsp_harness.disk.file_lock import FileLock


def test_a_second_holder_is_refused_until_the_first_one_has_released(tmp_path: Path):
    first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    first.acquire()
    with pytest.raises(BlockingIOError):
        second.acquire()
    first.release()
    second.acquire()
    with pytest.raises(BlockingIOError):
        first.acquire()
    second.release()
    assert (tmp_path / "lock").exists()


def test_a_holder_that_acquires_again_keeps_its_lock(tmp_path: Path):
    holder = FileLock(tmp_path / "lock")
    assert holder.acquire() == holder.acquire()
    holder.release()
    holder.release()
    with FileLock(tmp_path / "lock").hold():
        pass


def test_a_waiting_holder_gets_the_lock_when_it_is_released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    first.acquire()
    monkeypatch.setattr(file_lock, "sleep", lambda _: first.release())
    second.acquire(timeout_s=60)
    with pytest.raises(BlockingIOError):
        first.acquire()


def test_the_wait_for_a_lock_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    times_s = iter(range(100))
    monkeypatch.setattr(file_lock, "monotonic", lambda: next(times_s))
    monkeypatch.setattr(file_lock, "sleep", lambda _: None)
    with FileLock(tmp_path / "lock").hold(), pytest.raises(BlockingIOError):
        FileLock(tmp_path / "lock").acquire(timeout_s=5)
    assert next(times_s) < 20


def test_a_lock_is_released_after_an_error(tmp_path: Path):
    with pytest.raises(KeyError), FileLock(tmp_path / "lock").hold():
        raise KeyError
    FileLock(tmp_path / "lock").acquire()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_with_the_name_of_a_lock_does_not_stop_the_process(tmp_path: Path):
    os.mkfifo(tmp_path / "lock")
    with FileLock(tmp_path / "lock").hold():
        assert (tmp_path / "lock").is_file()


def test_a_folder_with_the_name_of_a_lock_is_an_error(tmp_path: Path):
    (tmp_path / "lock").mkdir()
    with pytest.raises(IsADirectoryError):
        FileLock(tmp_path / "lock").acquire()
