"""The ignore files of the user: `.gitignore`, `.git/info/exclude` and our own `.lspharnessignore`.

The rules are those of git. The last pattern that matches decides, files in deeper folders have priority, and a file in
an ignored folder cannot be included again. `.lspharnessignore` has the same syntax and priority over the files of git,
so it can also include what they ignore. Ignore files are read in the folder of a file and in all its parents up to the
workspace folder, or up to the root of the repository if that is above. Each ignore file is read again when its time or
size changes.
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
from lsp_harness.errors import FileError, FileMissing
from lsp_harness.files.folders import find_outermost_folder
from lsp_harness.files.ignore_patterns import compile_pattern, convert_path_to_byte_text

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

GIT_EXCLUDE_FILE = ".git/info/exclude"
IGNORE_FILE_NAMES = (GIT_EXCLUDE_FILE, ".gitignore", ".lspharnessignore")
"""Names of ignore files, in ascending priority."""
MAX_FILE_BYTES = 1_000_000
"""Maximum number of bytes that are read of an ignore file."""
MAX_PATTERN_BYTES = 4096
"""Maximum length of a pattern. No path is longer."""
UTF_8_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The patterns of one ignore file.

    Attributes:
        path: The path of the ignore file.
        folder: The folder that the patterns are relative to.
        rank: The index of its name in `IGNORE_FILE_NAMES`.
        stamp: The modification time in nanoseconds and the size in bytes when it was read.
        spec: The compiled patterns.
    """

    path: str
    folder: str
    rank: int
    stamp: tuple[int, int]
    spec: "GitIgnoreSpec"


class IgnoreFiles:
    """The ignore files of the workspace folders `roots`. The sequence may change while this object is used."""

    def __init__(self, roots: Sequence[Path] = ()) -> None:
        self._roots = roots
        self._rules: dict[str, IgnoreRules] = {}

    def ignoring_file(self, file: Path) -> str:
        """Return the ignore file that ignores `file`, relative to the workspace folder.

        It is empty if the file is not ignored.
        """
        root = find_outermost_folder(file, self._roots)
        folders = self._folders_of(file, root)
        rules: Sequence[IgnoreRules] = ()
        for folder, child in pairwise((*folders, file)):
            rules = self.rules_within(str(folder), rules)
            # outer folders are checked first, because everything in an ignored folder is ignored
            if path := find_ignoring_file(rules, str(child), is_folder=child is not file):
                if root is None or not root.is_relative_to(child):
                    return os.path.relpath(path, root or folders[0]).replace(os.sep, "/")
                # the user opened an ignored folder as workspace, so its files are not ignored
                rules = ()
        return ""

    def rules_above(self, folder: Path) -> Sequence[IgnoreRules]:
        """Return the rules of the parents of a folder that apply in it."""
        rules: Sequence[IgnoreRules] = ()
        for outer, child in pairwise((*self._folders_of(folder, find_outermost_folder(folder, self._roots)), folder)):
            rules = self.rules_within(str(outer), rules)
            rules = () if find_ignoring_file(rules, str(child), is_folder=True) else rules
        return rules

    def rules_within(self, folder: str, outer: Sequence[IgnoreRules]) -> Sequence[IgnoreRules]:
        """Return the rules that apply in a folder, those with the highest priority first.

        Args:
            folder: The path of the folder.
            outer: The rules that apply in its parent folder.
        """
        own_rules = [
            rules for rank, name in enumerate(IGNORE_FILE_NAMES) if (rules := self._read_rules(rank, name, folder))
        ]
        if not own_rules:
            return outer
        return sorted((*outer, *own_rules), key=lambda rules: (rules.rank, len(rules.folder)), reverse=True)

    def _folders_of(self, file: Path, root: Path | None) -> list[Path]:
        """Return the folders whose ignore files apply to a file, the outermost first.

        `root` is the outermost of the workspace folders that contain the file, because more ignore files apply in it.
        """
        parents = list(file.parents)
        workspace = parents.index(root) if root in parents else 0
        repository = next((n for n, folder in enumerate(parents) if os.path.lexists(f"{folder}/.git")), workspace)
        return parents[max(workspace, repository) :: -1]

    def _read_rules(self, rank: int, name: str, folder: str) -> IgnoreRules | None:
        path = f"{folder}/{name}"
        if name == GIT_EXCLUDE_FILE and os.path.isfile(f"{folder}/.git"):
            path = _worktree_exclude_file(Path(folder))
        try:
            status = os.lstat(path)
            if stat.S_ISLNK(status.st_mode):
                status = os.stat(path)
        except (FileNotFoundError, NotADirectoryError, ValueError) as error:
            if isinstance(error, FileNotFoundError) and os.path.islink(path):
                _warn_unreadable(read_problem(Path(path), error))
            return None
        except OSError as error:
            _warn_unreadable(read_problem(Path(path), error))
            return None
        stamp, rules = (status.st_mtime_ns, status.st_size), self._rules.get(path)
        if rules is None or rules.stamp != stamp:
            rules = self._rules[path] = IgnoreRules(path, folder, rank, stamp, _compile_spec(path))
        return rules if rules.folder == folder else replace(rules, folder=folder)


