"""Finding the code a question means: by what symbols are called, by the words of their text, and by what the text is about.

Each way ranks on its own; they are fused by reciprocal rank, as their scores have nothing in common. A hit says by which way
it was found, and how high.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic

from lsp_harness.index.query.anchor import At, Named, Spot, spots
from lsp_harness.index.query.rankers import SPOKEN, Way, Ways
from lsp_harness.store.database import Reader, marks

K = 5
"""Of reciprocal rank fusion: what is first counts for 1/K, what is second for 1/(K + 1)."""
WEIGHTS = {"mention": 0.5, "remarks": 0.5, "imports": 0.5, "lately": 0.2, "named": 4.0, "linked": 0.3}
"""Of the ways that do not count for 1: what a sentence mentions is often only near what it asks for, what a module says of itself
is about more than one thing, where somebody is only decides between hits that are alike, and a symbol that is asked for comes before what
has to do with it."""
SECONDS = 0.05
"""A search takes no longer than this before it is content with words."""
NEIGHBOURS = 3
SUPPORT = 0.05
"""What the best hits among the members of one type, or among what is at the top of one file, count for each other."""
WIDE = 60
"""Hits that are looked at for files."""
OF_A_FILE = 3
"""Hits of one file that count: a long one is not what a text is about because it has many."""
MENTIONED = 0.2
"""What it counts that a file is named."""
PATH = re.compile(r"[\w./\\-]*\w\.[A-Za-z]{1,5}\b")


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk: its file, the symbol it shows (empty for what is in none), its bytes, and why it was found."""

    path: str
    symbol: str
    kind: str
    line: int
    start: int
    end: int
    score: float
    reasons: tuple[str, ...]


@dataclass(slots=True)
class _Found:
    score: float = 0.0
    reasons: list[str] = field(default_factory=list[str])


