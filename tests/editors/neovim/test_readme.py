"""The steps of the README in an empty home directory. The tests run its code blocks."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pynvim
import pytest

from tests.editors.neovim.conftest import MEAN, PLUGIN, REST, need
from tests.editors.neovim.editor import Editor
from tests.test_tidy import ROOT
from tools.release_files import build_plugin, read_version


def block(language: str, having: str) -> str:
    """Return the only code block of the README in this language that contains this text."""
    page = (PLUGIN / "README.md").read_text()
    blocks = re.findall(rf"^ *```{language}\n(.*?)^ *```$", page, re.DOTALL | re.MULTILINE)
    (block_text,) = [text for text in blocks if having in text]
    return block_text


@pytest.fixture
def newcomer_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory with a small project, and `lsp-harness` with a scripted engine on the PATH."""
    home = tmp_path / "me"
    for name in [name for name in os.environ if name.startswith("XDG_") or name in ("NVIM", "NVIM_APPNAME")]:
        monkeypatch.delenv(name)
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"text": REST, "expect": "def mean"}]))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("LSP_HARNESS_ENGINE__SCRIPT", str(script))
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "lsp"))
    (home / ".config/nvim").mkdir(parents=True)
    (home / "project/.git").mkdir(parents=True)
    (home / "project/mean.py").write_text(MEAN)
    return home


def fill_in(text: str, home: Path) -> str:
    return text.replace("REPO", str(home / "clone"))


@contextlib.contextmanager
def start_neovim(home: Path) -> Iterator[Editor]:
    """Start `nvim mean.py` with the configuration of the user."""
    argv = [need("nvim"), "--embed", "--headless", str(home / "project/mean.py")]
    nvim = pynvim.attach("child", argv=argv)
    try:
        yield Editor(nvim, home / "project")
    finally:
        with contextlib.suppress(OSError, EOFError):
            nvim.command("qall!")
        nvim.close()


@pytest.mark.parametrize("way", ["archive of a release", "checkout"])
def test_a_newcomer_gets_ghost_text(newcomer_home: Path, way: str):
    if way == "checkout":
        shutil.copytree(PLUGIN, newcomer_home / "clone/editors/neovim")
        commands = fill_in(block("sh", "ln -s"), newcomer_home)
    else:
        build_plugin(ROOT, newcomer_home, read_version(ROOT))
        commands = block("sh", "tar -xzf")
    subprocess.run(["bash", "-euc", commands], check=True, cwd=newcomer_home)
    (newcomer_home / ".config/nvim/init.lua").write_text(block("lua", "setup({"))

    with start_neovim(newcomer_home) as editor:
        # no message of a wrong option or a missing file
        assert editor.messages == ""
        editor.until("require('lsp_harness.server').client(0) ~= nil")
        editor.lua("vim.api.nvim_win_set_cursor(0, { 3, 0 }) require('lsp_harness.config').debounce_ms = 50")
        editor.type("A ")
        editor.shows(REST)
        editor.hush()
        editor.type("<Tab><Esc>")
        assert editor.buffer[2] == f"    return {REST}"

        shown = editor.lua("return vim.api.nvim_eval_statusline(vim.o.statusline, {}).str")
        assert shown.endswith("3:30")
        assert editor.statusline
        assert editor.statusline in shown
        editor.nvim.command("LspHarness fix")
        editor.says("there is no diagnostic on this line")

        editor.nvim.command("checkhealth lsp_harness")
        assert [line for line in editor.buffer if "ERROR" in line or "WARNING" in line] == []
        if way == "checkout":
            editor.nvim.command("helptags ALL")
        editor.nvim.command("help lsp_harness")
        assert editor.nvim.current.buffer.name.endswith("doc/lsp_harness.txt")


def test_the_other_ways_lead_to_the_plugin_in_a_checkout(newcomer_home: Path):
    """The plugin manager is not installed, so the test only reads its specification."""
    shutil.copytree(PLUGIN, newcomer_home / "clone/editors/neovim")
    with start_neovim(newcomer_home) as editor:
        spec = editor.lua(f"return {fill_in(block('lua', 'lazy ='), newcomer_home)}")
        assert spec == {"dir": str(newcomer_home / "clone/editors/neovim"), "name": "lsp-harness", "lazy": False}
        assert Path(spec["dir"], "plugin/lsp_harness.lua").exists()
        by_hand = fill_in(block("lua", "runtimepath:prepend"), newcomer_home)
        assert not editor.lua("return (pcall(require, 'lsp_harness'))")
        assert editor.lua(f"{by_hand} return (pcall(require, 'lsp_harness'))")
