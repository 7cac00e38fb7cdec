"""Which files the user's ignore files name: `.gitignore`, `.git/info/exclude` and our own `.lspharnessignore`.

The rules are git's: of the patterns that match the last one counts, deeper files count more, and nothing within an ignored
folder can be taken back. `.lspharnessignore` has the same syntax and the last word over git's files, so that it can also take
back what they ignore. Rules lie in the workspace folder, in those on the way to a file, and above, up to the repository's.
Each file is read again when its time or size changes.
"""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_harness.disk.file_reading import UTF_16_BOMS, read_problem, read_start, read_text
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.errors import FileMissing, FileProblem
from lsp_harness.files.byte_text import path_to_byte_text
from lsp_harness.files.folders import outermost_folder
from lsp_harness.files.ignore_patterns import compile_pattern

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

GIT_EXCLUDE_FILE = ".git/info/exclude"
IGNORE_FILE_NAMES = (GIT_EXCLUDE_FILE, ".gitignore", ".lspharnessignore")
"""The weakest first."""
MAX_FILE_BYTES = 1_000_000
"""Bytes of an ignore file that are read; more is no list of patterns."""
MAX_PATTERN_BYTES = 4096
"""Bytes of a line that are a pattern: no path is longer."""
UTF_8_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The patterns of the file `path`, about what lies in `folder`, and what the file was like when they were read."""

    path: str
    folder: str
    rank: int
    stamp: tuple[int, int]
    spec: "GitIgnoreSpec"


class IgnoreFiles:
    """The ignore files of a front end's workspace. `roots` may change; those that are there when it is asked count."""

    def __init__(self, roots: Sequence[Path] = ()) -> None:
        self._roots = roots
        self._read: dict[str, IgnoreRules] = {}

    def by(self, file: Path) -> str:
        """The ignore file that `file` is ignored by, as it is called from the workspace; empty where it is not."""
        root = outermost_folder(file, self._roots)
        folders = self._folders(file, root)
        rules: Sequence[IgnoreRules] = ()
        for folder, below in pairwise((*folders, file)):
            rules = self.within(str(folder), rules)
            # a folder first: what is in an ignored one is ignored, whatever is said of it
            if by := find_ignoring_file(rules, str(below), folder=below is not file):
                if root is None or not root.is_relative_to(below):
                    return os.path.relpath(by, root or folders[0]).replace(os.sep, "/")
                # whoever opens a folder that is ignored means it
                rules = ()
        return ""

    def above(self, folder: Path) -> Sequence[IgnoreRules]:
        """The rules from outside of a folder that count in it."""
        rules: Sequence[IgnoreRules] = ()
        for outer, below in pairwise((*self._folders(folder, outermost_folder(folder, self._roots)), folder)):
            rules = self.within(str(outer), rules)
            rules = () if find_ignoring_file(rules, str(below), folder=True) else rules
        return rules

    def within(self, folder: str, outer: Sequence[IgnoreRules]) -> Sequence[IgnoreRules]:
        """The rules that count for what is in a folder, the last word first; `outer` are those of the folder around it."""
        own = [rules for rank, name in enumerate(IGNORE_FILE_NAMES) if (rules := self._rules(rank, name, folder))]
        if not own:
            return outer
        return sorted((*outer, *own), key=lambda rules: (rules.rank, len(rules.folder)), reverse=True)

    def _folders(self, file: Path, root: Path | None) -> list[Path]:
        """The folders whose rules count for a file, the outermost first. Of workspace folders within each other the outer one, which is
        the `root`, sees more rules."""
        up = list(file.parents)
        own = up.index(root) if root in up else 0
        repository = next((n for n, folder in enumerate(up) if os.path.lexists(f"{folder}/.git")), own)
        return up[max(own, repository) :: -1]

    def _rules(self, rank: int, name: str, folder: str) -> IgnoreRules | None:
        path = f"{folder}/{name}"
        if name == GIT_EXCLUDE_FILE and os.path.isfile(f"{folder}/.git"):
            path = _excluded_by_worktree(Path(folder))
        try:
            told = os.lstat(path)
            if stat.S_ISLNK(told.st_mode):
                told = os.stat(path)
        except (FileNotFoundError, NotADirectoryError, ValueError) as error:
            if isinstance(error, FileNotFoundError) and os.path.islink(path):
                _warn_unread(read_problem(Path(path), error))
            return None
        except OSError as error:
            _warn_unread(read_problem(Path(path), error))
            return None
        stamp, known = (told.st_mtime_ns, told.st_size), self._read.get(path)
        if known is None or known.stamp != stamp:
            known = self._read[path] = IgnoreRules(path, folder, rank, stamp, _spec(path))
        return known if known.folder == folder else replace(known, folder=folder)


def rules_folder(file: Path) -> Path | None:
    """The folder that the rules in a file are about; None for what is no ignore file."""
    name = next((name for name in IGNORE_FILE_NAMES if f"/{file.as_posix()}".endswith(f"/{name}")), None)
    return file.parents[name.count("/")] if name else None


def find_ignoring_file(rules: Sequence[IgnoreRules], path: str, *, folder: bool) -> str:
    """The ignore file that ignores a file or folder, by the first of the rules that have a word on it; else empty."""
    for one in rules:
        inner = path_to_byte_text(path[len(one.folder.rstrip("/")) + 1 :])
        said = one.spec.check_file(inner + "/" * folder).include
        if said is not None:
            return one.path if said else ""
    return ""


def _excluded_by_worktree(folder: Path) -> str:
    """Where a worktree, whose `.git` is a file that names the place, has the excludes of its repository."""
    try:
        place = folder / read_text(folder / ".git").removeprefix("gitdir:").strip()
        common = place / "commondir"
        shared = place / read_text(common).strip() if os.path.lexists(common) else place
    except (FileProblem, ValueError) as error:
        warn_once(f"the excludes of the repository of {folder} are not known: {error}")
        return ""
    return str(shared / "info" / "exclude")


def _lines(path: str) -> list[bytes]:
    """The lines of an ignore file; of one that is no such file none, which is said."""
    try:
        data = read_start(Path(path), MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            warn_once(
                f"{path}: only its first {MAX_FILE_BYTES:,} bytes count; what is ignored beyond them is not known"
            )
        elif data.startswith(UTF_16_BOMS):
            warn_once(f"{path} is UTF-16, so nothing is ignored by it; save it as UTF-8")
    except FileMissing:
        return []
    except FileProblem as error:
        _warn_unread(error)
        return []
    return data[:MAX_FILE_BYTES].removeprefix(UTF_8_BOM).split(b"\n")


def _warn_unread(problem: FileProblem) -> None:
    warn_once(f"{problem.message}; until then nothing is ignored by it")


def _spec(path: str) -> "GitIgnoreSpec":
    """The patterns of a file; a line that is none is left out."""
    # imported when the first file of rules is read: `initialize` must be answered at once
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    lines = _lines(path)
    good = [
        GitIgnoreSpecPattern(*pattern)
        for line in lines
        if len(line) <= MAX_PATTERN_BYTES and (pattern := compile_pattern(line))
    ]
    # no other engine, which is taken where one is installed, knows what `steady` says
    return GitIgnoreSpec(good, backend="simple")