class Search(Ways):
    """Over the index of one folder."""

    def __init__(self, reader: Reader, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(reader)
        self._clock = clock

    def search(
        self,
        asked: str | At | Named,
        limit: int = 20,
        near: Sequence[bytes] = (),
        *,
        beside: str = "",
        seconds: float = SECONDS,
    ) -> list[Hit]:
        """The best hits first: of words or names, of a place (what is like what stands there, what that uses, and what uses it, but
        not itself), or of a symbol (that, and the same). `near` are digests of the texts whose vectors are most like what is
        asked. Of hits that are alike those are better whose file imports the file `beside`, or is imported by it, or was written
        last; a place is beside itself. A way that is not done when the time is over is left out, words alone are waited for.
        Raises StoreError."""
        end = self._clock() + seconds
        if isinstance(asked, str):
            # what is named is looked up at once, or there are too many; words need the rest
            ways = self._timely(end - seconds / 2, lambda: self.by_name(asked))
            ways.append(self.by_words(asked))
            ways += self._timely(end, lambda: self.by_meaning(near), lambda: self.by_remarks(near))
            own = frozenset[int]()
        else:
            begin = spots(self._reader, asked)
            beside = beside or (begin[0].path if begin else "")
            ways, own = self._around(asked, begin, near, end)
        found = dict.fromkeys(chunk for _, ranking in ways for chunk in ranking)
        if beside:
            ways += self._timely(end, lambda: self.by_distance(found, beside), lambda: self.by_time(found))
        return self.fused([(name, [one for one in ranking if one not in own]) for name, ranking in ways], limit)

    def _around(
        self, asked: At | Named, begin: Sequence[Spot], near: Sequence[bytes], end: float
    ) -> tuple[list[Way], frozenset[int]]:
        """What is found from some places, and what of it is nothing but these places."""
        ways = [self.by_words(" ".join(f"{spot.name} {spot.text}" for spot in begin), SPOKEN)]
        ways += self._timely(
            end,
            lambda: self.by_use(begin),
            lambda: self.by_users(begin),
            lambda: self.by_meaning(near),
            lambda: self.by_remarks(near),
        )
        if isinstance(asked, Named):
            return [*self._timely(end, lambda: self.by_declaration(asked)), *ways], frozenset()
        return ways, frozenset(chunk for spot in begin for chunk in spot.own)

    def linked(self, best: Sequence[Hit], others: Iterable[Hit], seconds: float) -> list[Hit]:
        """These others. What the best use, or what uses them, is worth more than it was, most what is so of the better and of several."""
        end, others = self._clock() + seconds, [*others]
        counts = {(hit.path, hit.start): 0.0 for hit in others}
        for rank, hit in enumerate(best):
            begin = spots(self._reader, Named(hit.symbol, hit.path))[:1] if hit.symbol else []
            ways = self._timely(end, partial(self.by_use, begin), partial(self.by_users, begin))
            for _, _, path, _, _, _, start, _ in self._chunks({chunk for _, ranking in ways for chunk in ranking}):
                if (path, start) in counts:
                    counts[path, start] += 1 / (K + rank)
        counted = (place for place, count in counts.items() if count)
        ranked = {place: rank for rank, place in enumerate(sorted(counted, key=lambda place: -counts[place]))}
        found: list[Hit] = []
        for hit in others:
            if (rank := ranked.get((hit.path, hit.start))) is not None:
                score = hit.score + WEIGHTS["linked"] / (K + rank)
                hit = replace(hit, score=score, reasons=(*hit.reasons, f"linked {rank + 1}"))
            found.append(hit)
        return found

    def _timely(self, end: float, *ways: Callable[[], Way]) -> list[Way]:
        """Those that are done by then."""
        return self._reader.timely(lambda: self._clock() >= end, lambda: (way() for way in ways))

    def files(
        self,
        query: str,
        limit: int = 10,
        near: Sequence[bytes] = (),
        *,
        beside: str = "",
        seconds: float = SECONDS,
    ) -> list[tuple[str, float]]:
        """The files a longer text is about, such as a report of a fault: those it names, then those of the best hits."""
        found: dict[str, list[float]] = defaultdict(list)
        for hit in self.search(query, WIDE, near, beside=beside, seconds=seconds):
            found[hit.path].append(hit.score)
        scores = {path: sum(hits[:OF_A_FILE]) for path, hits in found.items()}
        for path in self._mentioned(query):
            scores[path] = scores.get(path, 0.0) + MENTIONED
        return sorted(scores.items(), key=lambda each: (-each[1], each[0]))[:limit]

    def _mentioned(self, query: str) -> set[str]:
        """Files whose path, or the end of it, is in the text, as it is in a traceback."""
        named = {path.replace("\\", "/").removeprefix("./") for path in PATH.findall(query)}
        names = {path.rpartition("/")[2] for path in named}
        paths = [
            path
            for name in names
            for (path,) in self._reader.rows(
                "SELECT path FROM files WHERE path = ? OR path LIKE ?", (name, f"%/{name}")
            )
        ]
        return {
            path for path in paths for one in named if f"/{path}".endswith(f"/{one}") or f"/{one}".endswith(f"/{path}")
        }

    def fused(self, ways: Sequence[tuple[str, Sequence[int]]], limit: int) -> list[Hit]:
        """Chunks in the order of several rankings together, each called by its name."""
        found: dict[int, _Found] = defaultdict(_Found)
        for name, ranking in ways:
            for rank, chunk in enumerate(ranking):
                found[chunk].score += WEIGHTS.get(name, 1.0) / (K + rank)
                found[chunk].reasons.append(f"{name} {rank + 1}")
        around: dict[tuple[str, int], list[float]] = defaultdict(list)
        shown: dict[int, tuple[str, str, str, int, int, int]] = {}
        beside: dict[int, tuple[str, int]] = {}
        for chunk, parent, path, symbol, kind, line, start, end in self._chunks(found):
            shown[chunk], beside[chunk] = (path, symbol, kind, line, start, end), (path, parent)
            around[path, parent].append(found[chunk].score)
        support = {place: SUPPORT * sum(sorted(scores)[-NEIGHBOURS:]) for place, scores in around.items() if scores[1:]}
        for chunk, place in beside.items():
            found[chunk].score += support.get(place, 0.0)
        best = sorted(shown, key=lambda chunk: (-found[chunk].score, chunk))[:limit]
        return [Hit(*shown[one], found[one].score, tuple(found[one].reasons)) for one in best]

    def _chunks(self, ids: Iterable[int]) -> list[tuple[int, int, str, str, str, int, int, int]]:
        ids = list(ids)
        return self._reader.rows(
            "SELECT chunks.id, coalesce(parent, -2), path, coalesce(qualified, ''), coalesce(kind, ''), coalesce(line, 0), chunks.start, chunks.end "
            "FROM chunks JOIN files ON files.id = chunks.file "
            "LEFT JOIN symbols ON symbols.file = chunks.file AND symbols.n = chunks.symbol "
            f"WHERE chunks.id IN ({marks(len(ids))})",
            ids,
        )
