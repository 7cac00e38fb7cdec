"""The ways in which code is found, each ranking on its own: by what symbols are called, by words, by what a text is about, by what
uses what, by imports, and by when a file was written."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from lsp_harness.index.identifier_words import NAME, words
from lsp_harness.index.index_view import NEIGHBOURS
from lsp_harness.index.query.anchor import Named, Spot, chunks_of, declared, used
from lsp_harness.index.query.stop_words import STOP_WORDS
from lsp_harness.store.database import Reader, marks

Way = tuple[str, list[int]]
"""What a way is called, and the chunks it found, the best first."""

DEPTH = 50
"""Hits of each way that are fused."""
FAR = 2
"""Imports from a file within which others are near it."""
LINKED = 400
"""Files whose imports are followed at once."""
MANY = 20
"""Symbols of one name."""
MENTIONS = 200
ASKED = 64
"""Words of a question that count; where a text asks, `SPOKEN` of it."""
SPOKEN = 24
WORD = re.compile(r"[^\W_]+")


class Ways:
    """Over the index of one folder."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def by_name(self, query: str) -> Way:
        """Chunks of symbols that the query names, those that it names by more of their name first."""
        names = named(query)
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

    def by_words(self, query: str, most: int = ASKED) -> Way:
        """Chunks by BM25 over their words; what a chunk is called counts five times."""
        asked = dict.fromkeys(word.lower() for word in WORD.findall(words(query)))
        wanted = [word for word in asked if word not in STOP_WORDS] or list(asked)
        if not wanted:
            return "words", []
        match = " OR ".join(f'"{word}"' for word in wanted[:most])
        rows = self._reader.rows(
            "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY bm25(texts, 5.0, 1.0, 1.0) LIMIT ?", (match, DEPTH)
        )
        return "words", [chunk for (chunk,) in rows]

    def by_meaning(self, near: Sequence[bytes]) -> Way:
        """Chunks of declarations by the likeness of their vectors, given as digests in this order."""
        return "meaning", self._like(near, "symbol >= 0")

    def by_remarks(self, near: Sequence[bytes]) -> Way:
        """The same of what stands in no declaration, as what a module says of itself does."""
        return "remarks", self._like(near, "symbol < 0")

    def by_declaration(self, asked: Named) -> Way:
        """Chunks of what is called so, what is outermost first."""
        found = sorted(declared(self._reader, asked), key=lambda one: len(one.qualified))
        return "named", list(dict.fromkeys(chunks_of(self._reader, found)))[:DEPTH]

    def by_use(self, spots: Sequence[Spot]) -> Way:
        """Chunks of what the names in these places mean, as well as imports and declarations tell: a base, what is called."""
        own = {chunk for spot in spots for chunk in spot.own}
        found = (chunk for spot in spots for chunk in chunks_of(self._reader, used(self._reader, spot)))
        return "used there", [chunk for chunk in dict.fromkeys(found) if chunk not in own][:DEPTH]

    def by_users(self, spots: Sequence[Spot]) -> Way:
        """Chunks that say the names of these places, of files that have them or that imports lead from to them, the nearest
        first. That is no proof that they mean them."""
        found = [row for spot in spots if spot.name for row in self._users(spot)]
        return "uses it", list(dict.fromkeys(chunk for _, chunk in sorted(found)))[:DEPTH]

    def by_distance(self, chunks: Iterable[int], beside: str) -> Way:
        """Of these chunks those of files that imports lead to from a file, or from which they lead to it, the nearest first."""
        far = self._distances(beside)
        near = [(far[file], chunk) for chunk, file, _ in self._files(chunks) if file in far]
        return "imports", [chunk for _, chunk in sorted(near)]

    def by_time(self, chunks: Iterable[int]) -> Way:
        """These chunks, those of files that were written last first."""
        return "lately", [chunk for _, chunk in sorted((-mtime, chunk) for chunk, _, mtime in self._files(chunks))]

    def _like(self, near: Sequence[bytes], where: str) -> list[int]:
        near = near[:DEPTH]
        rows = self._reader.rows(
            f"SELECT digest, id FROM chunks WHERE digest != x'' AND digest IN ({marks(len(near))}) AND {where}", near
        )
        order = {digest: rank for rank, digest in enumerate(near)}
        return [chunk for _, chunk in sorted((order[digest], chunk) for digest, chunk in rows)]

    def _users(self, spot: Spot) -> list[tuple[int, int]]:
        last = spot.name.rpartition(".")[2]
        word = re.compile(rf"(?<!\w){re.escape(last)}(?!\w)")
        rows = self._reader.rows(
            "SELECT chunks.id, file, path, text FROM texts JOIN chunks ON chunks.id = texts.rowid "
            "JOIN files ON files.id = chunks.file WHERE texts MATCH ? AND language != '' LIMIT ?",
            ('text: "' + last.replace('"', "") + '"', MENTIONS),
        )
        far = self._distances(spot.path, back=True)
        if spot.language in NEIGHBOURS:
            folder = spot.path.rpartition("/")[0]
            far = {file: 1 for _, file, path, _ in rows if path.rpartition("/")[0] == folder} | far
        return [
            (far[file], chunk)
            for chunk, file, _, text in rows
            if file in far and chunk not in spot.own and word.search(text)
        ]

    def _distances(self, path: str, *, back: bool = False) -> dict[int, int]:
        """Files by how many imports they are from a file, in either direction, or only those that lead `back` to it; the file
        itself included; no more than FAR."""
        around = {file for (file,) in self._reader.rows("SELECT id FROM files WHERE path = ?", (path,))}
        found = dict.fromkeys(around, 0)
        for far in range(1, FAR + 1):
            some = sorted(around)[:LINKED]
            rows = self._reader.rows(f"SELECT file FROM targets WHERE target IN ({marks(len(some))})", some)
            if not back:
                rows += self._reader.rows(f"SELECT target FROM targets WHERE file IN ({marks(len(some))})", some)
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


def named(query: str) -> set[str]:
    """The names in a query. A word of a sentence is none unless it is written as one: `parse_all`, `Cart.total`, `HttpServer`,
    `run()`."""
    found = [*NAME.finditer(query)]
    marked = {one[0] for one in found if _marked(query, *one.span())}
    return {name for name in (one[0] for one in found) if name in marked or name == query.strip() or _is_name(name)}


def _marked(query: str, start: int, end: int) -> bool:
    quoted = query[max(0, start - 1) : start] == "`" and query.startswith("`", end)
    return quoted or query.startswith("(", end)


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
