"""A project folder, its checkpoints and the events that they write."""

from pathlib import Path
from typing import Any

import pytest

from lsp_harness.kernel.checkpoints.checkpoints import Checkpoints
from tests.support.checkpoint_folders import KINDS, Make, hide_git


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    if request.param == "copies":
        hide_git(monkeypatch)
    # settings of the user that would change texts
    hostile = tmp_path / "gitconfig"
    hostile.write_text(
        '[core]\n autocrlf = true\n eol = crlf\n hooksPath = /no/such\n fsmonitor = /no/such\n[filter "x"]\n'
        " clean = rev\n smudge = rev\n required = true\n"
    )
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, str(hostile))
    monkeypatch.setenv("GIT_INDEX_FILE", "/no/such/index")
    monkeypatch.setenv("GIT_DIR", "/no/such/git")
    return request.param


@pytest.fixture
def events() -> list[Any]:
    return []


@pytest.fixture
def make(root: Path, tmp_path: Path, events: list[Any]) -> Make:
    def make(**options: Any) -> Checkpoints:
        return Checkpoints(root, tmp_path / "state", events.append, **options)

    return make
