"""The folder that a command works on: its settings, the place of its index, and the output that shows the progress."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lsp_harness.config.schema import Config
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.errors import UsageError
from lsp_harness.index.index_place import IndexPlace, prepare_place

ReportProgress = Callable[[int, int], None]
"""Called with the number of items that are done, and the number of all items."""


class CommandOutput(Protocol):
    """The warnings and the progress of a command, which are shown beside its result."""

    def warn(self, sentence: str) -> None:
        """Show a sentence to the user."""
        ...

    def progress(self, title: str) -> AbstractContextManager[ReportProgress]:
        """Show the progress of some work until the context ends."""
        ...


@dataclass(frozen=True, slots=True)
class CommandProject:
    """A folder, as one command sees it.

    Attributes:
        place: The place of the folder's index. The index may not exist.
        config: The settings of the folder.
        output: Where warnings and progress are shown.
    """

    place: IndexPlace
    config: Config
    output: CommandOutput

    @property
    def root(self) -> Path:
        return self.place.root


def open_project(folder: Path, read_settings: Callable[[Path], Config], output: CommandOutput) -> CommandProject:
    """Return the project of a folder.

    Args:
        folder: The folder.
        read_settings: Returns the settings of the folder's path without symbolic links.
        output: Where warnings and progress are shown.

    Raises:
        UsageError: There is no such folder.
        ConfigError: The settings name no usable directory.
        StoreError: No place for an index can be written.
    """
    place = find_index_place(folder)
    return CommandProject(place, read_settings(place.root), output)


def find_index_place(folder: Path) -> IndexPlace:
    """Return the place of a folder's index. Raises what `open_project` raises."""
    if not folder.is_dir():
        raise UsageError(f"there is no folder {str(folder)!r}")
    return prepare_place(folder)


def require_index(project: CommandProject) -> None:
    """Raise UsageError if the settings forbid an index of the folder."""
    if not project.config.index.enabled:
        raise UsageError(f"{project.root} is not indexed, because the setting index.enabled is false; set it to true")


class QuietOutput:
    """Shows each warning once, and no progress (see `CommandOutput`)."""

    def warn(self, sentence: str) -> None:
        """Show a sentence to the user."""
        warn_once(sentence)

    @contextmanager
    def progress(self, title: str) -> Generator[ReportProgress]:
        """Drop the progress of some work."""
        yield lambda done, total: None
