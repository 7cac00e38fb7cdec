"""Warnings and progress of a command, shown on standard error."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from lsp_harness.cli.console import warn


class TerminalOutput:
    """Shows warnings as lines, and progress as a bar if standard error is a terminal."""

    def warn(self, sentence: str) -> None:
        warn(sentence)

    @contextmanager
    def progress(self, title: str) -> Generator[Callable[[int, int], None]]:
        """Show a bar until the context ends. It is called with the number of finished items and of all items."""
        from rich.console import Console
        from rich.progress import Progress

        console = Console(stderr=True)
        with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
            task = progress.add_task(title, total=None)
            yield lambda done, total: progress.update(task, completed=done, total=total)
