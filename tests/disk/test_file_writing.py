"""Tests of writing files: a file of the user is replaced completely or not at all."""

import errno
import os
import stat
from pathlib import Path

import pytest

from lsp_harness.disk import file_writing, renaming
from lsp_harness.disk.file_writing import open_for_append, probe_folder, replace_file, write_all, write_own_file
from lsp_harness.errors import FileError, StaleDocument

OLD, NEW = b"the old text, which is longer\n", b"the new text\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "a.py"
    path.parent.mkdir()
    path.write_bytes(OLD)
    return path


def test_mode_and_owner_stay(file: Path) -> None:
    file.chmod(0o4750)
    if os.geteuid() == 0:
        os.chown(file, 4242, 4343)
        file.chmod(0o4750)
    before = file.stat()
    replace_file(file, NEW)
    after = file.stat()
    assert file.read_bytes() == NEW
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert after.st_ino != before.st_ino
    assert os.listdir(file.parent) == ["a.py"]


def test_extended_attributes_stay(file: Path) -> None:
    try:
        os.setxattr(file, "user.note", b"mine")
    except OSError:
        pytest.skip("the file system of the tests has no attributes")
    replace_file(file, NEW)
    assert os.getxattr(file, "user.note") == b"mine"


def test_a_link_stays_a_link(file: Path) -> None:
    link = file.parent.parent / "link.py"
    link.symlink_to("folder/a.py")
    replace_file(link, NEW)
    assert (os.readlink(link), file.read_bytes()) == ("folder/a.py", NEW)
    assert sorted(os.listdir(link.parent)) == ["folder", "link.py"]


@pytest.mark.parametrize("new", [NEW, OLD * 1000, b""])
def test_a_replaced_file_has_the_new_text_under_all_its_hard_links(file: Path, new: bytes) -> None:
    other = file.with_name("b.py")
    os.link(file, other)
    replace_file(file, new)
    assert other.read_bytes() == file.read_bytes() == new
    assert os.path.samefile(file, other)


@pytest.mark.parametrize(
    ("call", "names"),
    [("write", 1), ("fsync", 1), ("replace", 1), ("fchmod", 1), ("open", 1), ("posix_fallocate", 2)],
)
def test_a_failed_write_keeps_the_old_text_and_leaves_no_other_file(
    file: Path, monkeypatch: pytest.MonkeyPatch, call: str, names: int
) -> None:
    if names == 2:
        os.link(file, file.with_name("b.py"))

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        with pytest.raises(
            FileError, match=r"a\.py was not changed: no space left on device; free some space on the disk"
        ):
            replace_file(file, NEW)
    assert file.read_bytes() == OLD
    assert sorted(os.listdir(file.parent)) == ["a.py", "b.py"][:names]


def test_an_interruption_leaves_no_temporary_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        replace_file(file, NEW)
    assert (file.read_bytes(), os.listdir(file.parent)) == (OLD, ["a.py"])


def test_a_path_that_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "x").symlink_to("/dev/null")
    with pytest.raises(FileError, match="not a regular file"):
        replace_file(tmp_path / "x", NEW)


def test_a_file_is_written_completely_by_short_writes(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, bytes(data[:3])))
    descriptor = os.open(file, os.O_WRONLY | os.O_TRUNC)
    write_all(descriptor, NEW)
    os.close(descriptor)
    assert file.read_bytes() == NEW


@pytest.mark.parametrize("target", ["pipe", "/dev/zero", "nothing"])
def test_our_own_file_replaces_a_pipe_or_a_device(tmp_path: Path, target: str) -> None:
    for name, make in (
        ("a", lambda path: write_own_file(path, NEW)),
        ("b", lambda path: write_all(open_for_append(path), NEW)),
    ):
        path = tmp_path / name
        os.mkfifo(path) if target == "pipe" else path.symlink_to(target)
        make(path)
        assert path.read_bytes() == NEW
        assert stat.S_ISREG(path.lstat().st_mode)
        assert stat.S_IMODE(path.lstat().st_mode) == 0o600


def test_a_folder_is_tried_by_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    probe_folder(tmp_path)
    assert os.listdir(tmp_path) == []

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(file_writing, "write_all", full)
    with pytest.raises(OSError, match="full"):
        probe_folder(tmp_path)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("is_replaced", [True, False])
def test_a_save_in_the_moment_of_the_change_is_not_lost(
    file: Path, is_replaced: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = file.read_bytes()
    replace_file(file, b"new\n", before)
    assert file.read_bytes() == b"new\n"

    def save_first(new: Path, target: Path) -> None:
        monkeypatch.undo()
        if is_replaced:
            (target.parent / "saved").write_bytes(b"by the user\n")
            (target.parent / "saved").rename(target)
        else:
            target.write_bytes(b"by the user\n")
        file_writing.exchange(new, target)

    monkeypatch.setattr(file_writing, "exchange", save_first)
    with pytest.raises(StaleDocument, match="was changed just now"):
        replace_file(file, b"newer\n", b"new\n")
    assert file.read_bytes() == b"by the user\n"
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_two_files_exchange_their_names_on_any_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for renameat in (renaming._renameat2, None):
        monkeypatch.setattr(renaming, "_renameat2", renameat)
        one.write_text("1")
        two.write_text("2")
        renaming.exchange(one, two)
        assert (one.read_text(), two.read_text()) == ("2", "1")
        with pytest.raises(FileExistsError):
            renaming.rename_new(one, two)
        renaming.rename_new(one, tmp_path / "three")
        (tmp_path / "three").unlink()
