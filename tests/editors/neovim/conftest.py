"""Neovim with the plugin installed the way the README says, in a home of its own."""

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pynvim
import pytest

from tests.editors.neovim.editor import Editor

HERE = Path(__file__).parent
PLUGIN = HERE.parents[2] / "editors" / "neovim"
FAKE = [sys.executable, str(HERE / "fake_server.py")]

Start = Callable[..., Editor]


def need(program: str) -> str:
    """Beside our Python, or anywhere. Where CI misses it something is broken; elsewhere it is just not installed."""
    beside = os.path.dirname(sys.executable)
    found = shutil.which(program, path=os.pathsep.join([beside, os.environ["PATH"]]))
    if found is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"{program} is not installed")
    return found


@contextlib.contextmanager
def attached(argv: list[str]) -> Iterator[pynvim.Nvim]:
    nvim = pynvim.attach("child", argv=[need("nvim"), "--embed", "--headless", "-i", "NONE", "-n", *argv])
    try:
        yield nvim
    finally:
        # it is gone before it can answer
        with contextlib.suppress(OSError, EOFError):
            nvim.command("qall!")
        nvim.close()


@contextlib.contextmanager
def bare() -> Iterator[pynvim.Nvim]:
    """Without any configuration, only able to `require` the plugin."""
    with attached(["--clean", "--cmd", f"set runtimepath^={PLUGIN}"]) as nvim:
        yield nvim


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Starts a Neovim whose server is `command`; `before` is Lua that runs ahead of everything else."""

    def run(command: list[str] = FAKE, before: str = "") -> Editor:
        for kind in ("CONFIG", "DATA", "STATE", "CACHE", "RUNTIME"):
            folder = tmp_path / kind.lower()
            folder.mkdir(mode=0o700)
            monkeypatch.setenv("XDG_RUNTIME_DIR" if kind == "RUNTIME" else f"XDG_{kind}_HOME", str(folder))
        package = tmp_path / "data/nvim/site/pack/lsp-harness/start/lsp-harness"
        package.parent.mkdir(parents=True)
        package.symlink_to(PLUGIN)
        monkeypatch.setenv("TEST_SERVER", json.dumps(command))
        monkeypatch.setenv("TEST_BEFORE", before)
        monkeypatch.delenv("NVIM", raising=False)
        nvim = running.enter_context(attached(["-u", str(HERE / "init.lua")]))
        work = tmp_path / "work"
        (work / ".git").mkdir(parents=True)
        return Editor(nvim, work)

    with contextlib.ExitStack() as running:
        yield run


@pytest.fixture
def editor(start: Start) -> Editor:
    """An empty Python file, attached to the fake server, in normal mode."""
    editor = start()
    editor.open()
    return editor
