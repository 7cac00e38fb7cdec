"""Rankers of code search. Each ranks chunks by one feature: symbol names, words, meaning, use, imports, or the time
of the last change.

Chunks that are equally good are ordered by their places. The order of their ids is that in which processes happened to
read the files, and another index of the same files has another one.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from lsp_harness.index.identifier_words import DOTTED_NAME, split_words
from lsp_harness.index.query.anchor import Anchor, SymbolName, find_chunks, find_declared, find_used_symbols
from lsp_harness.languages.language_table import find_language
from lsp_harness.store.database import DatabaseReader, placeholders

STOP_WORDS = frozenset(
    [
        "a",
        "about",
        "after",
        "all",
        "also",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "because",
        "been",
        "before",
        "being",
        "below",
        "between",
        "both",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "doing",
        "down",
        "during",
        "each",
        "few",
        "for",
        "from",
        "further",
        "had",
        "has",
        "have",
        "having",
        "here",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "itself",
        "just",
        "me",
        "more",
        "most",
        "my",
        "no",
        "nor",
        "not",
        "now",
        "of",
        "off",
        "on",
        "once",
        "only",
        "or",
        "other",
        "our",
        "out",
        "over",
        "own",
        "same",
        "should",
        "so",
        "some",
        "such",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "through",
        "to",
        "too",
        "under",
        "until",
        "up",
        "very",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "whom",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
        "code",
        "function",
        "method",
        "class",
        "file",
        "given",
        "return",
        "returns",
        "using",
        "use",
        "used",
    ]
)


Ranking = tuple[str, list[int]]
"""The name of a ranker and the ids of the chunks that it found, the best first."""

MAX_HITS = 50
"""Number of hits of each ranker that are fused."""
MAX_TIED_HITS = 200
"""Number of hits by words of which the best are taken. Copies of a text are equally good."""
MAX_IMPORT_HOPS = 2
"""Number of imports between files that count as near."""
MAX_LINKED_FILES = 400
"""Number of files whose imports are followed in one step."""
MAX_SAME_NAME = 20
"""Largest number of symbols with one name for which a mention of that name says something."""
MAX_MENTIONS = 200
MAX_QUERY_WORDS = 64
"""Number of words of a query that count."""
MAX_TEXT_WORDS = 24
"""Number of words that count if a text of the workspace is the query."""
WORD = re.compile(r"[^\W_]+")


class Rankers:
    """The rankers over the index of one folder."""

    def __init__(self, reader: DatabaseReader) -> None:
        self._reader = reader

    def rank_by_name(self, query: str) -> Ranking:
        """Rank chunks of symbols that the query names, by the number of matching parts of the name."""
        names = find_query_names(query)
        last_parts = {name.rpartition(".")[2] for name in names}
        rows = self._reader.rows(
            "SELECT chunks.id, qualified, path, chunks.start FROM symbols JOIN chunks ON chunks.file = symbols.file "
            "AND chunks.symbol = symbols.n JOIN files ON files.id = chunks.file "
            f"WHERE name IN ({placeholders(len(last_parts))}) LIMIT 1000",
            [*last_parts],
        )
        is_name_query = all(part in names for part in query.split())
        if not is_name_query:
            # A name of many symbols says little about which one is meant.
            name_counts = Counter(row[1].rpartition(".")[2] for row in rows)
            rows = [row for row in rows if name_counts[row[1].rpartition(".")[2]] <= MAX_SAME_NAME or row[1] in names]
        ranked = sorted(
            rows, key=lambda row: (-max(_shared_tail_length(row[1], name) for name in names), len(row[1]), *row[2:])
        )
        return "name" if is_name_query else "mention", [row[0] for row in ranked][:MAX_HITS]

    def rank_by_words(self, query: str, max_words: int = MAX_QUERY_WORDS) -> Ranking:
        """Rank chunks by BM25 over their words. The title of a chunk counts five times."""
        query_words = dict.fromkeys(word.lower() for word in WORD.findall(split_words(query)))
        content_words = [word for word in query_words if word not in STOP_WORDS] or list(query_words)
        if not content_words:
            return "words", []
        match = " OR ".join(f'"{word}"' for word in content_words[:max_words])
        rows = self._reader.rows(
            "SELECT chunks.id FROM (SELECT rowid AS hit, bm25(texts, 5.0, 1.0, 1.0) AS score FROM texts "
            "WHERE texts MATCH ? ORDER BY score LIMIT ?) JOIN chunks ON chunks.id = hit "
            "JOIN files ON files.id = chunks.file ORDER BY score, path, chunks.start LIMIT ?",
            (match, MAX_TIED_HITS, MAX_HITS),
        )
        return "words", [chunk for (chunk,) in rows]

    def rank_by_meaning(self, nearest_digests: Sequence[bytes]) -> Ranking:
        """Rank chunks of declarations by the similarity of their vectors, given as digests in this order."""
        return "meaning", self._rank_digests(nearest_digests, "symbol >= 0")

    def rank_by_remarks(self, nearest_digests: Sequence[bytes]) -> Ranking:
        """Rank chunks outside of declarations, such as module docstrings, by the similarity of their vectors."""
        return "remarks", self._rank_digests(nearest_digests, "symbol < 0")

    def rank_by_declaration(self, target: SymbolName) -> Ranking:
        """Rank the chunks of the declarations of a name, the outermost first."""
        symbols = sorted(find_declared(self._reader, target), key=lambda symbol: len(symbol.qualified))
        return "named", list(dict.fromkeys(find_chunks(self._reader, symbols)))[:MAX_HITS]

    def rank_by_use(self, anchors: Sequence[Anchor]) -> Ranking:
        """Rank the chunks of the symbols that the names in these anchors mean."""
        own_chunks = {chunk for anchor in anchors for chunk in anchor.own_chunks}
        chunks = (
            chunk for anchor in anchors for chunk in find_chunks(self._reader, find_used_symbols(self._reader, anchor))
        )
        return "used there", [chunk for chunk in dict.fromkeys(chunks) if chunk not in own_chunks][:MAX_HITS]

    def rank_by_users(self, anchors: Sequence[Anchor]) -> Ranking:
        """Rank chunks that contain the names of anchors, in files that imports connect with the anchors, the nearest
        first.

        An equal name is no proof that the symbol is meant.
        """
        rows = [row for anchor in anchors if anchor.name for row in self._find_users(anchor)]
        return "uses it", list(dict.fromkeys(chunk for _, chunk in sorted(rows)))[:MAX_HITS]

    def rank_by_distance(self, chunks: Iterable[int], path: str) -> Ranking:
        """Rank chunks by the number of imports between their files and the file `path`. Unconnected chunks are left
        out.
        """
        distances = self._import_distances(path)
        ranked = [
            (distances[file], *place, chunk)
            for chunk, file, _, *place in self._chunk_files(chunks)
            if file in distances
        ]
        return "imports", [row[-1] for row in sorted(ranked)]

    def rank_by_time(self, chunks: Iterable[int]) -> Ranking:
        """Rank chunks by the time when their file was written, the newest first."""
        ranked = [(-mtime, *place, chunk) for chunk, _, mtime, *place in self._chunk_files(chunks)]
        return "lately", [row[-1] for row in sorted(ranked)]

    def _rank_digests(self, digests: Sequence[bytes], condition: str) -> list[int]:
        digests = digests[:MAX_HITS]
        rows = self._reader.rows(
            "SELECT chunks.digest, path, chunks.start, chunks.id FROM chunks JOIN files ON files.id = chunks.file "
            f"WHERE chunks.digest != x'' AND chunks.digest IN ({placeholders(len(digests))}) AND {condition}",
            digests,
        )
        order = {digest: rank for rank, digest in enumerate(digests)}
        return [row[-1] for row in sorted((order[digest], *place) for digest, *place in rows)]

    def _find_users(self, anchor: Anchor) -> list[tuple[int, int]]:
        last = anchor.name.rpartition(".")[2]
        word = re.compile(rf"(?<!\w){re.escape(last)}(?!\w)")
        rows = self._reader.rows(
            "SELECT chunks.id, file, path, text FROM texts JOIN chunks ON chunks.id = texts.rowid "
            "JOIN files ON files.id = chunks.file WHERE texts MATCH ? AND language != '' LIMIT ?",
            ('text: "' + last.replace('"', "") + '"', MAX_MENTIONS),
        )
        distances = self._import_distances(anchor.path, importers_only=True)
        if find_language(anchor.language).imports.shares_folder:
            folder = anchor.path.rpartition("/")[0]
            distances = {file: 1 for _, file, path, _ in rows if path.rpartition("/")[0] == folder} | distances
        return [
            (distances[file], chunk)
            for chunk, file, _, text in rows
            if file in distances and chunk not in anchor.own_chunks and word.search(text)
        ]

    def _import_distances(self, path: str, *, importers_only: bool = False) -> dict[int, int]:
        """Return the number of imports between a file and the files near it, the file itself included.

        `importers_only` leaves out the files that the file imports. Distances above MAX_IMPORT_HOPS are left out.
        """
        frontier = {file for (file,) in self._reader.rows("SELECT id FROM files WHERE path = ?", (path,))}
        distances = dict.fromkeys(frontier, 0)
        for distance in range(1, MAX_IMPORT_HOPS + 1):
            batch = sorted(frontier)[:MAX_LINKED_FILES]
            rows = self._reader.rows(f"SELECT file FROM targets WHERE target IN ({placeholders(len(batch))})", batch)
            if not importers_only:
                rows += self._reader.rows(
                    f"SELECT target FROM targets WHERE file IN ({placeholders(len(batch))})", batch
                )
            frontier = {file for (file,) in rows} - distances.keys()
            distances |= dict.fromkeys(frontier, distance)
        return distances

    def _chunk_files(self, chunks: Iterable[int]) -> list[tuple[int, int, int, str, int]]:
        """Return the id of each chunk, the id and the modification time of its file, and its path and start."""
        ids = list(chunks)
        return self._reader.rows(
            "SELECT chunks.id, files.id, mtime, path, chunks.start FROM chunks JOIN files ON files.id = chunks.file "
            f"WHERE chunks.id IN ({placeholders(len(ids))})",
            ids,
        )


def find_query_names(query: str) -> set[str]:
    """Return the names of symbols in a query.

    A plain word counts only if it is the whole query or is written as code: `parse_all`, `Cart.total`, `HttpServer`,
    `run()`.
    """
    matches = [*DOTTED_NAME.finditer(query)]
    marked_names = {match[0] for match in matches if _is_marked(query, *match.span())}
    return {
        name
        for name in (match[0] for match in matches)
        if name in marked_names or name == query.strip() or _is_name(name)
    }


def _is_marked(query: str, start: int, end: int) -> bool:
    quoted = query[max(0, start - 1) : start] == "`" and query.startswith("`", end)
    return quoted or query.startswith("(", end)


def _is_name(name: str) -> bool:
    return "_" in name.strip("_") or "." in name or split_words(name) != name


def _shared_tail_length(qualified: str, name: str) -> int:
    """Return the number of equal parts at the end of two dotted names."""
    count = 0
    for part, other_part in zip(reversed(qualified.split(".")), reversed(name.split(".")), strict=False):
        if part != other_part:
            break
        count += 1
    return count
