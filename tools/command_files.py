"""The files that are generated from the commands: `python -m tools.command_files ROOT`."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from lsp_harness.server.commands.command_registry import EditorCommand, editor_commands
from tools import command_page, vscode_commands

GENERATORS: dict[str, Callable[[str, Sequence[EditorCommand]], str]] = {
    "docs/lsp-extensions.md": command_page.render,
    "editors/vscode/package.json": vscode_commands.render,
}
"""Path of each file in the repository → the function that returns its new text from its present text."""


def render_files(root: Path, commands: Sequence[EditorCommand]) -> dict[Path, str]:
    """Return the new text of each file below the folder of the repository."""
    return {
        (path := root / name): render(path.read_text(encoding="utf-8"), commands) for name, render in GENERATORS.items()
    }


if __name__ == "__main__":
    for path, text in render_files(Path(sys.argv[1]), editor_commands()).items():
        path.write_text(text, encoding="utf-8")
