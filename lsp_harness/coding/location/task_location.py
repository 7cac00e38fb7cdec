"""Finds the code that a task in words is about.

The index finds places and this module orders them. The declaration that the task names comes before all others. Places
in code come before texts that only mention the task, and tests come last if the task does not mention tests. Each place
is then the whole declaration as its file has it now. A model may choose among the first places by their number, and it
is never asked for a path.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from lsp_harness.coding.location.named_places import NamedPlaces, find_named_places
from lsp_harness.context.fragment import TokenCounter
from lsp_harness.errors import EngineError, ModelError
from lsp_harness.files.secrets import find_secrets
from lsp_harness.index.declaration_shape import STUB_PATH, is_test_code
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.index.query.anchor import SymbolName
from lsp_harness.index.query.code_search import MAX_FILE_SEARCH_HITS, Hit, SearchRequest
from lsp_harness.index.query.rankers import MAX_SAME_NAME, find_query_names
from lsp_harness.index.symbol_table import Symbol
from lsp_harness.inference.client import Engine
from lsp_harness.inference.grammar import choice_grammar, parse_choice
from lsp_harness.inference.prompt_ceilings import CEILINGS, count_messages
from lsp_harness.inference.request import ChatRequest, Sampling
from lsp_harness.languages.language_table import find_language_of_file
from lsp_harness.syntax.symbols.declarations import (
    IMPLEMENTATION,
    TYPE_KINDS,
    WEAK_KINDS,
    Declaration,
    find_declarations,
    qualified_name,
)
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, decode, encode

RANKINGS = ("index", "model")
"""Values of `locate.ranking`: the index or the model chooses among the places."""
MAX_PLACES = 8
"""Most places. A small model cannot tell more of them apart."""
SEED_COUNT = 5
"""Number of the best hits. Hits that imports or names link to them are preferred."""
SEARCH_TIMEOUT_S = 2.0
"""The search may be slow, because nobody types meanwhile."""
NAME_BONUS = 0.4
"""Added to the score of a declaration that the task names: as much as the first ranks by words and by meaning."""
TEST_FACTOR = 0.5
"""Factor of a hit in tests, if the task does not mention tests."""
LINES_FACTOR = 0.5
"""Factor of a hit in lines of code outside of declarations."""
PROSE_FACTOR = 0.25
"""Factor of a hit in a text that is not code, if the task does not mention documentation."""
MAX_SIGNATURE_CHARS = 120
CONSTRUCTOR = re.compile(r"\b(?:constructor|initiali[sz]er|__init__)\b", re.IGNORECASE)
MIN_PARAMETER_CHARS = 4
"""Parameters with shorter names are not looked for among the words of a task."""
MAX_PARAMETER_HITS = 12
"""Most hits whose parameters are read."""
MAX_OTHERS = 2
"""Most other places that a turn names."""
UNNAMED = "the task names no code of this folder, so its words decided"
UNNAMED_IN_FILE = "the task names no code of this file, so its words decided"
TEST_WORDS = re.compile(r"\btest(s|ed|ing|_\w+)?\b", re.IGNORECASE)
PROSE_WORDS = re.compile(r"\b(docs?|documentation|readme|changelog)\b", re.IGNORECASE)
PROSE_PATH = re.compile(r"\.(md|mdx|markdown|rst|txt|adoc|org)\Z", re.IGNORECASE)
SIDE_PATH = re.compile(
    r"(?:^|/)(?:docs?|examples?|samples?|demos?|tools?|scripts?|bench(?:marks?)?|vendor(?:ed)?|third_party|legacy|build|dist)/"
)
"""Matches the path of a file beside the program, which is seldom meant by a name that the program has, too."""
SYSTEM = "You find the code that has to be changed for a task. Answer with the number of the place and nothing else."

TextReader = Callable[[str], Document | None]
"""Returns the present text of a file by its path in the workspace, or None if there is none."""


@dataclass(frozen=True, slots=True)
class TaskPlace:
    """A declaration, or lines outside of declarations, that a task in words may be about.

    Attributes:
        path: The path of the file in the workspace.
        symbol: The qualified name of the declaration, or an empty text.
        kind: The kind of the declaration.
        first: The first line, from 1.
        last: The last line, from 1.
        signature: The first line of the declaration, for the model and for people.
        score: The score of the search.
        reasons: The rankers that found it.
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
        """The place as text: `path:first-last`."""
        return f"{self.path}:{self.first}-{self.last}"


