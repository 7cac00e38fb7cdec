"""The files that a wildcard of a shell may match, and those in a folder, as far as they can be listed quickly."""

import os
import re
from collections.abc import Iterator
from functools import lru_cache

from lsp_harness.files.walk import EntryBudget, walk_entries

GROUP = re.compile(r"[@!?*+]\(.*?\)")
SET = re.compile(r"\[[!^]?\]?(?:\[[:.=][^\]]*[:.=]\]|[^\]])*\]")


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
    if not os.path.isdir(folder):
        yield folder
        return
    for entry in walk_entries(folder, budget):
        if not (only_files and entry.is_dir(follow_symlinks=False)):
            yield entry.path
