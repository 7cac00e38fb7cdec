"""A temporary project in which tests run commands, with scripted replies of the engine."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lsp_harness.cli.main import main


class CommandResult(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Shell:
    """A shell that runs commands in this process, in its folder."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def file(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def set(self, name: str, value: str) -> None:
        self._monkeypatch.setenv(name, value)

    def replies(self, *texts: str) -> None:
        """Let the engine give these replies, one for each request."""
        script = self.file("script.json", json.dumps([{"text": text} for text in texts]))
        self.set("LSP_HARNESS_ENGINE__SCRIPT", str(script))

    def run(self, *arguments: str) -> CommandResult:
        with pytest.raises(SystemExit) as end:
            main(list(arguments))
        out, err = self._capsys.readouterr()
        assert "Traceback" not in out + err
        return CommandResult(end.value.code if isinstance(end.value.code, int) else 1, out, err)


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "ruff.toml").write_text('[lint]\nselect = ["F"]\n')
    (folder / "lsp-harness.toml").write_text("[generation]\ncandidates = 1\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LSP_HARNESS_MODELS", str(tmp_path / "models"))
    monkeypatch.delenv("LSP_HARNESS_ENGINE__SCRIPT", raising=False)
    return Shell(folder, capsys, monkeypatch)