@dataclass(frozen=True, slots=True)
class TaskPlaces:
    """The places that a task in words may be about, and the chosen one.

    Attributes:
        candidates: The places, the best first.
        choice: The index of the chosen place.
        chooser: Who chose it: "index" or "model".
        doubt: Why another place may be meant. Empty if the task names the chosen one, and nothing else has its name.
    """

    candidates: tuple[TaskPlace, ...]
    choice: int = 0
    chooser: str = "index"
    doubt: str = ""

    @property
    def best(self) -> TaskPlace:
        """The chosen place."""
        return self.candidates[self.choice]

    @property
    def others(self) -> list[TaskPlace]:
        """The next places that may be meant instead of the chosen one."""
        return [place for place in self.candidates if place is not self.best][:MAX_OTHERS]

    @property
    def doubt_text(self) -> str:
        """The places that may be meant instead, in words for people. Empty if there is no doubt."""
        if not self.doubt:
            return ""
        listed = ", ".join(f"{place.symbol or 'code'} at {place.path}:{place.first}" for place in self.others)
        return f" ({self.doubt}{f'; it may also be {listed}' if listed else ''})"

    @property
    def is_guess(self) -> bool:
        """True if only the words of the task led to the chosen place."""
        return self.doubt in (UNNAMED, UNNAMED_IN_FILE)


EXAMPLE_VALUE = re.compile(r"(?<![\w.])(?:foo|bar|baz|qux|spam|eggs)(?![\w.(])", re.IGNORECASE)
"""Matches words that stand for any value, and that tests and texts are full of."""


async def find_task_places(
    index: IndexQuery,
    uri: str,
    task: str,
    read_text: TextReader,
    similar_texts: Sequence[bytes] = (),
    *,
    current_path: str = "",
) -> TaskPlaces | None:
    """Return the places that the index finds for a task, or None if it finds none.

    Args:
        index: The indexes of the workspace folders.
        uri: A URI in the folder to search.
        task: The task in words.
        read_text: Returns the text of a file. It is called in a thread.
        similar_texts: The digests of the texts whose vectors are most like the vector of the task.
        current_path: The file that the user works in.

    Raises:
        NoAnswer: The task names a declaration, a file or a line that the folder does not have.
    """
    named = await find_named_places(index, uri, task, read_text)
    words = EXAMPLE_VALUE.sub(" ", task)
    request = SearchRequest(
        words, MAX_FILE_SEARCH_HITS, similar_texts, current_path=current_path, seconds=SEARCH_TIMEOUT_S
    )
    hits = _order_hits([*await index.search(uri, request), *await _find_named_constants(index, uri, task)], task)
    if named.source_only:
        hits = [hit for hit in hits if not is_test_code(hit.path, hit.symbol)]
    first = _rank_named(named, hits)
    if named.paths and not named.symbols:
        inside = [hit for hit in hits if hit.path in named.paths]
        declared = [] if any(hit.symbol for hit in inside) else await _list_declarations(index, uri, named.paths)
        hits = await _prefer_parameters(index, uri, task, [*declared, *inside])
    # a link to the best hits moves a hit up among the others, but never above the best one
    linked = await index.boost_linked(uri, hits[:SEED_COUNT], hits[1:], SEARCH_TIMEOUT_S)
    ordered = [*first, *hits[:1], *_order_hits(linked, task)]
    constructor = await _find_constructor(index, uri, task, ordered[0]) if ordered else None
    if constructor:
        first, ordered = [constructor, *first] if first else [], [constructor, *ordered]
    # files are read and parsed here
    places = await asyncio.to_thread(_read_places, ordered, read_text, _read_lines(named, read_text))
    if not places:
        return None
    is_named = bool(named.lines) or any(places[0].path == hit.path and places[0].symbol == hit.symbol for hit in first)
    return TaskPlaces(places, doubt=named.doubt if is_named else UNNAMED_IN_FILE if named.paths else UNNAMED)


