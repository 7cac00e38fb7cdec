"""Only regular files are read, up to a limit, and in UTF-8."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from lsp_harness.disk.file_reading import read_end, read_file, read_start, read_text
from lsp_harness.errors import FileError, FileMissing


def _make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def _make_link_to(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (os.mkfifo, "is a named pipe, not a regular file"),
        (os.mkdir, "is a folder, not a regular file"),
        (_make_link_to("/dev/zero"), "is a link to a device, not a regular file"),
        (_make_link_to("nothing"), "is a link to a file that does not exist"),
        (_make_link_to("x"), "cannot be read: Too many levels of symbolic links"),
    ],
)
def test_a_path_that_is_no_regular_file_is_named_and_not_waited_for(
    tmp_path: Path, make: Callable[[Path], None], said: str
) -> None:
    make(tmp_path / "x")
    with pytest.raises(FileError, match=said):
        read_file(tmp_path / "x")


def test_a_link_to_an_open_pipe_of_this_process_is_refused(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    (tmp_path / "x").symlink_to(f"/proc/self/fd/{reader}")
    with pytest.raises(FileError, match="is a link to a named pipe"):
        read_file(tmp_path / "x")
    os.close(reader)
    os.close(writer)


def test_a_socket_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # the path of a socket has to be short
    monkeypatch.chdir(tmp_path)
    _make_socket(Path("s"))
    with pytest.raises(FileError, match="is a socket"):
        read_file(tmp_path / "s")


def test_a_missing_file_has_its_own_error(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path / "none" / "x"):
        with pytest.raises(FileMissing):
            read_file(path)


def test_a_name_that_no_file_can_have_is_a_problem() -> None:
    with pytest.raises(FileError):
        read_file(Path("a\0b"))


def test_a_link_to_a_regular_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("here")
    (tmp_path / "link").symlink_to("x")
    assert read_text(tmp_path / "link") == "here"


def test_a_file_that_is_replaced_by_a_pipe_does_not_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    path.write_text("a file")
    opened = os.open

    def late(name: object, flags: int, *more: int) -> int:
        path.unlink()
        os.mkfifo(path)
        return opened(path, flags, *more)

    monkeypatch.setattr(os, "open", late)
    with pytest.raises(FileError, match="a named pipe"):
        read_file(path)


def test_a_file_above_the_limit_is_refused_but_its_ends_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"0123456789")
    assert read_file(path, 10) == b"0123456789"
    with pytest.raises(FileError, match="larger than 9 bytes"):
        read_file(path, 9)
    assert (read_start(path, 3), read_end(path, 3), read_end(path, 30)) == (b"012", b"789", b"0123456789")


@pytest.mark.parametrize("size", [1 << 40])
def test_a_file_of_a_terabyte_costs_no_memory(tmp_path: Path, size: int) -> None:
    path = tmp_path / "x"
    with path.open("wb") as file:
        file.truncate(size)
    with pytest.raises(FileError, match="larger than"):
        read_file(path)


@pytest.mark.parametrize(
    ("data", "text"), [(b"\xef\xbb\xbfa = 1\n", "a = 1\n"), ("é".encode(), "é"), (b"", ""), (b"a\0b", "a\0b")]
)
def test_text_is_utf_8_with_or_without_a_mark(tmp_path: Path, data: bytes, text: str) -> None:
    (tmp_path / "x").write_bytes(data)
    assert read_text(tmp_path / "x") == text


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("a = 1\n".encode("utf-16"), "is UTF-16; save it as UTF-8"),
        ("x\nc = é".encode("latin-1"), "is not UTF-8 in line 2; save it as UTF-8"),
        (b"\xed\xa0\x80", "is not UTF-8 in line 1"),
    ],
)
def test_other_text_is_named(tmp_path: Path, data: bytes, said: str) -> None:
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(FileError, match=said):
        read_text(tmp_path / "x")
