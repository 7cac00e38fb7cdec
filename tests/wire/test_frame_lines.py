"""The lines that a session and its clients exchange."""

import os
from pathlib import Path
from socket import AF_UNIX, socket, socketpair
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_harness.config.paths import runtime_folder
from lsp_harness.wire.frame_lines import decode_line, encode_line
from lsp_harness.wire.session_socket import SOCKET_VARIABLE, session_channel, socket_path


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8"))))
def test_a_frame_is_one_line(frame: dict[str, str]):
    line = encode_line(frame)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode_line(line) == frame


def test_half_of_a_surrogate_pair_does_not_break_the_line():
    assert decode_line(encode_line({"text": "a\ud800b"}))["text"].startswith("a")


@pytest.mark.parametrize("line", [b"", b"[]", b"5", b"{", b"\xff", b"[" * 100_000, b'{"a": ' * 100_000])
def test_a_line_that_is_no_object_is_refused(line: bytes):
    with pytest.raises(ValueError):  # noqa: PT011 - json's own message
        decode_line(line)


@pytest.mark.parametrize("variables", [{"LSP_HARNESS_HOME": "home"}, {"XDG_RUNTIME_DIR": "run"}, {"TMPDIR": "tmp"}])
def test_the_socket_is_in_the_runtime_folder(
    variables: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("LSP_HARNESS_HOME", "XDG_RUNTIME_DIR", "TMPDIR", SOCKET_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        (tmp_path / value).mkdir(mode=0o700)
        monkeypatch.setenv(name, str(tmp_path / value))
    assert socket_path(tmp_path).parent == runtime_folder()


def test_a_link_to_a_folder_has_the_socket_of_the_folder(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    environment = {"LSP_HARNESS_HOME": str(tmp_path)}
    assert socket_path(tmp_path / "link", environment) == socket_path(tmp_path / "real", environment)
    assert socket_path(tmp_path / "real", environment) != socket_path(tmp_path, environment)
    assert socket_path(tmp_path, {SOCKET_VARIABLE: "/run/mine"}) == Path("/run/mine")


@pytest.fixture
def listener(tmp_path: Path) -> Any:
    path = tmp_path / "session.sock"
    with socket(AF_UNIX) as opened:
        opened.bind(str(path))
        path.chmod(0o600)
        yield path


def test_only_a_socket_of_this_user_is_trusted(listener: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert session_channel(listener).problem() == ""
    (tmp_path / "link").symlink_to(listener)
    assert "is not a socket" in session_channel(tmp_path / "link").problem()
    (tmp_path / "file").touch()
    assert "is not a socket" in session_channel(tmp_path / "file").problem()
    assert "there is no socket" in session_channel(tmp_path / "none").problem()
    listener.chmod(0o666)
    assert "mode must be 0600" in session_channel(listener).problem()
    listener.chmod(0o600)
    tmp_path.chmod(0o777)
    assert "other users can replace files" in session_channel(listener).problem()
    tmp_path.chmod(0o700)
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    assert "belongs to another user" in session_channel(listener).problem()


def test_only_a_program_of_this_user_is_trusted(monkeypatch: pytest.MonkeyPatch):
    ours, theirs = socketpair(AF_UNIX)
    with ours, theirs:
        assert session_channel(Path("any")).peer_problem(ours) == ""
        user = os.getuid()
        monkeypatch.setattr(os, "getuid", lambda: user + 1)
        assert (
            session_channel(Path("any")).peer_problem(ours) == f"the program behind the socket belongs to user {user}"
        )
