"""Paths by what they end with.

Most imports are of nothing that is here, and each must know so without a look at all that is.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence


class Ends:
    """Of `paths`, which have `/`."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._last: dict[str, list[str]] = defaultdict(list)
        """By the last part, and by the last two."""
        self._known: dict[str, Sequence[str]] = {}
        for path in paths:
            parts = path.rsplit("/", 2)
            self._last[parts[-1]].append(path)
            if len(parts) > 1:
                self._last["/".join(parts[-2:])].append(path)

    def __getitem__(self, tail: str) -> Sequence[str]:
        """Those that end with all the parts of `tail`, in their order."""
        last = "/".join(tail.rsplit("/", 2)[-2:])
        listed = self._last.get(last, ())
        if not listed or last == tail:
            return listed
        known = self._known.get(tail)
        if known is None:
            known = self._known[tail] = [one for one in listed if one == tail or one.endswith(f"/{tail}")]
        return known
