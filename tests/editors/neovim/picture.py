"""Draws terminal screens from their escape codes, as an SVG that loads no other file."""

import re
from collections.abc import Sequence
from io import StringIO

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

FOREIGN = re.compile(r"@font-face \{\{.*?\}\}|<!--.*?-->", re.DOTALL)
"""In rich's form: fonts from elsewhere, and who made it."""
DARK = TerminalTheme(
    (20, 22, 27),
    (224, 226, 234),
    [
        *((7, 8, 13), (255, 192, 185), (179, 246, 192), (252, 224, 148)),
        *((166, 219, 255), (255, 202, 255), (140, 248, 247), (238, 241, 248)),
    ],
)
"""Neovim's own dark colours."""


def draw_svg(title: str, scenes: Sequence[tuple[str, str]], columns: int) -> str:
    """Return a picture of screens, each with the step before it."""
    console = Console(record=True, width=columns, file=StringIO(), force_terminal=True, legacy_windows=False)
    for step, screen in scenes:
        console.print(Text(f"▌ {step}", style="bold #1c1d23 on #b3f6c0"), no_wrap=True, crop=True)
        console.print(Text.from_ansi(screen.rstrip("\n")), no_wrap=True, crop=True)
        console.print()
    form = FOREIGN.sub("", CONSOLE_SVG_FORMAT).replace("Fira Code", "DejaVu Sans Mono")
    return console.export_svg(title=title, theme=DARK, code_format=form, unique_id="screen")
