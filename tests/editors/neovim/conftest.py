"""Fixtures: a Neovim with the plugin, installed as the README says, with its own home directory."""

import contextlib
import json
import os
import select
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pynvim
import pytest

from tests.editors.neovim.editor import Editor
from tests.editors.neovim.terminal import Terminal
from tests.support.programs import find_program_problem

HERE = Path(__file__).parent
PLUGIN = HERE.parents[2] / "editors" / "neovim"
FAKE = [sys.executable, str(HERE / "fake_server.py")]

SERVE = [str(Path(sys.executable).with_name("lsp-harness")), "serve"]

REST = "total / len(values)"
MEAN = "def mean(values):\n    total = sum(values)\n    return\n"
"""A text that a scripted engine completes with `REST`."""

Start = Callable[..., Editor]
Real = Callable[..., Editor]


def need(program: str) -> str:
    """Return the path of a program, next to our Python or on the PATH. Without it, skip the test, but fail in CI."""
    beside = os.path.dirname(sys.executable)
    executable = shutil.which(program, path=os.pathsep.join([beside, os.environ["PATH"]]))
    if problem := find_program_problem(executable or program):
        (pytest.fail if os.environ.get("CI") else pytest.skip)(problem)
    return executable or program


@contextlib.contextmanager
def attach_neovim(argv: list[str]) -> Iterator[pynvim.Nvim]:
    """Start a Neovim that ends with the context. Its servers must end with it."""
    nvim = pynvim.attach("child", argv=[need("nvim"), "--embed", "--headless", "-i", "NONE", "-n", *argv])
    with contextlib.ExitStack() as watched:
        started: list[int] = []
        try:
            yield nvim
            for child in psutil.Process(nvim.funcs.getpid()).children(recursive=True):
                # a child may have ended; an engine outlives its server by design
                with contextlib.suppress(ProcessLookupError, psutil.NoSuchProcess):
                    if "lsp_harness.engine.main" in child.cmdline():
                        continue
                    started.append(os.pidfd_open(child.pid))
                    watched.callback(os.close, started[-1])
        finally:
            # Neovim ends before it can answer
            with contextlib.suppress(OSError, EOFError):
                nvim.command("qall!")
            nvim.close()
        # a pidfd is readable at the end of a process, although init may need seconds to reap it
        end = time.monotonic() + 20
        for ended in started:
            ready, _, _ = select.select([ended], [], [], max(0.0, end - time.monotonic()))
            assert ready, "a server outlives its editor"


@contextlib.contextmanager
def start_bare_neovim() -> Iterator[pynvim.Nvim]:
    """Start a Neovim without any configuration, which can only `require` the plugin."""
    with attach_neovim(["--clean", "--cmd", f"set runtimepath^={PLUGIN}"]) as nvim:
        yield nvim


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Start a Neovim whose server is `command`. `before` is Lua that runs before everything else."""

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
        nvim = running.enter_context(attach_neovim(["-u", str(HERE / "init.lua")]))
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


@pytest.fixture
def start_real_editor(start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Real:
    """Start an editor that is attached to `lsp-harness serve`, with the cursor on the third line.

    The engine has these replies and no others: one request too many is an error in the log. Without `repairs`, each fix
    sends a request to the engine.
    """

    def run(
        *replies: dict[str, Any], text: str = MEAN, before: str = "", settings: str = "", repairs: bool = True
    ) -> Editor:
        script = tmp_path / "script.json"
        script.write_text(json.dumps(replies))
        monkeypatch.setenv("LSP_HARNESS_ENGINE__SCRIPT", str(script))
        monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
        # the title of a fix says what passed once it is ready, so it would depend on the time
        monkeypatch.setenv("LSP_HARNESS_BACKGROUND__PREPARE_FIXES", "0")
        editor = start(SERVE, before=before)
        (editor.folder / "ruff.toml").write_text('[lint]\nselect = ["F"]\n')
        ours = f"[generation]\ncandidates = 1\nrepairs = {str(repairs).lower()}\n[verification]\ndebounce_ms = 1\n"
        (editor.folder / "lsp-harness.toml").write_text(ours + settings)
        # keys in quick succession lead to one request
        editor.lua("require('lsp_harness.config').debounce_ms = 50")
        editor.nvim.command(f"cd {editor.folder}")
        editor.open("mean.py", text)
        editor.lua("vim.api.nvim_win_set_cursor(0, { 3, 0 })")
        return editor

    return run


@pytest.fixture
def editor_with_undefined_name(start_real_editor: Real) -> Editor:
    """An editor in which the accepted text has an undefined name, and the server has found it."""
    # without the errors that are shown before an edit is verified, and without checks that wait for a checker or the
    # index, a diagnostic says that the verdict is there
    settings = 'on_open = false\ntype_check = "off"\ntest = false\n'
    editor = start_real_editor({"text": "total / count", "expect": "def mean"}, settings=settings)
    editor.type("A ")
    editor.shows("total / count")
    editor.hush()
    editor.type("<Tab><Esc>")
    editor.until("#vim.diagnostic.get(0) == 1")
    return editor


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal(need("tmux"), tmp_path, columns=76, rows=18)
    yield terminal
    terminal.close()
