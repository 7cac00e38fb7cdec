"""Context from other files for completions: definitions, similar code and recent edits.

The fragments are chosen for a place in a document and stay the same near that place, so that typing does not change the
start of the prompt. When the cursor rests, they are chosen again. The new fragments replace the old ones only if they
contain enough new text, because everything after a changed text must be evaluated again.
"""

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from time import monotonic
from typing import TypeVar

from lsp_harness.context.fragment import Fragment, TokenCounter, total_tokens
from lsp_harness.context.sources.cursor_names import read_cursor_names
from lsp_harness.context.sources.import_list import complete_import_list, find_import_list
from lsp_harness.context.sources.named_definitions import DefinitionLine, find_definitions, fit_signatures
from lsp_harness.context.sources.recent_edits import RecentEdits
from lsp_harness.context.sources.similar_code import find_similar_code
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.query.code_search import CodeSearch
from lsp_harness.store.database import Reader
from lsp_harness.workspace.cursor import Cursor

CHOICE_RADIUS_LINES = 20
"""The fragments stay the same while the cursor is at most so many lines from the place they were chosen for."""
MIN_NEW_SHARE = 0.25
"""Minimum share of new tokens before the fragments are replaced (a replacement re-evaluates everything after it)."""
SIMILAR_SHARE = 0.4
"""Share of the budget for the most similar code. More similar code gets what the definitions leave."""
RECENT_SHARE = 0.25
"""Share of the budget for recent edits."""
INDEX_TIMEOUT_S = 0.25
"""The user is typing, so that a late answer of the index is of no use."""
MIN_FRAGMENT_TOKENS = 24
"""A shorter piece of code helps nobody."""
SIMILAR_REASON = "similar code"


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Choice:
    """The fragments chosen for a line of a document, within a budget."""

    line: int
    budget: int
    fragments: tuple[Fragment, ...]
    expected_names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _IndexAnswer:
    """The answer of the index about a place: definitions, pairs of path and similar code, and likely next names."""

    definitions: Sequence[DefinitionLine] = ()
    similar_code: Sequence[tuple[str, str]] = ()
    expected_names: tuple[str, ...] = ()


