"""Code of other files that is similar to the lines above the cursor."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from lsp_harness.context.context_inputs import CompletionInputs
from lsp_harness.context.context_source import CompletionSource, Share
from lsp_harness.context.fragment import Fragment
from lsp_harness.index.query.similar_code import SimilarCode

REASON = "similar code"


class SimilarCodeSource(CompletionSource):
    """The source of similar code: the most similar at its first turn, and more with the tokens that are left."""

    name = "similar code"
    share = Share(takes_rest=True)
    order = 20
    reasons = (REASON,)

    def __init__(self, inputs: CompletionInputs) -> None:
        super().__init__(inputs)
        self._candidates: Sequence[SimilarCode] = ()
        """The most similar code first."""
        self._has_had_turn = False

    async def ask_index(self) -> None:
        document = self._inputs.cursor.document
        line = document.line_of(self._inputs.cursor.offset)
        self._candidates = await self._inputs.index.similar_code(
            self._inputs.cursor.path, document, line, self._inputs.limit
        )

    async def find_fragments(self, budget: int, quoted: Sequence[Fragment]) -> Sequence[Fragment]:
        if self._has_had_turn:
            return await self._fit_pieces(((code.path, code.text) for code in self._candidates[1:]), REASON, budget)
        self._has_had_turn = True
        quoted_lines = {line for fragment in quoted for line in fragment.text.split("\n")}
        self._candidates = [item for item in self._candidates if not _is_mostly_in(item.text, quoted_lines)]
        if not self._candidates:
            return ()
        best = self._candidates[0]
        return await self._fit_piece(best.path, best.text, REASON, budget)


def _is_mostly_in(text: str, lines: AbstractSet[str]) -> bool:
    """Return whether `lines` contain more than half of the lines of a text."""
    own_lines = [line for line in text.split("\n") if line.strip()]
    return sum(line in lines for line in own_lines) * 2 > len(own_lines)
