"""What other files say, kept for a place in a document, so that typing does not change what stands before it in the prompt.

The choice is made for a place and holds near it. Where the cursor comes to rest it is made again, and the new one replaces the
old where that pays: all that stands after a text that changes has to be evaluated again.
"""

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from time import monotonic
from typing import TypeVar

from lsp_harness.context.fragment import Fragment, TokenCounter
from lsp_harness.context.sources.cursor_names import read_cursor_names
from lsp_harness.context.sources.import_list import complete_import_list, find_import_list
from lsp_harness.context.sources.named_definitions import DefinitionLine, find_definitions, fit_signatures
from lsp_harness.context.sources.recent_edits import RecentEdits
from lsp_harness.context.sources.similar_code import find_similar_code
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.index.index_view import View
from lsp_harness.index.query.code_search import Search
from lsp_harness.store.database import Reader
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document

CHOICE_RADIUS_LINES = 20
"""Lines from the place of a choice within which it holds."""
MIN_NEW_SHARE = 0.25
"""What of a new choice must be news, in tokens, for it to replace the old."""
SIMILAR_SHARE = 0.4
"""Of the budget, for the code that is most alike; more of it gets what is left."""
RECENT_SHARE = 0.25
"""Of the budget, at most, for what was edited or looked at last."""
INDEX_TIMEOUT_S = 0.25
"""In which the index is asked: somebody types."""
SIMILAR_REASON = "similar code"
MIN_FRAGMENT_TOKENS = 24
"""Tokens of a piece of code that says something."""


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Choice:
    line: int
    budget: int
    fragments: tuple[Fragment, ...]
    expected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    lines: Sequence[DefinitionLine] = ()
    alike: Sequence[tuple[str, str]] = ()
    expected: tuple[str, ...] = ()


class RepositoryContext:
    """One per front end. The index is asked for at most so many `seconds`; what it has not said by then is left out."""

    def __init__(
        self,
        known: IndexQuery,
        count: TokenCounter,
        recent: RecentEdits | None = None,
        clock: Callable[[], float] = monotonic,
        seconds: float = INDEX_TIMEOUT_S,
    ) -> None:
        self._known = known
        self._clock = clock
        self._seconds = seconds
        self._count = count
        self._recent = recent
        self._choices: dict[str, _Choice] = {}

    def counted_by(self, count: TokenCounter) -> "RepositoryContext":
        """Another one that counts in another way, with nothing chosen yet."""
        return RepositoryContext(self._known, count, self._recent, self._clock, self._seconds)

    async def of(
        self, document: Document, tree: SyntaxTree | None, offset: int, path: str, budget: int, *, rests: bool
    ) -> tuple[Fragment, ...]:
        """At most `budget` tokens. Whoever `rests` can wait for another choice to be evaluated."""
        if tree is None or budget <= 0:
            return ()
        line, known = document.line_of(offset), self._choices.get(document.uri)
        if known and known.budget == budget and abs(known.line - line) <= CHOICE_RADIUS_LINES and not rests:
            return known.fragments
        fragments, expected = await self._choose(document, tree, offset, path, budget)
        if known and known.budget == budget and not _pays(known.fragments, fragments):
            fragments = known.fragments
        self._choices[document.uri] = _Choice(line, budget, fragments, expected)
        return fragments

    def expected(self, uri: str) -> tuple[str, ...]:
        """The names that are likely where the last choice for a document was made."""
        known = self._choices.get(uri)
        return known.expected if known else ()

    async def to_import(self, document: Document, tree: SyntaxTree, offset: int, path: str) -> str:
        """What is missing in a list of imports at this place, or comes next in one of exports; empty elsewhere."""
        if find_import_list(tree, offset) is None:
            return ""
        opened = self._known.opened(document.uri)
        return await self._known.ask(
            document.uri, lambda reader: complete_import_list(View(reader, opened), path, tree, offset), "", slow=True
        )

    def forget(self, uri: str) -> None:
        """The document is closed."""
        self._choices.pop(uri, None)

    async def _choose(
        self, document: Document, tree: SyntaxTree, offset: int, path: str, budget: int
    ) -> tuple[tuple[Fragment, ...], tuple[str, ...]]:
        near, opened = read_cursor_names(tree, offset), self._known.opened(document.uri)

        def read(reader: Reader) -> _Found:
            view, search, end = View(reader, opened), Search(reader), self._clock() + self._seconds

            def timely(find: Callable[[], Iterable[T]]) -> list[T]:
                return reader.timely(lambda: self._clock() >= end, find)

            return _Found(
                timely(lambda: find_definitions(view, path, near)),
                timely(lambda: find_similar_code(search, view, path, document, offset)),
                (*timely(lambda: (one for one in near.unused if view.defined(path, one))),),
            )

        found = await self._known.ask(document.uri, read, _Found())
        comment = tree.language.comment or "#"
        late = await self._late(document, document.line_of(offset), int(budget * RECENT_SHARE), comment)
        shown = {line for one in late for line in one.text.split("\n")}
        likest = [one for one in found.alike if not _said(one[1], shown)]
        left = budget - _tokens(late)
        like = [
            one
            for best in likest[:1]
            for one in await self._piece(*best, SIMILAR_REASON, int(left * SIMILAR_SHARE), comment)
        ]
        defined = await fit_signatures(found.lines, left - _tokens(like), self._count, comment)
        for best in likest[1:]:
            rest = left - _tokens(defined) - _tokens(like)
            like = (
                [*await self._piece(*best, SIMILAR_REASON, rest, comment), *like]
                if rest >= MIN_FRAGMENT_TOKENS
                else like
            )
        # what changes most often comes last
        return (*defined, *like, *late), found.expected

    async def _late(self, document: Document, line: int, budget: int, comment: str) -> list[Fragment]:
        """What the user wrote or looked at last that has to do with this place, the likest nearest to it."""
        found: list[Fragment] = []
        for one in self._recent.pieces(document, line) if self._recent else ():
            left = budget - _tokens(found)
            reason = "was edited lately" if one.edited else "was looked at lately"
            if left >= MIN_FRAGMENT_TOKENS:
                found = [*await self._piece(one.path, one.text, reason, left, comment), *found]
        return found

    async def _piece(self, origin: str, text: str, reason: str, budget: int, comment: str) -> list[Fragment]:
        """As many of its lines as fit, below a line with its origin."""
        lines = [f"{comment} {origin}\n", *(f"{line}\n" for line in text.split("\n"))]
        costs = await self._count(lines)
        while costs and sum(costs) > budget:
            costs.pop()
        if len(costs) < 2:
            return []
        return [Fragment("".join(lines[: len(costs)]), sum(costs), origin, reason)]


def _tokens(fragments: Sequence[Fragment]) -> int:
    return sum(fragment.tokens for fragment in fragments)


def _said(text: str, shown: AbstractSet[str]) -> bool:
    """Whether most of its lines are shown already."""
    lines = [line for line in text.split("\n") if line.strip()]
    return sum(line in shown for line in lines) * 2 > len(lines)


def _pays(old: Sequence[Fragment], new: Sequence[Fragment]) -> bool:
    """Whether a new choice says enough that the old does not."""
    said = {line for fragment in old for line in fragment.text.split("\n")}
    lines = [(fragment, line) for fragment in new for line in fragment.text.split("\n")]
    news = sum(fragment.tokens / (fragment.text.count("\n") + 1) for fragment, line in lines if line not in said)
    return news > MIN_NEW_SHARE * _tokens(new)