class RepositoryContext:
    """Context from other files, for all documents of one front end."""

    def __init__(
        self,
        index: IndexQuery,
        count: TokenCounter,
        recent: RecentEdits | None = None,
        clock: Callable[[], float] = monotonic,
        timeout_s: float = INDEX_TIMEOUT_S,
    ) -> None:
        """Create a context without any choice.

        Args:
            index: The indexes of the workspace folders.
            count: The tokenizer of the model.
            recent: The places that the user edited or looked at last.
            clock: The current time in seconds.
            timeout_s: The time for all questions to the index. Answers that are not there by then are left out.
        """
        self._index = index
        self._clock = clock
        self._timeout_s = timeout_s
        self._count = count
        self._recent = recent
        self._choices: dict[str, _Choice] = {}

    def with_counter(self, count: TokenCounter) -> "RepositoryContext":
        """Return a new context that counts tokens with `count` and has no choice yet."""
        return RepositoryContext(self._index, count, self._recent, self._clock, self._timeout_s)

    async def find_fragments(self, cursor: Cursor, budget: int, *, is_resting: bool) -> tuple[Fragment, ...]:
        """Return context for a cursor, at most `budget` tokens.

        Args:
            cursor: The place to complete at.
            budget: The most tokens of all fragments together.
            is_resting: Whether the user does not type, so that there is time to evaluate other fragments.
        """
        if cursor.tree is None or budget <= 0:
            return ()
        uri = cursor.document.uri
        line, old = cursor.document.line_of(cursor.offset), self._choices.get(uri)
        if old and old.budget == budget and abs(old.line - line) <= CHOICE_RADIUS_LINES and not is_resting:
            return old.fragments
        fragments, expected_names = await self._choose(cursor, budget)
        if old and old.budget == budget and not _has_enough_new_text(old.fragments, fragments):
            fragments = old.fragments
        self._choices[uri] = _Choice(line, budget, fragments, expected_names)
        return fragments

    def expected_names(self, uri: str) -> tuple[str, ...]:
        """Return the names that are likely to be typed next, as of the last choice for a document."""
        choice = self._choices.get(uri)
        return choice.expected_names if choice else ()

    async def complete_import(self, cursor: Cursor) -> str:
        """Return the text that completes a list of imports or exports at the cursor, or an empty text elsewhere."""
        tree, path, uri = cursor.tree, cursor.path, cursor.document.uri
        names = find_import_list(tree, cursor.offset) if tree else None
        if tree is None or names is None:
            return ""
        exported = await self._index.exported_names(uri, path, tree.language.id, names.module)
        return complete_import_list(names, exported, path, tree, cursor.offset)

    def forget(self, uri: str) -> None:
        """Forget the choice for a document that was closed."""
        self._choices.pop(uri, None)

    async def _choose(self, cursor: Cursor, budget: int) -> tuple[tuple[Fragment, ...], tuple[str, ...]]:
        """Return new fragments and the expected names."""
        line = cursor.document.line_of(cursor.offset)
        answer = await self._ask_index(cursor)
        comment = (cursor.tree.language.comment if cursor.tree else "") or "#"
        recent = await self._find_recent(cursor, line, int(budget * RECENT_SHARE), comment)
        recent_lines = {text for fragment in recent for text in fragment.text.split("\n")}
        candidates = [item for item in answer.similar_code if not _is_mostly_in(item[1], recent_lines)]
        left = budget - total_tokens(recent)
        similar: list[Fragment] = []
        if candidates:
            similar = await self._fit_piece(*candidates[0], SIMILAR_REASON, int(left * SIMILAR_SHARE), comment)
        defined = await fit_signatures(answer.definitions, left - total_tokens(similar), self._count, comment)
        for candidate in candidates[1:]:
            rest = left - total_tokens(defined) - total_tokens(similar)
            if rest >= MIN_FRAGMENT_TOKENS:
                similar = [*await self._fit_piece(*candidate, SIMILAR_REASON, rest, comment), *similar]
        # what changes most often comes last
        return (*defined, *similar, *recent), answer.expected_names

    async def _ask_index(self, cursor: Cursor) -> _IndexAnswer:
        tree, path, uri = cursor.tree, cursor.path, cursor.document.uri
        if tree is None:
            return _IndexAnswer()
        names, opened = read_cursor_names(tree, cursor.offset), self._index.opened(uri)

        def read(reader: Reader) -> _IndexAnswer:
            view, search, end = IndexView(reader, opened), CodeSearch(reader), self._clock() + self._timeout_s

            def timely(find: Callable[[], Iterable[T]]) -> list[T]:
                return reader.collect_until(lambda: self._clock() >= end, find)

            return _IndexAnswer(
                timely(lambda: find_definitions(view, path, names)),
                timely(lambda: find_similar_code(search, view, cursor)),
                (*timely(lambda: (name for name in names.unused_imports if view.find_definitions(path, name))),),
            )

        return await self._index.ask(uri, read, _IndexAnswer())

    async def _find_recent(self, cursor: Cursor, line: int, budget: int, comment: str) -> list[Fragment]:
        """Return recently edited or viewed code that is similar to the code at the cursor, the most similar last."""
        fragments: list[Fragment] = []
        for piece in self._recent.find_pieces(cursor.document, line) if self._recent else ():
            rest = budget - total_tokens(fragments)
            reason = "was edited lately" if piece.is_edited else "was looked at lately"
            if rest >= MIN_FRAGMENT_TOKENS:
                fragments = [*await self._fit_piece(piece.path, piece.text, reason, rest, comment), *fragments]
        return fragments

    async def _fit_piece(self, origin: str, text: str, reason: str, budget: int, comment: str) -> list[Fragment]:
        """Return as many lines of a text as fit the budget, below a comment with its path; at most one fragment."""
        lines = [f"{comment} {origin}\n", *(f"{line}\n" for line in text.split("\n"))]
        costs = await self._count(lines)
        while costs and sum(costs) > budget:
            costs.pop()
        if len(costs) < 2:
            return []
        return [Fragment("".join(lines[: len(costs)]), sum(costs), origin, reason)]


def _is_mostly_in(text: str, lines: AbstractSet[str]) -> bool:
    """Return whether `lines` contain more than half of the lines of a text."""
    own_lines = [line for line in text.split("\n") if line.strip()]
    return sum(line in lines for line in own_lines) * 2 > len(own_lines)


def _has_enough_new_text(old: Sequence[Fragment], new: Sequence[Fragment]) -> bool:
    """Return whether enough tokens of the new fragments are in lines that the old fragments do not have."""
    old_lines = {line for fragment in old for line in fragment.text.split("\n")}
    new_lines = [(fragment, line) for fragment in new for line in fragment.text.split("\n")]
    new_tokens = sum(
        fragment.tokens / (fragment.text.count("\n") + 1) for fragment, line in new_lines if line not in old_lines
    )
    return new_tokens > MIN_NEW_SHARE * total_tokens(new)
