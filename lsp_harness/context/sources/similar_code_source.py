"""Code of other files that is similar to the lines above the cursor."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from lsp_harness.context.context_inputs import CompletionInputs
from lsp_harness.context.context_source import MIN_FRAGMENT_TOKENS, CompletionSource, Share
from lsp_harness.context.fragment import Fragment, total_tokens
from lsp_harness.context.sources.similar_code import find_similar_code
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.query.code_search import CodeSearch
from lsp_harness.store.database import Reader

REASON = "similar code"


class SimilarCodeSource(CompletionSource):
    """The most similar code at the first turn, more similar code with the tokens that the sources left."""

    name = "similar code"
    share = Share(fraction=0.4, takes_rest=True)
    order = 20
    reasons = (REASON,)

    def __init__(self, inputs: CompletionInputs) -> None:
        super().__init__(inputs)
        self._candidates: Sequence[tuple[str, str]] = ()
        """Pairs of path and code, the most similar first."""
        self._has_had_turn = False

    async def ask_index(self) -> None:
        self._candidates = await _find_candidates(self._inputs)

    async def find_fragments(self, budget: int, quoted: Sequence[Fragment]) -> Sequence[Fragment]:
        fragments = list[Fragment]()
        if self._has_had_turn:
            for path, text in self._candidates[1:]:
                tokens_left = budget - total_tokens(fragments)
                if tokens_left >= MIN_FRAGMENT_TOKENS:
                    fragments = [*await self._fit_piece(path, text, REASON, tokens_left), *fragments]
            return fragments
        self._has_had_turn = True
        quoted_lines = {line for fragment in quoted for line in fragment.text.split("\n")}
        self._candidates = [item for item in self._candidates if not _is_mostly_in(item[1], quoted_lines)]
        for path, text in self._candidates[:1]:
            fragments += await self._fit_piece(path, text, REASON, budget)
        return fragments


async def _find_candidates(inputs: CompletionInputs) -> Sequence[tuple[str, str]]:
    cursor, time = inputs.cursor, inputs.time
    opened = inputs.index.opened(cursor.document.uri)

    def read(reader: Reader) -> list[tuple[str, str]]:
        view, search = IndexView(reader, opened), CodeSearch(reader)
        return reader.collect_until(time.is_over, lambda: find_similar_code(search, view, cursor))

    return await inputs.index.ask(cursor.document.uri, read, list[tuple[str, str]]())


def _is_mostly_in(text: str, lines: AbstractSet[str]) -> bool:
    """Return whether `lines` contain more than half of the lines of a text."""
    own_lines = [line for line in text.split("\n") if line.strip()]
    return sum(line in lines for line in own_lines) * 2 > len(own_lines)
