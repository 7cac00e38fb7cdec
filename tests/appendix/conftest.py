"""The folder of each test."""

from pathlib import Path

import pytest

from tests.appendix.bench import Bench


@pytest.fixture
def session_bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Return folders of its own for a test."""
    folders = [tmp_path / name for name in ("work", "home", "scripts")]
    for folder in folders:
        folder.mkdir(mode=0o700)
    (folders[0] / "a.txt").write_text("the text of a\n", encoding="utf-8")
    monkeypatch.setenv("LSP_HARNESS_HOME", str(folders[1]))
    for name in ("LSP_HARNESS_PROVIDER", "LSP_HARNESS_MODEL", "LSP_HARNESS_BINARY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return Bench(*folders)
