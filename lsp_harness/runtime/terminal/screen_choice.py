"""The choice of the emulator: the fast library where it is installed, else the one in Python."""

from typing import Literal

from lsp_harness.runtime.terminal.screen import Screen

ScreenKind = Literal["", "ghostty", "pyte"]


def open_screen(columns: int, lines: int, kind: ScreenKind = "") -> Screen:
    """Return a new screen.

    Args:
        columns: The width.
        lines: The height.
        kind: The library. Empty is the fastest one that is installed.
    """
    # the libraries are loaded when the first agent starts
    if kind != "pyte":
        try:
            from lsp_harness.runtime.terminal.ghostty_screen import GhosttyScreen

            return GhosttyScreen(columns, lines)
        except (ImportError, OSError):
            # not installed, or its library does not fit this system
            if kind == "ghostty":
                raise
    from lsp_harness.runtime.terminal.pyte_screen import PyteScreen

    return PyteScreen(columns, lines)
