"""Context from other files for completions, as the sources of `source_registry` find it.

The fragments are chosen for a place in a document and stay the same near that place, so that typing does not change the
start of the prompt. When the cursor rests, they are chosen again. The new fragments replace the old ones only if they
contain enough new text, because everything after a changed text must be evaluated again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from lsp_harness.context.context_inputs import CompletionInputs
from lsp_harness.context.context_source import share_tokens
from lsp_harness.context.fragment import Fragment, TokenCounter, sum_tokens
from lsp_harness.context.lookup.cursor_names import read_cursor_names
from lsp_harness.context.lookup.import_list import complete_import_list, find_import_list
from lsp_harness.context.prompt_budget import TOTAL
from lsp_harness.context.recent_edits import RecentEdits
from lsp_harness.index.index_view import TimeLimit
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.workspace.cursor import Cursor

if TYPE_CHECKING:
    from lsp_harness.index.index_query import IndexQuery

CHOICE_RADIUS_LINES = 20
"""The fragments stay the same while the cursor is at most so many lines from the place they were chosen for."""
MIN_NEW_SHARE = 0.25
"""Minimum share of new tokens before the fragments are replaced (a replacement re-evaluates everything after it)."""
INDEX_TIMEOUT_S = 0.25
"""The user is typing, so that a late answer of the index is of no use."""


@dataclass(slots=True)
class RepositoryChoice:
    """The code of other files that was chosen last for one open document. Before the first choice, the budget is 0.

    Attributes:
        line: The line that it was chosen for.
        budget: The tokens that it was chosen within.
        fragments: The context.
        expected_names: The names that are likely to be typed next.
    """

    line: int = 0
    budget: int = 0
    fragments: tuple[Fragment, ...] = ()
    expected_names: tuple[str, ...] = ()


class RepositoryContext:
    """The choice of code from other files for completions, for all documents of one front end."""

    def __init__(
        self,
        index: "IndexQuery",
        count: TokenCounter,
        recent: RecentEdits | None = None,
        clock: Callable[[], float] = monotonic,
        timeout_s: float = INDEX_TIMEOUT_S,
    ) -> None:
        """Create a context.

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

    def with_counter(self, count: TokenCounter) -> "RepositoryContext":
        """Return a context that counts tokens with `count` in place of the present tokenizer."""
        return RepositoryContext(self._index, count, self._recent, self._clock, self._timeout_s)

    async def find_fragments(
        self, cursor: Cursor, budget: int, choice: RepositoryChoice | None = None, *, is_resting: bool = False
    ) -> tuple[Fragment, ...]:
        """Return context for a cursor, at most `budget` tokens.

        Args:
            cursor: The place to complete at.
            budget: The most tokens of all fragments together.
            choice: The last choice for the document. It is updated. Without it, the context is chosen anew.
            is_resting: Whether the user does not type, so that there is time to evaluate other fragments.
        """
        if cursor.tree is None or budget <= 0:
            return ()
        line, choice = cursor.document.line_of(cursor.offset), choice or RepositoryChoice()
        if choice.budget == budget and abs(choice.line - line) <= CHOICE_RADIUS_LINES and not is_resting:
            return choice.fragments
        fragments, expected_names = await self._choose(cursor, cursor.tree, budget)
        if choice.budget != budget or _has_enough_new_text(choice.fragments, fragments):
            choice.fragments = fragments
        choice.line, choice.budget, choice.expected_names = line, budget, expected_names
        return choice.fragments

    async def complete_import(self, cursor: Cursor) -> str:
        """Return the text that completes a list of imports or exports at the cursor, or an empty text elsewhere."""
        tree, path, uri = cursor.tree, cursor.path, cursor.document.uri
        names = find_import_list(tree, cursor.offset) if tree else None
        if tree is None or names is None:
            return ""
        exported = await self._index.exported_names(uri, path, tree.language.id, names.module)
        return complete_import_list(names, exported, path, tree, cursor.offset)

    async def _choose(
        self, cursor: Cursor, tree: SyntaxTree, budget: int
    ) -> tuple[tuple[Fragment, ...], tuple[str, ...]]:
        """Return new fragments and the expected names."""
        # the sources are imported at the first choice, because a document must open at once
        from lsp_harness.context import source_registry

        inputs = CompletionInputs(
            cursor,
            read_cursor_names(tree, cursor.offset),
            self._index,
            self._count,
            TimeLimit(self._timeout_s, self._clock),
            self._recent,
        )
        sources = [create(inputs) for create in source_registry.COMPLETION_SOURCES]
        for source in sorted(sources, key=lambda source: source.order):
            await source.ask_index()
        expected_names = await _find_expected_names(inputs)
        shared = await share_tokens(sources, {TOTAL: budget})
        return tuple(fragment for _, fragments in shared for fragment in fragments), expected_names


async def _find_expected_names(inputs: CompletionInputs) -> tuple[str, ...]:
    """Return the unused imports that the workspace defines. The user probably imported them in order to type them."""
    cursor, names = inputs.cursor, inputs.names.unused_imports
    return tuple(await inputs.index.defined_names(cursor.document.uri, cursor.path, names, inputs.limit))


def _has_enough_new_text(old: Sequence[Fragment], new: Sequence[Fragment]) -> bool:
    """Return whether enough tokens of the new fragments are in lines that the old fragments do not have."""
    old_lines = {line for fragment in old for line in fragment.text.split("\n")}
    new_lines = [(fragment, line) for fragment in new for line in fragment.text.split("\n")]
    new_tokens = sum(
        fragment.tokens / (fragment.text.count("\n") + 1) for fragment, line in new_lines if line not in old_lines
    )
    return new_tokens > MIN_NEW_SHARE * sum_tokens(new)
