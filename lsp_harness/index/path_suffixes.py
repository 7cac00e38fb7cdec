"""Paths by what they end with.

Most imports are of nothing that is here, and each must know so without a look at all that is.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence


class PathSuffixes:
    """Of `paths`, which have `/`."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_tail: dict[str, list[str]] = defaultdict(list)
        """By the last part, and by the last two."""
        self._cache: dict[str, Sequence[str]] = {}
        for path in paths:
            parts = path.rsplit("/", 2)
            self._by_tail[parts[-1]].append(path)
            if len(parts) > 1:
                self._by_tail["/".join(parts[-2:])].append(path)

    def __getitem__(self, tail: str) -> Sequence[str]:
        """Those that end with all the parts of `tail`, in their order."""
        short_tail = "/".join(tail.rsplit("/", 2)[-2:])
        candidates = self._by_tail.get(short_tail, ())
        if not candidates or short_tail == tail:
            return candidates
        matches = self._cache.get(tail)
        if matches is None:
            matches = self._cache[tail] = [path for path in candidates if path == tail or path.endswith(f"/{tail}")]
        return matches
