"""The files of a workspace, as the resolvers of imports look them up."""

import posixpath
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from lsp_harness.index.path_suffixes import PathSuffixes

ReadText = Callable[[str], str]
"""Returns the text of a file of the workspace; empty if it cannot be read."""
ResolveImport = Callable[[str, str, str], Iterable[str]]
"""Returns the files that an import may mean, by the importing file, the module and the imported name."""


class WorkspaceFiles:
    """The paths of the files of a workspace. They are relative to its folder and use `/`.

    Attributes:
        paths: All paths.
        by_folder: The sorted paths of the files by their folder.
        folder_suffixes: Finds folders that contain files by the end of their path.
        read_text: Returns the text of a file. Some resolvers read the settings of a project.
    """

    def __init__(self, paths: Iterable[str], read_text: ReadText) -> None:
        self.paths = frozenset(paths)
        self.read_text = read_text
        self.by_folder: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.paths):
            self.by_folder[path.rpartition("/")[0]].append(path)
        self._suffixes = PathSuffixes(sorted(self.paths))
        self.folder_suffixes = PathSuffixes(self.by_folder)

    def with_suffix(self, tail: str) -> Sequence[str]:
        """Return the paths of the files that end with all parts of `tail`."""
        return self._suffixes[tail]

    def first_existing(self, candidates: Iterable[str]) -> list[str]:
        """Return the first candidate that is a file, as a list of at most one path."""
        path = next((candidate for candidate in candidates if candidate in self.paths), None)
        return [] if path is None else [path]

    def find_by_suffix(self, tail: str, importer: str) -> list[str]:
        """Return the only file whose path ends with `tail`, or of several the one nearest to `importer` if it is the
        only nearest one."""
        matches = self._suffixes[tail]
        if len(matches) < 2:
            return [*matches]
        shared_lengths = [len(posixpath.commonprefix([match, importer])) for match in matches]
        best = [match for match, length in zip(matches, shared_lengths, strict=True) if length == max(shared_lengths)]
        return best if len(best) == 1 else []


def join_path(folder: str, name: str) -> str:
    """Return the path of a name in a folder. Either may be empty."""
    return f"{folder}/{name}" if folder and name else folder or name


def module_prefixes(module: str) -> Iterator[str]:
    """Yield the prefixes that may be a package or alias, the longest first: `@a/b`, `@a/`, `@a`."""
    yield module
    slash = module.rfind("/")
    while slash >= 0:
        yield module[: slash + 1]
        yield module[:slash]
        slash = module.rfind("/", 0, slash)
