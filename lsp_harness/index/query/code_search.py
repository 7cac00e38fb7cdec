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

from lsp_harness.index.query.anchor import Anchor, FilePosition, SymbolName, find_anchors
from lsp_harness.index.query.rankers import MAX_TEXT_WORDS, Rankers, Ranking
from lsp_harness.store.database import Reader, placeholders

RANK_OFFSET = 5
"""Of reciprocal rank fusion: what is first counts for 1/K, what is second for 1/(K + 1)."""
WEIGHTS = {"mention": 0.5, "remarks": 0.5, "imports": 0.5, "lately": 0.2, "named": 4.0, "linked": 0.3}
"""Of the ways that do not count for 1: what a sentence mentions is often only near what it asks for, what a module says of itself
is about more than one thing, where somebody is only decides between hits that are alike, and a symbol that is asked for comes before what
has to do with it."""
SEARCH_LIMIT_S = 0.05
"""A search takes no longer than this before it is content with words."""
MAX_SUPPORTERS = 3
SUPPORT_WEIGHT = 0.05
"""What the best hits among the members of one type, or among what is at the top of one file, count for each other."""
MAX_FILE_SEARCH_HITS = 60
"""Hits that are looked at for files."""
MAX_HITS_PER_FILE = 3
"""Hits of one file that count: a long one is not what a text is about because it has many."""
MENTION_SCORE = 0.2
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
class _Score:
    score: float = 0.0
    reasons: list[str] = field(default_factory=list[str])


class CodeSearch(Rankers):
    """Over the index of one folder."""

    def __init__(self, reader: Reader, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(reader)
        self._clock = clock

    def search(
        self,
        target: str | FilePosition | SymbolName,
        limit: int = 20,
        nearest_digests: Sequence[bytes] = (),
        *,
        current_path: str = "",
        seconds: float = SEARCH_LIMIT_S,
    ) -> list[Hit]:
        """The best hits first: of words or names, of a place (what is like what stands there, what that uses, and what uses it, but
        not itself), or of a symbol (that, and the same). `near` are digests of the texts whose vectors are most like what is
        asked. Of hits that are alike those are better whose file imports the file `beside`, or is imported by it, or was written
        last; a place is beside itself. A way that is not done when the time is over is left out, words alone are waited for.
        Raises StoreError."""
        deadline = self._clock() + seconds
        if isinstance(target, str):
            # what is named is looked up at once, or there are too many; words need the rest
            rankings = self._rank_until(deadline - seconds / 2, lambda: self.rank_by_name(target))
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
            [(name, [chunk for chunk in ranking if chunk not in own_chunks]) for name, ranking in rankings], limit
        )

    def _rank_around(
        self,
        target: FilePosition | SymbolName,
        anchors: Sequence[Anchor],
        nearest_digests: Sequence[bytes],
        deadline: float,
    ) -> tuple[list[Ranking], frozenset[int]]:
        """What is found from some places, and what of it is nothing but these places."""
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
        """These others. What the best use, or what uses them, is worth more than it was, most what is so of the better and of several."""
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
        """Those that are done by then."""
        return self._reader.collect_until(lambda: self._clock() >= deadline, lambda: (ranker() for ranker in rankers))

    def rank_files(
        self,
        query: str,
        limit: int = 10,
        nearest_digests: Sequence[bytes] = (),
        *,
        current_path: str = "",
        seconds: float = SEARCH_LIMIT_S,
    ) -> list[tuple[str, float]]:
        """The files a longer text is about, such as a report of a fault: those it names, then those of the best hits."""
        scores_by_path: dict[str, list[float]] = defaultdict(list)
        for hit in self.search(
            query, MAX_FILE_SEARCH_HITS, nearest_digests, current_path=current_path, seconds=seconds
        ):
            scores_by_path[hit.path].append(hit.score)
        scores = {path: sum(hit_scores[:MAX_HITS_PER_FILE]) for path, hit_scores in scores_by_path.items()}
        for path in self._find_mentioned_files(query):
            scores[path] = scores.get(path, 0.0) + MENTION_SCORE
        return sorted(scores.items(), key=lambda each: (-each[1], each[0]))[:limit]

    def _find_mentioned_files(self, query: str) -> set[str]:
        """Files whose path, or the end of it, is in the text, as it is in a traceback."""
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
        """Chunks in the order of several rankings together, each called by its name."""
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
        best = sorted(chunk_fields, key=lambda chunk: (-scores[chunk].score, chunk))[:limit]
        return [
            Hit(*chunk_fields[chunk_id], scores[chunk_id].score, tuple(scores[chunk_id].reasons)) for chunk_id in best
        ]

    def _read_chunks(self, ids: Iterable[int]) -> list[tuple[int, int, str, str, str, int, int, int]]:
        ids = list(ids)
        return self._reader.rows(
            "SELECT chunks.id, coalesce(parent, -2), path, coalesce(qualified, ''), coalesce(kind, ''), coalesce(line, 0), chunks.start, chunks.end "
            "FROM chunks JOIN files ON files.id = chunks.file "
            "LEFT JOIN symbols ON symbols.file = chunks.file AND symbols.n = chunks.symbol "
            f"WHERE chunks.id IN ({placeholders(len(ids))})",
            ids,
        )
