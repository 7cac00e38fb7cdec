"""Lookup of paths by their last parts.

Most imports mean nothing in the workspace, and this must be known without a search through all paths.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence


class PathSuffixes:
    """An index of paths with `/` as separator."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_tail: dict[str, list[str]] = defaultdict(list)
        """Paths by their last part, and by their last two parts."""
        self._cache: dict[str, Sequence[str]] = {}
        for path in paths:
            parts = path.rsplit("/", 2)
            self._by_tail[parts[-1]].append(path)
            if len(parts) > 1:
                self._by_tail["/".join(parts[-2:])].append(path)

    def __getitem__(self, tail: str) -> Sequence[str]:
        """Return the paths that end with all parts of `tail`, in their order."""
        short_tail = "/".join(tail.rsplit("/", 2)[-2:])
        candidates = self._by_tail.get(short_tail, ())
        if not candidates or short_tail == tail:
            return candidates
        matches = self._cache.get(tail)
        if matches is None:
            matches = self._cache[tail] = [path for path in candidates if path == tail or path.endswith(f"/{tail}")]
        return matches