def _rank_named(named: NamedPlaces, hits: Sequence[Hit]) -> list[Hit]:
    """Return the declarations that a task names as hits. Among those that fit equally well, the search decides."""
    ranks = {(hit.path, hit.symbol): rank for rank, hit in reversed([*enumerate(hits)])}
    # of overloads, the longest one is the implementation
    longest: dict[tuple[str, str], Symbol] = {}
    for one in sorted(named.symbols, key=lambda one: one.start - one.end):
        longest.setdefault((one.path, one.qualified), one)
    symbols = [one for one in named.symbols if longest[one.path, one.qualified] is one]
    # a type is in the file that declares it, and not in those with more blocks for it
    own = {(one.path, one.name) for one in named.symbols if one.kind in TYPE_KINDS and one.kind != IMPLEMENTATION}
    if not named.is_ordered:
        symbols.sort(
            key=lambda one: (
                one.kind in WEAK_KINDS,
                one.kind == IMPLEMENTATION and bool(own) and (one.path, one.name) not in own,
                is_test_code(one.path, one.qualified),
                SIDE_PATH.search(one.path) is not None,
                STUB_PATH.search(one.path) is not None,
                _is_private(one),
                ranks.get((one.path, one.qualified), len(hits)),
            )
        )
    first: list[Hit] = []
    for number, one in enumerate(symbols[:MAX_PLACES], 1):
        rank = ranks.get((one.path, one.qualified))
        score, reasons = (hits[rank].score, hits[rank].reasons) if rank is not None else (0.0, ())
        place = one.path, one.qualified, one.kind, one.line, one.start, one.end
        first.append(Hit(*place, score, (f"named {number}", *reasons)))
    return first


def _is_private(symbol: Symbol) -> bool:
    """Return whether the name of a declaration, or of what is around it, says that others should not use it."""
    parts = [*symbol.path.split("/"), *symbol.qualified.split(".")]
    return any(part.startswith("_") and not part.startswith("__") for part in parts)


async def _find_constructor(index: IndexQuery, uri: str, task: str, hit: Hit) -> Hit | None:
    """Return the constructor of the type of a hit if the task speaks of it, or calls the type with arguments."""
    if hit.kind not in TYPE_KINDS or (language := find_language_of_file(hit.path)) is None:
        return None
    called = re.search(rf"\b{re.escape(hit.symbol.rpartition('.')[2])}\((?!\))", task)
    if not (called or CONSTRUCTOR.search(task)):
        return None
    for name in language.packages.constructor_names:
        for one in await index.symbols_named(uri, SymbolName(f"{hit.symbol}.{name}", hit.path)):
            return Hit(one.path, one.qualified, one.kind, one.line, one.start, one.end, hit.score, hit.reasons)
    return None


