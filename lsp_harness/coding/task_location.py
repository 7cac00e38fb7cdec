"""A task in words → the code that it is about. Nobody says where that is.

What the index finds is put in order: what can be changed by an edit of code comes before texts that only speak of it,
tests come last where the task speaks of none, and what the task names by its name comes first. Each is then the whole
declaration as its file has it now. A model may choose among the first few by their number; it is never asked for a
path.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

from lsp_harness.context.fragment import TokenCounter
from lsp_harness.errors import EngineError, ModelError
from lsp_harness.files.secrets import find_secrets
from lsp_harness.index.declaration_shape import TEST_PATH
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.index.query.anchor import SymbolName
from lsp_harness.index.query.anchor import find_declared as declared_in
from lsp_harness.index.query.code_search import MAX_FILE_SEARCH_HITS, CodeSearch, Hit
from lsp_harness.index.query.rankers import MAX_SAME_NAME, find_query_names
from lsp_harness.inference.client import Engine
from lsp_harness.inference.grammar import choice_grammar, parse_choice
from lsp_harness.inference.request import ChatRequest, Sampling
from lsp_harness.store.database import Reader
from lsp_harness.syntax.symbols.declarations import WEAK_KINDS, Declaration, find_declarations, qualified_name
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode, encode

RANKINGS = ("index", "model")
"""Who may choose among the candidates."""
MOST = 8
"""Candidates: more than a small model tells apart."""
SEEDS = 5
"""The best hits, whose neighbours in the graph of imports and names the others may be."""
SECONDS = 2.0
"""For the search: there is nobody who types meanwhile."""
NAMED = 0.2
"""What it counts that the task names a declaration, beside its ranks: as much as to be the first of one way."""
TEST, LOOSE, PROSE = 0.5, 0.5, 0.25
"""What a hit in tests is worth that were not spoken of, one in lines of code that are in no declaration, and one in a
text that is no code."""
WIDTH = 120
"""Characters of a signature that are shown."""
SPEAKS_OF_TESTS = re.compile(r"\btest(s|ed|ing|_\w+)?\b", re.IGNORECASE)
SPEAKS_OF_PROSE = re.compile(r"\b(docs?|documentation|readme|changelog)\b", re.IGNORECASE)
WRITTEN = re.compile(r"\.(md|mdx|markdown|rst|txt|adoc|org)\Z", re.IGNORECASE)
"""The names of texts that are no code."""
SYSTEM = "You find the code that has to be changed for a task. Answer with the number of the place and nothing else."

Texts = Callable[[str], Document | None]
"""The text of a file of the workspace, by its path there, as it is now; None where there is none."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A declaration, or lines that are in none:

    `first` and `last` are lines counted from 1. `reasons` say by what it was found.
    """

    path: str
    symbol: str
    kind: str
    first: int
    last: int
    signature: str
    score: float
    reasons: tuple[str, ...]

    @property
    def place(self) -> str:
        return f"{self.path}:{self.first}-{self.last}"


@dataclass(frozen=True, slots=True)
class Sought:
    """The candidates, best first by what the index says; `chosen` is the number of the one it is, and `by` who says
    so."""

    candidates: tuple[Candidate, ...]
    chosen: int = 0
    by: str = "index"

    @property
    def best(self) -> Candidate:
        return self.candidates[self.chosen]


async def seek(
    known: IndexQuery, uri: str, task: str, texts: Texts, near: Sequence[bytes] = (), *, beside: str = ""
) -> Sought | None:
    """What the index of the folder that `uri` is in says; `near` are digests of the texts whose vectors are most like
    the task's, `beside` the file that somebody is in. `texts` is called where the index is read. None where it finds
    nothing."""

    def read(reader: Reader) -> list[Candidate]:
        search = CodeSearch(reader)
        hits = _ordered(
            [
                *search.search(task, MAX_FILE_SEARCH_HITS, near, current_path=beside, seconds=SECONDS),
                *_small(reader, task),
            ],
            task,
        )
        # what has to do with the best is more likely among the others, and never better than it
        others = _ordered(search.boost_linked(hits[:SEEDS], hits[1:], SECONDS), task)
        found = dict[str, Candidate]()
        for hit in [*hits[:1], *others]:
            one = _whole(hit, texts)
            if one and one.place not in found:
                found[one.place] = one
            if len(found) == MOST:
                break
        return [*found.values()]

    found = await known.ask(uri, read, list[Candidate](), slow=True)
    return Sought((*found,)) if found else None


async def narrowed(engine: Engine, task: str, sought: Sought, budget: int) -> Sought:
    """With the choice of a model, that is shown at most `budget` tokens of candidates and task; what the index says
    where that is too little for two of them, there is no model, or the task holds what looks like a secret."""
    if find_secrets(encode(task)):
        return sought
    try:
        shown = await _shown(engine.count, task, sought.candidates, budget)
        if len(shown) < 2:
            return sought
        messages = [("system", SYSTEM), ("user", _question(task, shown))]
        sampling = Sampling(n_predict=len(str(MOST)), grammar=choice_grammar(len(shown)))
        answer = ""
        async with aclosing(cast("Any", engine.stream(ChatRequest(messages, sampling)))) as chunks:
            async for chunk in chunks:
                answer += chunk.text
    except (EngineError, ModelError):
        return sought
    number = parse_choice(answer, len(shown))
    return sought if number is None else Sought(sought.candidates, number, "model")


def _small(reader: Reader, task: str) -> Iterator[Hit]:
    """Constants and the like that the task names: they stand among others, so that a search finds them all together or
    none."""
    for name in sorted(find_query_names(task)):
        found = [one for one in declared_in(reader, SymbolName(name)) if one.kind in WEAK_KINDS]
        for one in found if len(found) <= MAX_SAME_NAME else ():
            where = one.path, one.qualified, one.kind, one.line, one.start, one.end
            yield Hit(*where, 0.0, ("mention 1",))


async def _shown(count: TokenCounter, task: str, candidates: Sequence[Candidate], budget: int) -> list[str]:
    """A line for each candidate, as many as there is room for beside the task."""
    lines = [f"{number}: {one.path}:{one.first} {one.signature}" for number, one in enumerate(candidates)]
    system, *costs = await count([SYSTEM, *(_question(task, lines[:n]) for n in range(1, len(lines) + 1))])
    return lines[: sum(system + cost <= budget for cost in costs)]


def _question(task: str, lines: Sequence[str]) -> str:
    listed = "\n".join(lines)
    return f"Task: {task}\n\nPlaces:\n{listed}\n\nWhich place has to be changed? Answer with its number."


def _ordered(hits: Iterable[Hit], task: str) -> list[Hit]:
    """The best first."""
    return sorted(hits, key=lambda hit: -_worth(hit, task))


def _worth(hit: Hit, task: str) -> float:
    ways = {reason.partition(" ")[0] for reason in hit.reasons}
    score = hit.score + NAMED * bool(ways & {"name", "mention"})
    if WRITTEN.search(hit.path):
        return score if SPEAKS_OF_PROSE.search(task) else score * PROSE
    score *= 1 if hit.symbol else LOOSE
    return score * TEST if TEST_PATH.search(hit.path) and not SPEAKS_OF_TESTS.search(task) else score


def _whole(hit: Hit, texts: Texts) -> Candidate | None:
    """The declaration of a hit as the text has it now, or its lines where it is in none."""
    document = texts(hit.path)
    if document is None or document.is_binary:
        return None
    data = document.data
    for one in sorted(_called(document, hit), key=lambda one: abs(one.line - hit.line))[:1]:
        return _candidate(hit, document, one.start, one.end, (data.rfind(b"\n", 0, one.name_start) + 1, one.body_start))
    if hit.symbol or hit.end > len(data):
        # the index is older than the text
        return None
    first = hit.end - len(data[hit.start : hit.end].lstrip())
    behind = data.find(b"\n", first, hit.end)
    return _candidate(hit, document, hit.start, hit.end, (first, behind if behind >= 0 else hit.end))


def _candidate(hit: Hit, document: Document, start: int, end: int, head: tuple[int, int]) -> Candidate:
    last = start + len(document.data[start:end].rstrip())
    start += len(document.data[start:last]) - len(document.data[start:last].lstrip())
    lines = document.line_of(start) + 1, document.line_of(max(start, last - 1)) + 1
    signature = " ".join(decode(document.data[slice(*head)]).split()).rstrip("{: ")[:WIDTH]
    # what is a secret is told by the whole text: a line from within a key says nothing of it
    if any(begin < head[1] and head[0] < behind for begin, behind in find_secrets(document.data)):
        signature = hit.symbol
    return Candidate(hit.path, hit.symbol, hit.kind, *lines, signature, hit.score, hit.reasons)


def _called(document: Document, hit: Hit) -> Iterator[Declaration]:
    tree = parse(document) if hit.symbol else None
    declarations = find_declarations(tree.language, tree.data, tree.root)[0] if tree else []
    return (one for one in declarations if one.kind == hit.kind and qualified_name(declarations, one) == hit.symbol)
