"""Search for code by symbol names, by the words of its text, and by its meaning.

Each ranker works on its own. The rankings are fused by reciprocal rank, as their scores cannot be compared. A hit has
the names of the rankers that found it and its rank in each.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic

from lsp_harness.index.index_view import IndexView
from lsp_harness.index.query.anchor import Anchor, FilePosition, SymbolName, find_anchors
from lsp_harness.index.query.definition_lines import MAX_LINE_CHARS
from lsp_harness.index.query.rankers import MAX_TEXT_WORDS, Rankers, Ranking
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.store.database import DatabaseReader, placeholders
from lsp_harness.syntax.grammars import language_for
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode

RANK_OFFSET = 5
"""Offset of reciprocal rank fusion: the first hit of a ranking scores 1/RANK_OFFSET, the second 1/(RANK_OFFSET + 1)."""
WEIGHTS = {"mention": 0.5, "remarks": 0.5, "imports": 0.5, "lately": 0.2, "named": 4.0, "linked": 0.3}
"""Weights of the rankers that do not have weight 1.

A name in a sentence is often only near the wanted code. A module docstring is about several things. Imports and time
only decide between similar hits. A symbol that is asked for comes before related code."""
SEARCH_LIMIT_S = 0.05
"""Time after which a search returns what it has found by words."""
MAX_SUPPORTERS = 3
SUPPORT_WEIGHT = 0.05
"""Weight that the best hits in one type, or at the top of one file, give to each other."""
MAX_FILE_SEARCH_HITS = 60
"""Number of hits from which files are ranked."""
MAX_HITS_PER_FILE = 3
"""Number of hits of one file that count. Otherwise long files would win by the number of their hits."""
MENTION_SCORE = 0.2
"""Score of a file whose path is in the query."""
PATH = re.compile(r"[\w./\\-]*\w\.[A-Za-z]{1,5}\b")


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that was found: its file, its symbol (empty outside of declarations), its byte range, and the reasons.

    `line` is counted from 0. The reasons are the rankings that found the chunk, with its rank in each.
    """

    path: str
    symbol: str
    kind: str
    line: int
    start: int
    end: int
    score: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileHit:
    """A file that was found."""

    path: str
    score: float


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search for code.

    Attributes:
        target: Words or names, a position, or a symbol. A search for files needs words.
        limit: The largest number of results.
        nearest_digests: The digests of the texts whose vectors are most similar to the target, the most similar first.
        current_path: A file. Hits in files that imports connect with it, and recently written ones, are preferred.
        seconds: The time limit. Rankers that are not done in time are left out, except the ranking by words.
    """

    target: str | FilePosition | SymbolName
    limit: int = 20
    nearest_digests: Sequence[bytes] = ()
    current_path: str = ""
    seconds: float = SEARCH_LIMIT_S


@dataclass(slots=True)
class _Score:
    score: float = 0.0
    reasons: list[str] = field(default_factory=list[str])


class CodeSearch(Rankers):
    """Search over the index of one folder."""

    def __init__(self, reader: DatabaseReader, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(reader)
        self._clock = clock

    def search(self, request: SearchRequest) -> list[Hit]:
        """Return the best hits first.

        For a position or symbol, code that is similar, that it uses, or that uses it is found. The code at a position
        itself is left out.

        Raises:
            StoreError: The index cannot be read.
        """
        target, nearest_digests, current_path = request.target, request.nearest_digests, request.current_path
        deadline = self._clock() + request.seconds
        if isinstance(target, str):
            # A search by name is fast unless there are too many names. The words need the remaining time.
            rankings = self._rank_until(deadline - request.seconds / 2, lambda: self.rank_by_name(target))
            rankings.append(self.rank_by_words(target))
            rankings += self._rank_until(
                deadline, lambda: self.rank_by_meaning(nearest_digests), lambda: self.rank_by_remarks(nearest_digests)
            )
            own_chunks = frozenset[int]()
        else:
            anchors = find_anchors(self._reader, target)
            current_path = current_path or (anchors[0].path if anchors else "")
            rankings, own_chunks = self._rank_around(target, anchors, nearest_digests, deadline)
        chunks = dict.fromkeys(chunk for _, ranking in rankings for chunk in ranking)
        if current_path:
            rankings += self._rank_until(
                deadline, lambda: self.rank_by_distance(chunks, current_path), lambda: self.rank_by_time(chunks)
            )
        return self.fuse_rankings(
            [(name, [chunk for chunk in ranking if chunk not in own_chunks]) for name, ranking in rankings],
            request.limit,
        )

    def _rank_around(
        self,
        target: FilePosition | SymbolName,
        anchors: Sequence[Anchor],
        nearest_digests: Sequence[bytes],
        deadline: float,
    ) -> tuple[list[Ranking], frozenset[int]]:
        """Return rankings around anchors, and the chunks of the anchors themselves."""
        rankings = [self.rank_by_words(" ".join(f"{anchor.name} {anchor.text}" for anchor in anchors), MAX_TEXT_WORDS)]
        rankings += self._rank_until(
            deadline,
            lambda: self.rank_by_use(anchors),
            lambda: self.rank_by_users(anchors),
            lambda: self.rank_by_meaning(nearest_digests),
            lambda: self.rank_by_remarks(nearest_digests),
        )
        if isinstance(target, SymbolName):
            return [*self._rank_until(deadline, lambda: self.rank_by_declaration(target)), *rankings], frozenset()
        return rankings, frozenset(chunk for anchor in anchors for chunk in anchor.own_chunks)

    def boost_linked(self, best: Sequence[Hit], others: Iterable[Hit], seconds: float) -> list[Hit]:
        """Return `others` with higher scores for code that the best hits use or that uses the best hits.

        Links to better hits and to several hits count more.

        Args:
            best: The best hits, in order.
            others: The hits to score again.
            seconds: The time limit of the search, in seconds.
        """
        deadline, others = self._clock() + seconds, [*others]
        link_scores = {(hit.path, hit.start): 0.0 for hit in others}
        for rank, hit in enumerate(best):
            anchors = find_anchors(self._reader, SymbolName(hit.symbol, hit.path))[:1] if hit.symbol else []
            rankings = self._rank_until(
                deadline, partial(self.rank_by_use, anchors), partial(self.rank_by_users, anchors)
            )
            for _, _, path, _, _, _, start, _ in self._read_chunks(
                {chunk for _, ranking in rankings for chunk in ranking}
            ):
                if (path, start) in link_scores:
                    link_scores[path, start] += 1 / (RANK_OFFSET + rank)
        linked_places = (place for place, count in link_scores.items() if count)
        ranks = {place: rank for rank, place in enumerate(sorted(linked_places, key=lambda place: -link_scores[place]))}
        boosted: list[Hit] = []
        for hit in others:
            if (rank := ranks.get((hit.path, hit.start))) is not None:
                score = hit.score + WEIGHTS["linked"] / (RANK_OFFSET + rank)
                hit = replace(hit, score=score, reasons=(*hit.reasons, f"linked {rank + 1}"))
            boosted.append(hit)
        return boosted

    def _rank_until(self, deadline: float, *rankers: Callable[[], Ranking]) -> list[Ranking]:
        """Return the rankings that are done before the deadline."""
        return self._reader.collect_until(lambda: self._clock() >= deadline, lambda: (ranker() for ranker in rankers))

    def rank_files(self, request: SearchRequest) -> list[FileHit]:
        """Return the files that a longer text is about, such as a bug report, the best first."""
        text = request.target
        if not isinstance(text, str):
            raise TypeError("the target of a search for files is not a text")
        scores_by_path: dict[str, list[float]] = defaultdict(list)
        for hit in self.search(replace(request, limit=MAX_FILE_SEARCH_HITS)):
            scores_by_path[hit.path].append(hit.score)
        scores = {path: sum(hit_scores[:MAX_HITS_PER_FILE]) for path, hit_scores in scores_by_path.items()}
        for path in self._find_mentioned_files(text):
            scores[path] = scores.get(path, 0.0) + MENTION_SCORE
        best = sorted(scores.items(), key=lambda entry: (-entry[1], entry[0]))[: request.limit]
        return [FileHit(path, score) for path, score in best]

    def _find_mentioned_files(self, query: str) -> set[str]:
        """Return files whose path, or the end of it, is in the text, as in a traceback."""
        mentioned = {path.replace("\\", "/").removeprefix("./") for path in PATH.findall(query)}
        names = {path.rpartition("/")[2] for path in mentioned}
        paths = [
            path
            for name in names
            for (path,) in self._reader.rows(
                "SELECT path FROM files WHERE path = ? OR path LIKE ?", (name, f"%/{name}")
            )
        ]
        return {
            path
            for path in paths
            for mention in mentioned
            if f"/{path}".endswith(f"/{mention}") or f"/{mention}".endswith(f"/{path}")
        }

    def fuse_rankings(self, rankings: Sequence[tuple[str, Sequence[int]]], limit: int) -> list[Hit]:
        """Return the best chunks of several named rankings together."""
        scores: dict[int, _Score] = defaultdict(_Score)
        for name, ranking in rankings:
            for rank, chunk in enumerate(ranking):
                scores[chunk].score += WEIGHTS.get(name, 1.0) / (RANK_OFFSET + rank)
                scores[chunk].reasons.append(f"{name} {rank + 1}")
        scores_by_place: dict[tuple[str, int], list[float]] = defaultdict(list)
        chunk_fields: dict[int, tuple[str, str, str, int, int, int]] = {}
        places: dict[int, tuple[str, int]] = {}
        for chunk, parent, path, symbol, kind, line, start, end in self._read_chunks(scores):
            chunk_fields[chunk], places[chunk] = (path, symbol, kind, line, start, end), (path, parent)
            scores_by_place[path, parent].append(scores[chunk].score)
        support = {
            place: SUPPORT_WEIGHT * sum(sorted(scores)[-MAX_SUPPORTERS:])
            for place, scores in scores_by_place.items()
            if scores[1:]
        }
        for chunk, place in places.items():
            scores[chunk].score += support.get(place, 0.0)

        def order(chunk: int) -> tuple[float, str, int]:
            path, _, _, _, start, _ = chunk_fields[chunk]
            return -scores[chunk].score, path, start

        best = sorted(chunk_fields, key=order)[:limit]
        return [
            Hit(*chunk_fields[chunk_id], scores[chunk_id].score, tuple(scores[chunk_id].reasons)) for chunk_id in best
        ]

    def _read_chunks(self, ids: Iterable[int]) -> list[tuple[int, int, str, str, str, int, int, int]]:
        ids = list(ids)
        return self._reader.rows(
            "SELECT chunks.id, coalesce(parent, -2), path, coalesce(qualified, ''), coalesce(kind, ''), "
            "coalesce(line, 0), chunks.start, chunks.end "
            "FROM chunks JOIN files ON files.id = chunks.file "
            "LEFT JOIN symbols ON symbols.file = chunks.file AND symbols.n = chunks.symbol "
            f"WHERE chunks.id IN ({placeholders(len(ids))})",
            ids,
        )


MAX_HITS = 20
"""Most hits of the search to read."""
SEARCH_TIMEOUT_S = 2.0
"""The user waits for an edit, which takes seconds, so a search may take this long. On a busy machine it must not end
earlier than on an idle one, or else the same edit has another prompt."""


@dataclass(frozen=True, slots=True)
class DeclarationSearch:
    """A search for declarations around a task.

    Attributes:
        task: The words to search for.
        path: The file of the task. Hits in files that imports connect with it are preferred.
        language: The language of the declarations; dialects of it count as well.
        excluded: The paths and qualified names of declarations to leave out.
        nearest_digests: The digests of the texts that are most similar to the task, by their vectors.
    """

    task: str
    path: str
    language: LanguageSpec
    excluded: AbstractSet[tuple[str, str]] = frozenset()
    nearest_digests: Sequence[bytes] = ()


@dataclass(frozen=True, slots=True)
class FoundDeclaration:
    """A declaration: its whole `text`, and its `head`, which is its signature on one line.

    The head is empty if an unsaved text does not have the declaration any more.
    """

    path: str
    line: int
    text: str
    head: str


def find_declarations_about(view: IndexView, search: DeclarationSearch) -> list[FoundDeclaration]:
    """Return the declarations that a search finds, the best first."""
    request = SearchRequest(search.task, MAX_HITS, search.nearest_digests, search.path, SEARCH_TIMEOUT_S)
    hits = CodeSearch(view.reader).search(request)
    return [
        _read_declaration(view, hit)
        for hit in hits
        if hit.symbol and (hit.path, hit.symbol) not in search.excluded and _is_same_language(hit.path, search.language)
    ]


def _read_declaration(view: IndexView, hit: Hit) -> FoundDeclaration:
    symbol = view.symbols.find_symbol(hit.path, hit.symbol)
    if symbol is None:
        return FoundDeclaration(hit.path, hit.line, "", "")
    head = view.texts.read_signature(symbol).rstrip("{ ")[:MAX_LINE_CHARS]
    # The hit itself is only a chunk of the declaration.
    text = view.texts.read_with_comments(symbol) or "\n".join(view.texts.read_lines(hit.path, hit.start, hit.end))
    return FoundDeclaration(hit.path, symbol.line, text, head)


def _is_same_language(path: str, language: LanguageSpec) -> bool:
    """Return whether a file is in this language or a dialect of it."""
    other = language_for("", path)
    return bool(other and other.queries and other.queries[0] in language.queries)


WORD = re.compile(r"[^\W\d]\w+")
WINDOW_LINES = 10
"""Lines above the cursor that are compared with other code."""
CONTINUATION_LINES = 8
"""Lines after the similar code, which show how it continues."""
MIN_WANTED_WORDS = 3
MIN_SIMILARITY = 0.15
"""Minimum share of common words (of all words in either text)."""
COPY_SIMILARITY = 0.9
"""Share of common words from which a text is a copy of another."""
MAX_RESULTS = 3
SEARCH_HITS = 20


@dataclass(frozen=True, slots=True)
class SimilarCode:
    """Lines of the file `path` that are similar to other lines."""

    path: str
    text: str


def find_similar_code(view: IndexView, path: str, document: Document, line: int) -> list[SimilarCode]:
    """Return code of other files that is similar to the lines above a line, without copies of each other.

    Args:
        view: The index.
        path: The file of the document, whose own code is left out.
        document: The text of the file.
        line: The line, counted from 0.

    Returns:
        At most `MAX_RESULTS` pieces of code, the most similar first.
    """
    lines_above = [decode(document.line(n)) for n in range(max(0, line - 2 * WINDOW_LINES), line)]
    lines_above = [text for text in lines_above if text.strip()][-WINDOW_LINES:]
    cursor_words = set(WORD.findall("\n".join(lines_above)))
    if len(cursor_words) < MIN_WANTED_WORDS:
        return []
    candidates = sorted(_find_candidates(view, path, cursor_words), key=lambda candidate: -candidate[0])
    results: list[SimilarCode] = []
    for _, code in candidates:
        if len(results) < MAX_RESULTS and not any(_is_copy(code.text, other.text) for other in results):
            results.append(code)
    return results


def _find_candidates(view: IndexView, path: str, cursor_words: set[str]) -> Iterator[tuple[float, SimilarCode]]:
    """Yield the most similar lines of each piece of code that a search finds, with their similarity."""
    search = CodeSearch(view.reader)
    for hit in search.fuse_rankings([search.rank_by_words(" ".join(sorted(cursor_words)))], SEARCH_HITS):
        if hit.path == path:
            continue
        lines = view.texts.read_lines(hit.path, hit.start, hit.end)
        score, first = 0.0, 0
        for start in range(max(1, len(lines) - WINDOW_LINES + 1)):
            words = set(WORD.findall("\n".join(lines[start : start + WINDOW_LINES])))
            similarity = len(words & cursor_words) / len(words | cursor_words) if words else 0.0
            if similarity > score:
                score, first = similarity, start
        if score >= MIN_SIMILARITY:
            end = first + WINDOW_LINES + CONTINUATION_LINES
            yield score, SimilarCode(hit.path, "\n".join(lines[first:end]))


def _is_copy(text: str, other: str) -> bool:
    """Return whether two texts have nearly the same words."""
    words, other_words = set(WORD.findall(text)), set(WORD.findall(other))
    return len(words & other_words) >= COPY_SIMILARITY * len(words | other_words)
