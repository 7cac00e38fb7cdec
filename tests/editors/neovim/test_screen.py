"""The screen of a user: Neovim in a real terminal, with its colours.

The transcript is `docs/images/neovim.txt`; with `UPDATE_SCREENS=1` this writes it and its picture.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from lsp_harness.config.schema import Config
from tests.editors.neovim.conftest import PLUGIN, need
from tests.editors.neovim.picture import draw_svg
from tests.editors.neovim.terminal import Terminal

TRANSCRIPT = PLUGIN.parents[1] / "docs/images/neovim.txt"
TEXT = '''\
def mean(values: list[float]) -> float:
    """The average; an empty list has none."""
    total = sum(values)
    return

def area(radius):
    return 3 * raduis ** 2
'''
REST = "total / len(values)"
INIT = """
vim.o.termguicolors, vim.o.number, vim.o.cmdheight, vim.o.ruler, vim.o.showcmd = true, true, 1, false, false
vim.o.laststatus, vim.o.swapfile, vim.o.shortmess = 2, false, vim.o.shortmess .. 'FI'
vim.o.statusline = " %t %m%=%{v:lua.require'lsp_harness'.statusline()} "
vim.g.loaded_python3_provider = 0
vim.opt.runtimepath:prepend(vim.env.TEST_PLUGIN)
vim.lsp.config('lsp_harness', { cmd = vim.json.decode(vim.env.TEST_SERVER) })
require('lsp_harness').setup({ debounce_ms = 50, keymap = { accept = '<Tab>' } })
"""
DIAGNOSE = """
require('lsp_harness.config').debounce_ms = 60000
vim.diagnostic.set(vim.api.nvim_create_namespace('linter'), 0, { { %s } })
"""
FINDING = "lnum = 6, col = 15, end_col = 21, message = 'Undefined name `raduis`', source = 'Ruff', code = 'F821'"
MODEL = Config().model.path
COLUMNS = 76


def start(terminal: Terminal, folder: Path, replies: list[dict[str, object]] | None, text: str = TEXT) -> str:
    """Start Neovim with a file of the user in the terminal, and return its address.

    Without replies, the model is real.
    """
    (folder / "work/.git").mkdir(parents=True)
    (folder / "work/ruff.toml").write_text('[lint]\nselect = ["F"]\n')
    if replies is not None:
        # when an error of the opened file is shown depends on the start of the type checker
        settings = "[generation]\ncandidates = 1\n[verification]\non_open = false\n"
        (folder / "work/lsp-harness.toml").write_text(settings)
    else:
        # a repair without the model would correct the misspelt name
        (folder / "work/lsp-harness.toml").write_text("[generation]\nrepairs = false\n")
    (folder / "work/stats.py").write_text(text)
    (folder / "init.lua").write_text(INIT)
    (folder / "script.json").write_text(json.dumps(replies))
    serve = [str(Path(sys.executable).with_name("lsp-harness")), "serve"]
    environment = {
        "TERM": "tmux-256color",
        "COLORTERM": "truecolor",
        "LANG": "C.UTF-8",
        "TEST_PLUGIN": str(PLUGIN),
        "TEST_SERVER": json.dumps(serve),
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        **{f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("CONFIG", "DATA", "STATE", "CACHE")},
    }
    if replies is None:
        environment |= {name: os.environ[name] for name in ("LSP_HARNESS_HOME", "LSP_HARNESS_MODELS")}
    else:
        environment["LSP_HARNESS_HOME"] = str(folder / "home")
        environment["LSP_HARNESS_ENGINE__SCRIPT"] = str(folder / "script.json")
    address = str(folder / "nvim")
    command = [need("nvim"), "-u", str(folder / "init.lua"), "-i", "NONE", "--listen", address, "stats.py"]
    terminal.start(command, folder / "work", environment)
    terminal.until("stats.py", MODEL)
    return address


def evaluate_remotely(address: str, expression: str) -> str:
    """Return the value of a Vim expression in that Neovim."""
    command = [need("nvim"), "--server", address, "--remote-expr", expression]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def read_colour(address: str, group: str) -> str:
    """Return the colour of a highlight group as in an escape code."""
    code = f"vim.api.nvim_get_hl(0, {{ name = '{group}', link = false }}).fg"
    value = int(evaluate_remotely(address, f'luaeval("{code}")'))
    return f"38;2;{value >> 16};{value >> 8 & 255};{value & 255}m"


def write_transcript(*scenes: tuple[str, list[str]]) -> str:
    """Return the screens as text, each with the step before it."""
    width = COLUMNS
    drawn: list[str] = []
    for title, screen in scenes:
        drawn += [f"== {title} ".ljust(width, "="), *screen, ""]
    return "\n".join(drawn)


def remove_figures(shown: str) -> str:
    """Remove the numbers of tokens, which do not depend on the editor."""
    return re.sub(r" +", " ", re.sub(r"\d+/\d+ reused", "reused", shown))


def test_ghost_text_and_a_fix_have_their_colours_on_the_screen(terminal: Terminal, tmp_path: Path):
    address = start(terminal, tmp_path, [{"text": REST, "expect": "def mean"}])

    terminal.type("4GA ")
    seen = terminal.until(f"return {REST}", f"{MODEL} ready", "reused")
    assert read_colour(address, "LspHarnessGhost") + REST in seen, "in the colour of ghost text"
    ghost, ghost_colours = terminal.screen(), seen

    # stop requests, for which there is no reply, and keep the error that is to be fixed
    (tmp_path / "diagnose.lua").write_text(DIAGNOSE % FINDING)
    evaluate_remotely(address, f"execute('luafile {tmp_path}/diagnose.lua')")
    terminal.press("Tab")
    terminal.press("Escape")
    terminal.until(f"return {REST}", gone=read_colour(address, "LspHarnessGhost") + REST)

    terminal.type("7G:LspHarness fix\r")
    preview_colours = terminal.until(
        "-    return 3 * raduis ** 2",
        "+    return 3 * radius ** 2",
        "kept ✓, lint ✓",
        "<CR> or y: apply",
        f"{MODEL} ready",
    )
    preview = terminal.screen()
    terminal.type("y")
    terminal.until("  7     return 3 * radius ** 2")

    titles = "typing; the rest of the line is ghost text", ":LspHarness fix, before it is applied"
    shown = write_transcript(*zip(titles, (ghost, preview), strict=True))
    if os.environ.get("UPDATE_SCREENS"):
        TRANSCRIPT.parent.mkdir(exist_ok=True)
        TRANSCRIPT.write_text(shown)
        picture = draw_svg("Neovim", list(zip(titles, (ghost_colours, preview_colours), strict=True)), COLUMNS)
        TRANSCRIPT.with_suffix(".svg").write_text(picture)
    assert remove_figures(TRANSCRIPT.read_text()) == remove_figures(shown), "run this with UPDATE_SCREENS=1"