async def _prefer_parameters(index: IndexQuery, uri: str, task: str, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits of a named file, those functions first whose parameters the task names: “a negative capacity”."""
    words = {word for word in re.findall(r"[^\W\d]\w*", task) if len(word) >= MIN_PARAMETER_CHARS}
    first: list[Hit] = []
    for hit in hits[:MAX_PARAMETER_HITS]:
        named = await index.symbols_named(uri, SymbolName(hit.symbol, hit.path)) if hit.symbol else []
        overview = await index.symbol_overview(uri, named[0]) if named else None
        parameters = overview.signature.partition("(")[2] if overview else ""
        if words & set(re.findall(r"[^\W\d]\w*(?=\s*[:=,)?])", parameters)):
            first.append(hit)
    return [*first, *(hit for hit in hits if hit not in first)]


async def _list_declarations(index: IndexQuery, uri: str, paths: Sequence[str]) -> list[Hit]:
    """Return the declarations of files in which the search finds nothing."""
    return [
        Hit(one.path, one.qualified, one.kind, one.line, one.start, one.end, 0.0, ("file",))
        for path in paths
        for one in await index.symbols_in(uri, path)
        if one.kind not in WEAK_KINDS
    ]


def _read_lines(named: NamedPlaces, read_text: TextReader) -> TaskPlace | None:
    """Return the lines that a task names, if they are no declaration."""
    document = read_text(named.paths[0]) if named.lines else None
    if not (named.lines and document):
        return None
    first, last = named.lines
    span = Span(document.line_starts[first - 1], document.line_span(last - 1)[1])
    hit = Hit(named.paths[0], "", "", first - 1, *span, 0.0, ("named 1",))
    return _describe_place(hit, document, span, Span(*document.line_span(first - 1)))


def _read_places(hits: Iterable[Hit], read_text: TextReader, named: TaskPlace | None = None) -> tuple[TaskPlace, ...]:
    """Return at most `MAX_PLACES` different places of hits, after the lines that the task names."""
    places = dict[str, TaskPlace]()
    if named:
        places[named.place] = named
    for hit in hits:
        place = _create_place(hit, read_text)
        if place and place.place not in places:
            places[place.place] = place
        if len(places) == MAX_PLACES:
            break
    return tuple(places.values())


async def choose_place(engine: Engine, task: str, places: TaskPlaces, budget: int) -> TaskPlaces:
    """Let a model choose a place.

    The choice of the index stays if the budget is too small for two places, if there is no model, or if the task
    contains what looks like a secret.

    Args:
        engine: The client of the model.
        task: The task in words.
        places: The places that fit the task.
        budget: The most tokens of the task and the places in the prompt.
    """
    if find_secrets(encode(task)):
        return places
    try:
        lines = await _fit_lines(engine.count, task, places.candidates, budget)
        if len(lines) < 2:
            return places
        messages = [("system", SYSTEM), ("user", _format_question(task, lines))]
        if await count_messages(engine, messages) > budget + CEILINGS["locate"].tokens:
            return places
        sampling = Sampling(n_predict=len(str(MAX_PLACES)), grammar=choice_grammar(len(lines)))
        answer = ""
        async with aclosing(cast("Any", engine.stream(ChatRequest(messages, sampling)))) as chunks:
            async for chunk in chunks:
                answer += chunk.text
    except (EngineError, ModelError):
        return places
    number = parse_choice(answer, len(lines))
    return places if number is None else TaskPlaces(places.candidates, number, "model", places.doubt)


async def _find_named_constants(index: IndexQuery, uri: str, task: str) -> list[Hit]:
    """Return the constants and similar declarations that a task names.

    The search only finds all of a group together.
    """
    hits: list[Hit] = []
    for name in sorted(find_query_names(task)):
        symbols = [symbol for symbol in await index.symbols_named(uri, SymbolName(name)) if symbol.kind in WEAK_KINDS]
        for symbol in symbols if len(symbols) <= MAX_SAME_NAME else ():
            place = symbol.path, symbol.qualified, symbol.kind, symbol.line, symbol.start, symbol.end
            hits.append(Hit(*place, 0.0, ("mention 1",)))
    return hits


async def _fit_lines(count: TokenCounter, task: str, places: Sequence[TaskPlace], budget: int) -> list[str]:
    """Return a line for each place, as many as the budget has room for beside the task."""
    lines = [f"{number}: {place.path}:{place.first} {place.signature}" for number, place in enumerate(places)]
    questions = [_format_question(task, lines[:size]) for size in range(1, len(lines) + 1)]
    system, *costs = await count([SYSTEM, *questions])
    return lines[: sum(system + cost <= budget for cost in costs)]


def _format_question(task: str, lines: Sequence[str]) -> str:
    places = "\n".join(lines)
    return f"Task: {task}\n\nPlaces:\n{places}\n\nWhich place has to be changed? Answer with its number."


def _order_hits(hits: Iterable[Hit], task: str) -> list[Hit]:
    """Return the hits, the best first."""
    return sorted(hits, key=lambda hit: -_score_hit(hit, task))


def _score_hit(hit: Hit, task: str) -> float:
    rankers = {reason.partition(" ")[0] for reason in hit.reasons}
    score = hit.score + NAME_BONUS * bool(rankers & {"name", "mention"})
    if PROSE_PATH.search(hit.path):
        return score if PROSE_WORDS.search(task) else score * PROSE_FACTOR
    score *= 1 if hit.symbol else LINES_FACTOR
    return score * TEST_FACTOR if is_test_code(hit.path, hit.symbol) and not TEST_WORDS.search(task) else score


def _create_place(hit: Hit, read_text: TextReader) -> TaskPlace | None:
    """Return the declaration of a hit as the text has it now. For a hit outside of declarations, return its lines."""
    document = read_text(hit.path)
    if document is None or document.is_binary:
        return None
    data = document.data
    declarations = sorted(_find_declarations(document, hit), key=lambda declaration: abs(declaration.line - hit.line))
    if declarations:
        nearest = declarations[0]
        head = Span(data.rfind(b"\n", 0, nearest.name_start) + 1, nearest.body_start)
        return _describe_place(hit, document, Span(nearest.start, nearest.end), head)
    if hit.symbol or hit.end > len(data):
        # the index is older than the text
        return None
    first = hit.end - len(data[hit.start : hit.end].lstrip())
    line_end = data.find(b"\n", first, hit.end)
    head = Span(first, line_end if line_end >= 0 else hit.end)
    return _describe_place(hit, document, Span(hit.start, hit.end), head)


def _describe_place(hit: Hit, document: Document, span: Span, head: Span) -> TaskPlace:
    """Return the place of a span without the blank space around it. The signature is the text of `head`."""
    data, start = document.data, span.start
    end = start + len(data[start : span.end].rstrip())
    start += len(data[start:end]) - len(data[start:end].lstrip())
    lines = document.line_of(start) + 1, document.line_of(max(start, end - 1)) + 1
    signature = " ".join(decode(data[slice(*head)]).split()).rstrip("{: ")[:MAX_SIGNATURE_CHARS]
    # the whole text is searched for secrets: a line from within a key does not look like one
    if any(secret_start < head.end and head.start < secret_end for secret_start, secret_end in find_secrets(data)):
        signature = hit.symbol
    return TaskPlace(hit.path, hit.symbol, hit.kind, *lines, signature, hit.score, hit.reasons)


def _find_declarations(document: Document, hit: Hit) -> Iterator[Declaration]:
    """Yield the declarations of the text that have the name and kind of a hit."""
    tree = parse(document) if hit.symbol else None
    declarations = find_declarations(tree.language, tree.data, tree.root)[0] if tree else []
    return (
        declaration
        for declaration in declarations
        if declaration.kind == hit.kind and qualified_name(declarations, declaration) == hit.symbol
    )


@dataclass(frozen=True, slots=True)
class LocationRequest:
    """A question for the code that a task is about.

    Attributes:
        task: The task in words.
        uri: The file or folder that the user is in. It may be empty.
        alternative: How the user can say the place instead, for error messages.
    """

    task: str
    uri: str = ""
    alternative: str = "select the lines to change"


@dataclass(frozen=True, slots=True)
class LocatedTask:
    """The code that a task is about, and other code that it may be about.

    Attributes:
        root: The workspace folder.
        ranking: The candidates, and the choice among them.
        texts: The texts of the candidates, by path.
        read_text: Returns the text of any file of the folder that a model may see, or None.
    """

    root: Path
    ranking: TaskPlaces
    texts: Mapping[str, Document]
    read_text: TextReader

    def document(self, candidate: TaskPlace) -> Document:
        """Return the text of a candidate."""
        return self.texts[candidate.path]

    def span(self, candidate: TaskPlace) -> Span:
        """Return the bytes of the whole lines of a candidate."""
        document = self.texts[candidate.path]
        return Span(document.line_starts[candidate.first - 1], document.line_span(candidate.last - 1)[1])
