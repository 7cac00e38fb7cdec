"""Tests of the place of an index when the cache cannot be written."""

import os
from pathlib import Path

import pytest

from lsp_harness.disk import file_writing
from lsp_harness.errors import ConfigError, StoreError
from lsp_harness.index.index_place import prepare_place, remove_orphaned_indexes


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def _make_folders_full(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> None:
    write = file_writing.write_all

    def full(descriptor: int, data: bytes) -> None:
        if any(str(folder) in os.readlink(f"/proc/self/fd/{descriptor}") for folder in folders):
            raise OSError(28, "No space left on device")
        write(descriptor, data)

    monkeypatch.setattr(file_writing, "write_all", full)


def test_an_index_is_made_among_temporary_files(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _make_folders_full(monkeypatch, tmp_path / "home")
    where = prepare_place(root)
    assert where.folder.is_relative_to(tmp_path / f"lsp-harness-{os.getuid()}" / "index")
    assert prepare_place(root) == where


def test_an_existing_index_stays_in_its_place(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = prepare_place(root)
    where.database.touch()
    (where.folder / "root").unlink()
    _make_folders_full(monkeypatch, where.folder)
    assert prepare_place(root) == where


def test_an_error_says_what_to_do_if_no_index_can_be_written(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _make_folders_full(monkeypatch, tmp_path)
    with pytest.raises(
        (ConfigError, StoreError), match=r"cannot be written \(No space left on device\).*LSP_HARNESS_HOME"
    ):
        prepare_place(root)


@pytest.mark.parametrize("name", ["root", "lock"])
def test_a_pipe_in_the_place_of_a_file_does_not_block(root: Path, name: str) -> None:
    where = prepare_place(root)
    (where.folder / name).unlink(missing_ok=True)
    os.mkfifo(where.folder / name)
    remove_orphaned_indexes()
    assert prepare_place(root) == where