def find_rules_folder(file: Path) -> Path | None:
    """Return the folder that the rules of an ignore file apply to, or None if the file is not an ignore file."""
    name = next((name for name in IGNORE_FILE_NAMES if f"/{file.as_posix()}".endswith(f"/{name}")), None)
    return file.parents[name.count("/")] if name else None


def find_ignoring_file(rules: Sequence[IgnoreRules], path: str, *, is_folder: bool) -> str:
    """Return the ignore file that ignores a file or folder. It is empty if no file does.

    Args:
        rules: The rules that apply, those with the highest priority first. The first with a matching pattern decide.
        path: The absolute path of the file that may be ignored.
        is_folder: Whether the path is a folder.
    """
    for ignore_rules in rules:
        inner = convert_path_to_byte_text(path[len(ignore_rules.folder.rstrip("/")) + 1 :])
        is_ignored = ignore_rules.spec.check_file(inner + "/" * is_folder).include
        if is_ignored is not None:
            return ignore_rules.path if is_ignored else ""
    return ""


def _worktree_exclude_file(folder: Path) -> str:
    """Return the exclude file of the repository of a worktree.

    The `.git` of a worktree is a file that names the repository.
    """
    try:
        place = folder / read_text(folder / ".git").removeprefix("gitdir:").strip()
        common = place / "commondir"
        shared = place / read_text(common).strip() if os.path.lexists(common) else place
    except (FileError, ValueError) as error:
        warn_once(f"the file info/exclude of the repository of {folder} cannot be found: {error}")
        return ""
    return str(shared / "info" / "exclude")


def _read_lines(path: str) -> list[bytes]:
    """Return the lines of an ignore file. If it cannot be read, log a warning and return an empty list."""
    try:
        data = read_start(Path(path), MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            warn_once(f"{path} is too large: only the patterns in its first {MAX_FILE_BYTES:,} bytes are used")
        elif data.startswith(UTF_16_BOMS):
            warn_once(f"{path} is UTF-16, so its patterns are not used; save it as UTF-8")
    except FileMissing:
        return []
    except FileError as error:
        _warn_unreadable(error)
        return []
    return data[:MAX_FILE_BYTES].removeprefix(UTF_8_BOM).split(b"\n")


def _warn_unreadable(problem: FileError) -> None:
    warn_once(f"{problem.message}; until then its patterns are not used")


def _compile_spec(path: str) -> "GitIgnoreSpec":
    """Compile the patterns of an ignore file. Lines without a pattern are left out."""
    # this import is slow, and `initialize` must be answered at once
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    lines = _read_lines(path)
    patterns = [
        GitIgnoreSpecPattern(*pattern)
        for line in lines
        if len(line) <= MAX_PATTERN_BYTES and (pattern := compile_pattern(line))
    ]
    # the other backends do not know the atomic groups of `remove_backtracking`, and pathspec prefers them if they are
    # installed
    return GitIgnoreSpec(patterns, backend="simple")
