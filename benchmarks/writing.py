"""A real Neovim with the plugin, the real server and its engine, in which recorded edits are written."""

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psutil
from pynvim import Nvim

from benchmarks.engine.real_edits import RealEdit
from benchmarks.stale import Mark, Offer, Place, View
from lsp_harness.config.load import load
from lsp_harness.inference.models.model_files import resolve_model
from tests.editors.neovim.conftest import HERE, PLUGIN, attach_neovim

WATCH = Path(__file__).with_name("watch.lua")
SERVER, ENGINE = "serve", "lsp_harness.engine.main"
SERVE = [sys.executable, "-m", "lsp_harness", SERVER]
BEFORE = """
_G.options = { debounce_ms = %d, rest_ms = 150 }
_G.watching = dofile(%s)
_G.watching.start()
"""
DEBOUNCE_MS = 30
"""The plugin's default, which the tests' own configuration changes."""
SECONDS, START = 60, 180
"""In which a server must be there, and its engine."""


@dataclass(frozen=True, slots=True)
class ScreenLook:
    """The state of the screen, and the frames since the last look.

    `raw` has the counts and times as `watch.lua` has them.
    """

    view: View
    offers: tuple[Offer, ...]
    frames: tuple[View, ...]
    """The states in which ghost text was drawn since the last look."""
    raw: dict[str, Any]


class Writing:
    """A Neovim with one open file at a time."""

    def __init__(self, nvim: Nvim, folder: Path) -> None:
        self.nvim = nvim
        self.folder = folder
        self._edit = RealEdit("", "", "", "", "")

    def open(self, edit: RealEdit) -> None:
        """Enter insert mode where something is missing. The server is attached."""
        path = self.folder / edit.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(edit.before + edit.after, encoding="utf-8", newline="")
        self.nvim.input("<Esc>")
        self.nvim.exec_lua("vim.cmd.edit({ vim.fn.fnameescape(...), bang = true }) watching.plain()", str(path))
        attached = "return vim.wait(..., function() return require('lsp_harness.server').client(0) ~= nil end, 5)"
        if not self.nvim.exec_lua(attached, SECONDS * 1000):
            raise RuntimeError(f"no server for {edit.path}: {self.nvim.command_output('messages')}")
        row, col = edit.before.count("\n") + 1, len(edit.before[edit.before.rfind("\n") + 1 :].encode())
        self.nvim.current.window.cursor = (row, col)
        self.press("i")
        self._edit = edit

    def ready(self) -> None:
        """Wait until the engine has started, which opening a file causes. Raises RuntimeError."""
        code = """
            return vim.wait(..., function()
              return vim.list_contains({ 'ready', 'busy' }, (watching.status() or {}).engine)
            end, 20)
        """
        if not self.nvim.exec_lua(code, 1000 * START):
            raise RuntimeError(f"the engine did not come up: {self.nvim.exec_lua('return watching.status()')}")

    def close(self) -> None:
        self.nvim.input("<Esc>")
        self.nvim.command("bwipeout!")

    def press(self, key: str) -> None:
        """Press one key, and wait until its effects have ended."""
        self.nvim.input(key)
        self.nvim.eval("1")

    def look(self) -> ScreenLook:
        raw = self.nvim.exec_lua("return watching.look()")
        # what the screen was told, which nobody reads here, or it would be kept
        self.nvim._session._pending_messages.clear()
        return ScreenLook(make_view(raw), tuple(read_offers(raw["offers"])), tuple(map(make_view, raw["frames"])), raw)

    def typed_text(self, look: ScreenLook) -> str | None:
        """Return the text that was inserted so far, or None if something else in the file has changed."""
        before, now = self._edit.before, look.view.place
        after = self._edit.after.removesuffix("\n")
        whole = now.before.startswith(before) and now.after == after
        return now.before[len(before) :] if whole else None

    # -- processes
    def process(self, name: str) -> int | None:
        """Return the process of the server or of its engine, if it runs."""
        for child in psutil.Process(self.nvim.funcs.getpid()).children(recursive=True):
            with suppress(psutil.Error):
                if name in child.cmdline():
                    return child.pid
        return None


def read_offers(rows: Iterable[dict[str, Any]]) -> Iterator[Offer]:
    for row in rows:
        yield Offer(Place(row["before"], row["after"]), tuple(row["texts"]), row.get("id") or "", row["number"])


def make_view(row: dict[str, Any]) -> View:
    marks = tuple(Mark(mark["row"], mark["col"], mark["text"]) for mark in row["marks"])
    place = Place(row["before"], row["after"])
    return View(place, row["row"], row["col"], row["inserting"], marks, row["offered"])


@contextmanager
def open_workspace() -> Iterator[Writing]:
    """Yield a workspace in a temporary home, in which only the models are those of the user."""
    config, _ = load()
    models = resolve_model(config.model.path).parent
    with tempfile.TemporaryDirectory(prefix="lh-") as name, patch.dict(os.environ):
        folder = Path(name).resolve()
        for kind in ("CONFIG", "DATA", "STATE", "CACHE", "RUNTIME"):
            (folder / kind.lower()).mkdir(mode=0o700)
            os.environ["XDG_RUNTIME_DIR" if kind == "RUNTIME" else f"XDG_{kind}_HOME"] = str(folder / kind.lower())
        package = folder / "data/nvim/site/pack/lsp-harness/start/lsp-harness"
        package.parent.mkdir(parents=True)
        package.symlink_to(PLUGIN)
        os.environ.setdefault("LSP_HARNESS_MODELS", str(models))
        os.environ["LSP_HARNESS_HOME"] = str(folder / "home")
        os.environ["TEST_SERVER"] = json.dumps(SERVE)
        os.environ["TEST_BEFORE"] = BEFORE % (DEBOUNCE_MS, json.dumps(str(WATCH)))
        os.environ.pop("NVIM", None)
        (folder / "work/.git").mkdir(parents=True)
        with attach_neovim(["-u", str(HERE / "init.lua")]) as nvim:
            # without a screen nothing is drawn
            nvim.ui_attach(120, 40, rgb=True, ext_linegrid=True)
            nvim.command(f"cd {folder / 'work'}")
            here = Writing(nvim, folder / "work")
            try:
                yield here
            finally:
                # before the editor goes, which may leave nothing behind
                if engine := here.process(ENGINE):
                    _end_process(engine)


def _end_process(pid: int) -> None:
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        process.terminate()
        process.wait(20)
