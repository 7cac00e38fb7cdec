"""Tests that ruff is never started if it would wait for a settings file for ever."""

import os
from pathlib import Path

import pytest

from lsp_harness.disk import file_warnings
from lsp_harness.text.document import Document
from lsp_harness.verify.ruff_linter import Ruff

pytestmark = pytest.mark.process


@pytest.mark.parametrize("kind", ["pipe", "device"])
async def test_ruff_runs_without_settings_that_block(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    file_warnings.forget_warnings()
    bad = tmp_path / "pyproject.toml"
    os.mkfifo(bad) if kind == "pipe" else bad.symlink_to("/dev/zero")
    file = tmp_path / "deep" / "a.py"
    file.parent.mkdir()
    document = Document.from_text(file.as_uri(), b"import os\n")
    assert [result.finding.code for result in await Ruff().check(document, file, tmp_path)] == ["F401"]
    assert caplog.messages == [f"{bad} is no regular file, and ruff would wait for it; it is asked without settings"]


async def test_settings_in_a_folder_below_a_blocked_file_are_used(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pyproject.toml")
    file = tmp_path / "deep" / "a.py"
    file.parent.mkdir()
    (file.parent / "ruff.toml").write_text('lint.ignore = ["F401"]\n')
    assert list(await Ruff().check(Document.from_text(file.as_uri(), b"import os\n"), file, tmp_path)) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ruff.toml", 'extend = "bad"'),
        (".ruff.toml", 'extend = "/dev/zero"'),
        ("pyproject.toml", '[tool.ruff]\nextend = "$BASE/bad"'),
        ("ruff.toml", 'extend = "more.toml"'),
    ],
)
async def test_settings_that_extend_a_pipe_are_ignored(
    tmp_path: Path, name: str, text: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    file_warnings.forget_warnings()
    monkeypatch.setenv("BASE", str(tmp_path))
    os.mkfifo(tmp_path / "bad")
    (tmp_path / "more.toml").write_text('extend = "bad"')
    (tmp_path / name).write_text(text)
    file = tmp_path / "a.py"
    document = Document.from_text(file.as_uri(), b"import os\n")
    assert [result.finding.code for result in await Ruff().check(document, file, tmp_path)] == ["F401"]
    [message] = caplog.messages
    assert message.endswith(" is no regular file, and ruff would wait for it; it is asked without settings")
