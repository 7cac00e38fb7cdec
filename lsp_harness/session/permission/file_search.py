"""The files that a wildcard of a shell may match, and those in a folder, as far as they can be listed quickly."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from lsp_harness.files.secret_search import TooManyFilesError

MAX_ENTRIES = 20_000
"""Most entries of folders that are looked at for one question."""
GROUP = re.compile(r"[@!?*+]\(.*?\)")
SET = re.compile(r"\[[!^]?\]?(?:\[[:.=][^\]]*[:.=]\]|[^\]])*\]")


@dataclass(slots=True)
class EntryBudget:
    """The number of entries of folders that may still be looked at."""

    left: int = field(default=MAX_ENTRIES)

    def take(self) -> None:
        """Count an entry. Raises TooManyFilesError."""
        self.left -= 1
        if self.left < 0:
            raise TooManyFilesError(f"there are more than {MAX_ENTRIES:,} files and folders to look at")


def expand_wildcard(pattern: str, budget: EntryBudget | None = None) -> Iterator[str]:
    """Yield the files that an absolute path with wildcards may stand for.

    A set such as `[[:alpha:]]` may be any character, and a group such as `@(a|b)` any text: so more files than a shell
    finds are yielded, and never fewer. A wildcard does not match a dot at the beginning of a name, as in bash.

    Raises:
        TooManyFilesError: There are too many files.
    """
    budget = budget or EntryBudget()
    pieces = [piece for piece in pattern.split("/") if piece]
    yield from _expand("/", pieces, budget)


def _expand(folder: str, pieces: list[str], budget: EntryBudget) -> Iterator[str]:
    if not pieces:
        yield folder
        return
    piece, rest = pieces[0], pieces[1:]
    if not re.search(r"[*?\[(]", piece):
        path = os.path.join(folder, piece)
        if os.path.lexists(path):
            yield from _expand(path, rest, budget)
        return
    if piece == "**":
        yield from _expand(folder, rest, budget) if rest else ()
        for path in list_tree(folder, budget, only_files=False):
            yield from _expand(path, rest, budget) if rest and os.path.isdir(path) else (() if rest else (path,))
        return
    matches = _compile(piece)
    for name in _list(folder, budget):
        if matches.fullmatch(name):
            yield from _expand(os.path.join(folder, name), rest, budget)


@lru_cache(maxsize=256)
def _compile(piece: str) -> re.Pattern[str]:
    """Return a pattern for all names that a piece of a path with wildcards may match."""
    text = SET.sub("?", GROUP.sub("*", piece))
    body = "".join(".*" if char == "*" else "." if char in "?[" else re.escape(char) for char in text)
    return re.compile(("" if text.startswith(".") else r"(?!\.)") + body, re.DOTALL | re.IGNORECASE)


def _list(folder: str, budget: EntryBudget) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    for _ in names:
        budget.take()
    return names


def list_tree(folder: str, budget: EntryBudget, *, only_files: bool = True) -> Iterator[str]:
    """Yield the path of each file and folder below a folder, or the file itself. Links are not followed.

    Args:
        folder: The folder, or a file.
        budget: How many entries may be looked at.
        only_files: Whether only files are yielded. Otherwise folders are, too.

    Raises:
        TooManyFilesError: There are too many.
    """
    waiting = [folder]
    if not os.path.isdir(folder):
        yield folder
        return
    while waiting:
        try:
            entries = list(os.scandir(waiting.pop()))
        except OSError:
            continue
        for entry in entries:
            budget.take()
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
                if only_files:
                    continue
            yield entry.path
