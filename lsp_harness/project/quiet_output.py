"""The output of commands within a session, which shows its own progress."""

from collections.abc import Generator
from contextlib import contextmanager

from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.project.command_project import ReportProgress


class QuietOutput:
    """Shows each warning once, and no progress (see `CommandOutput`)."""

    def warn(self, sentence: str) -> None:
        """Show a sentence to the user."""
        warn_once(sentence)

    @contextmanager
    def progress(self, title: str) -> Generator[ReportProgress]:
        """Drop the progress of some work."""
        yield lambda done, total: None
