"""The log of a terminal: bounded, private and without secrets."""

import stat
from pathlib import Path

from lsp_harness.runtime.terminal.terminal_log import TerminalLog
from lsp_harness.runtime.terminal.terminal_streams import OutputRing

TOKEN = "sk-" + "a1B2" * 10


def test_the_output_is_in_a_file_that_only_the_user_can_read(tmp_path: Path):
    path = tmp_path / "agents" / "a.log"
    log = TerminalLog(path)
    log.write(b"one\r\n")
    log.flush()
    log.write(b"two")
    log.close()

    assert path.read_bytes() == b"one\r\ntwo"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_an_older_file_becomes_private(tmp_path: Path):
    path = tmp_path / "a.log"
    path.write_bytes(b"old\n")
    path.chmod(0o644)
    log = TerminalLog(path)
    log.write(b"new\n")
    log.close()

    assert path.read_bytes() == b"old\nnew\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_secrets_are_left_out_also_in_pieces(tmp_path: Path):
    path = tmp_path / "a.log"
    log = TerminalLog(path, ["hunter2-key", "x"])
    for byte in f"token {TOKEN} and hunter2-key x\r\n".encode():
        log.write(bytes([byte]))
        log.flush()
    log.close()

    text = path.read_text()
    assert TOKEN not in text
    assert "hunter2" not in text
    assert text.endswith(" x\n")


def test_the_size_is_bounded(tmp_path: Path):
    path = tmp_path / "a.log"
    log = TerminalLog(path, limit=10_000)
    for number in range(5000):
        log.write(f"line {number}\r\n".encode())
        log.flush()
    log.close()

    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == ["a.log", "a.log.1"]
    assert sum(file.stat().st_size for file in files) <= 20_100
    assert path.read_bytes().endswith(b"line 4999\r\n")


def test_a_folder_that_cannot_be_written_loses_the_log_only(tmp_path: Path):
    (tmp_path / "file").write_text("")
    log = TerminalLog(tmp_path / "file" / "a.log")
    log.write(b"x" * 100_000)
    log.close()
    assert (tmp_path / "file").read_text() == ""


def test_the_ring_has_the_newest_bytes_and_their_places():
    ring = OutputRing(limit=10_000)
    data = b"".join(b"%06d\n" % number for number in range(5000))
    for start in range(0, len(data), 100):
        ring.append(data[start : start + 100])

    first, newest = ring.read()
    assert first == ring.start == len(data) - len(newest)
    assert 5000 < len(newest) <= 10_000
    assert data.endswith(newest)
    assert ring.read(len(data) - 7) == (len(data) - 7, b"004999\n")
    assert ring.read(len(data) + 5) == (len(data), b"")
