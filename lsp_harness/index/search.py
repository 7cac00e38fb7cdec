"""Finding the code a question means: by what symbols are called, by the words of their text, and by what the text is about.

Each way ranks on its own; they are fused by reciprocal rank, as their scores have nothing in common. A hit says by which way
it was found, and how high.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from time import monotonic

from lsp_harness.index.stop_words import STOP_WORDS
from lsp_harness.index.words import NAME, words
from lsp_harness.store.database import Reader, marks

K = 5
"""Of reciprocal rank fusion: what is first counts for 1/K, what is second for 1/(K + 1)."""
WEIGHTS = {"mention": 0.5, "imports": 0.5, "lately": 0.2}
"""Of the ways that count for less than the others: what a sentence mentions is often only near what it asks for, and where somebody
is only decides between hits that are alike."""
SECONDS = 0.05
"""A search takes no longer than this before it is content with words."""
FAR = 2
"""Imports from a file within which others are near it."""
LINKED = 400
"""Files whose imports are followed at once."""
DEPTH = 50
"""Hits of each way that are fused."""
NEIGHBOURS = 3
SUPPORT = 0.05
"""What the best hits among the members of one type, or among what is at the top of one file, count for each other."""
MANY = 20
"""Symbols of one name."""
WIDE = 60
"""Hits that are looked at for files."""
OF_A_FILE = 3
"""Hits of one file that count: a long one is not what a text is about because it has many."""
MENTIONED = 0.2
"""What it counts that a file is named."""
PATH = re.compile(r"[\w./\\-]*\w\.[A-Za-z]{1,5}\b")
WORD = re.compile(r"[^\W_]+")
WRITTEN = re.compile(rf"({NAME.pattern})\(|`({NAME.pattern})`")
"""A name that is marked as one."""


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


class Search:
    """Over the index of one folder."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def search(
        self, query: str, limit: int = 20, near: Sequence[bytes] = (), *, beside: str = "", seconds: float = SECONDS
    ) -> list[Hit]:
        """The best hits first; `near` are digests of the texts whose vectors are most like the query's. Of hits that are alike
        those are better whose file imports the file `beside`, or is imported by it, or was written last. When the time is over,
        what was found by then counts, words at least. Raises StoreError."""
        over = monotonic() + seconds
        words = self.by_words(query)
        ways = [self.by_name(query)] if monotonic() < over else []
        ways = [*ways, words, *([self.by_meaning(near)] if monotonic() < over else [])]
        if beside and monotonic() < over:
            found = dict.fromkeys(chunk for _, ranking in ways for chunk in ranking)
            ways += [self.by_distance(found, beside), self.by_time(found)]
        return self.fused(ways, limit)

    def files(self, query: str, limit: int = 10, near: Sequence[bytes] = ()) -> list[tuple[str, float]]:
        """The files a longer text is about, such as a report of a fault: those it names, then those of the best hits."""
        found: dict[str, list[float]] = defaultdict(list)
        for hit in self.search(query, WIDE, near):
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

    def by_name(self, query: str) -> tuple[str, list[int]]:
        """Chunks of symbols that the query names, those that it names by more of their name first. A word of a sentence is no
        name unless it is written as one: `parse_all`, `Cart.total`, `HttpServer`, `run()`."""
        marked = {name for pair in WRITTEN.findall(query) for name in pair if name}
        names = {name for name in NAME.findall(query) if name in marked or name == query.strip() or _is_name(name)}
        last = {name.rpartition(".")[2] for name in names}
        rows = self._reader.rows(
            "SELECT chunks.id, qualified FROM symbols JOIN chunks ON chunks.file = symbols.file AND chunks.symbol = symbols.n "
            f"WHERE name IN ({marks(len(last))}) LIMIT 1000",
            [*last],
        )
        asked = all(part in names for part in query.split())
        if not asked:
            # what many things are called says little of which is mentioned
            often = Counter(row[1].rpartition(".")[2] for row in rows)
            rows = [row for row in rows if often[row[1].rpartition(".")[2]] <= MANY or row[1] in names]
        ranked = sorted(rows, key=lambda row: (-max(_shared(row[1], name) for name in names), len(row[1]), row[0]))
        return "name" if asked else "mention", [chunk for chunk, _ in ranked][:DEPTH]

    def by_words(self, query: str) -> tuple[str, list[int]]:
        """Chunks by BM25 over their words; what a chunk is called counts five times."""
        asked = dict.fromkeys(word.lower() for word in WORD.findall(words(query)))
        wanted = [word for word in asked if word not in STOP_WORDS] or list(asked)
        if not wanted:
            return "words", []
        match = " OR ".join(f'"{word}"' for word in wanted[:64])
        rows = self._reader.rows(
            "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY bm25(texts, 5.0, 1.0, 1.0) LIMIT ?", (match, DEPTH)
        )
        return "words", [chunk for (chunk,) in rows]

    def by_meaning(self, near: Sequence[bytes]) -> tuple[str, list[int]]:
        """Chunks by the likeness of their vectors, given as digests in this order."""
        near = near[:DEPTH]
        rows = self._reader.rows(
            f"SELECT digest, id FROM chunks WHERE digest != x'' AND digest IN ({marks(len(near))})", near
        )
        order = {digest: rank for rank, digest in enumerate(near)}
        return "meaning", [chunk for _, chunk in sorted((order[digest], chunk) for digest, chunk in rows)]

    def by_distance(self, chunks: Iterable[int], beside: str) -> tuple[str, list[int]]:
        """Of these chunks those of files that imports lead to from a file, or from which they lead to it, the nearest first."""
        far = self._distances(beside)
        near = [(far[file], chunk) for chunk, file, _ in self._files(chunks) if file in far]
        return "imports", [chunk for _, chunk in sorted(near)]

    def by_time(self, chunks: Iterable[int]) -> tuple[str, list[int]]:
        """These chunks, those of files that were written last first."""
        return "lately", [chunk for _, chunk in sorted((-mtime, chunk) for chunk, _, mtime in self._files(chunks))]

    def _distances(self, path: str) -> dict[int, int]:
        """Files by how many imports they are from a file, in either direction, itself included; no more than FAR."""
        around = {file for (file,) in self._reader.rows("SELECT id FROM files WHERE path = ?", (path,))}
        found = dict.fromkeys(around, 0)
        for far in range(1, FAR + 1):
            some = sorted(around)[:LINKED]
            rows = self._reader.rows(
                f"SELECT target FROM targets WHERE file IN ({marks(len(some))}) "
                f"UNION SELECT file FROM targets WHERE target IN ({marks(len(some))})",
                [*some, *some],
            )
            around = {file for (file,) in rows} - found.keys()
            found |= dict.fromkeys(around, far)
        return found

    def _files(self, chunks: Iterable[int]) -> list[tuple[int, int, int]]:
        """Of each chunk its file and when that was written."""
        ids = list(chunks)
        return self._reader.rows(
            "SELECT chunks.id, files.id, mtime FROM chunks JOIN files ON files.id = chunks.file "
            f"WHERE chunks.id IN ({marks(len(ids))})",
            ids,
        )

    def _chunks(self, ids: Iterable[int]) -> list[tuple[int, int, str, str, str, int, int, int]]:
        ids = list(ids)
        return self._reader.rows(
            "SELECT chunks.id, coalesce(parent, -2), path, coalesce(qualified, ''), coalesce(kind, ''), coalesce(line, 0), chunks.start, chunks.end "
            "FROM chunks JOIN files ON files.id = chunks.file "
            "LEFT JOIN symbols ON symbols.file = chunks.file AND symbols.n = chunks.symbol "
            f"WHERE chunks.id IN ({marks(len(ids))})",
            ids,
        )


def _is_name(name: str) -> bool:
    return "_" in name.strip("_") or "." in name or words(name) != name


def _shared(qualified: str, name: str) -> int:
    """How many parts two dotted names have in common from the end on."""
    count = 0
    for one, other in zip(reversed(qualified.split(".")), reversed(name.split(".")), strict=False):
        if one != other:
            break
        count += 1
    return count
