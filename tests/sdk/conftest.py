"""Fixtures: a fake program, and the rule that no process of it is left."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lsp_harness.sdk import process_session
from tests.sdk.fake_session import write_fake

FakeProgram = Callable[..., Path]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Fail if a test leaves a session open, and end it."""
    yield
    left = list(process_session.live_sessions)
    for session in left:
        session.kill()
    assert left == []


@pytest.fixture
def write_fake_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProgram:
    """Return a function that makes a program the `lsp-harness` of this test."""
    folder = tmp_path / "program"
    folder.mkdir()

    def make(body: str = "ready()\nserve()") -> Path:
        path = write_fake(folder, body)
        monkeypatch.setenv("LSP_HARNESS_BINARY", str(path))
        return path

    return make


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder, with a user of its own."""
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for name in ("LSP_HARNESS_BINARY", "LSP_HARNESS_PROVIDER", "LSP_HARNESS_MODEL"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("the text of a\n")
    return folder
