"""The walk through all files of a folder, also ignored ones, with a limit: for questions about secrets and rules."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lsp_harness.errors import HarnessError

MAX_ENTRIES = 20_000
"""Most entries of folders that are looked at for one question."""


class TooManyFilesError(HarnessError):
    """A folder has too many files to look at all of them."""


@dataclass(slots=True)
class EntryBudget:
    """The number of entries of folders that may still be looked at.

    Attributes:
        left: The number.
        purpose: What the look is for, for the message.
    """

    left: int = MAX_ENTRIES
    purpose: str = "look at all of them"

    def take(self) -> None:
        """Count an entry. Raises TooManyFilesError."""
        self.left -= 1
        if self.left < 0:
            raise TooManyFilesError(f"there are too many files and folders, too many to {self.purpose}")


def walk_entries(
    folder: str, budget: EntryBudget, enters: Callable[[os.DirEntry[str]], bool] = lambda folder: True
) -> Iterator[os.DirEntry[str]]:
    """Yield each file and folder below a folder. Links are not followed, and what cannot be read is left out.

    Args:
        folder: The folder.
        budget: How many entries may be looked at.
        enters: Returns whether the entries of a folder are looked at, too.

    Raises:
        TooManyFilesError: There are too many.
    """
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as iterator:
                entries = list(iterator)
        except OSError:
            # what cannot be read here cannot be read by a program, either
            continue
        for entry in entries:
            budget.take()
            yield entry
            if entry.is_dir(follow_symlinks=False) and enters(entry):
                waiting.append(entry.path)
