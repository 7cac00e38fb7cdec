"""Code elsewhere in the same file that is similar to the lines around the cursor."""

from collections.abc import Sequence

from lsp_harness.context.context_inputs import CompletionInputs
from lsp_harness.context.context_source import MIN_FRAGMENT_TOKENS, CompletionSource, Share
from lsp_harness.context.fragment import Fragment, total_tokens
from lsp_harness.context.lookup.similar_lines import find_similar_lines
from lsp_harness.files.secrets import secret_lines
from lsp_harness.syntax.names.unbound_names import find_missing_names
from lsp_harness.text.position import decode

REASON = "similar lines of this file"
LINES_ABOVE, LINES_BELOW = 36, 10
"""Lines around the cursor that the prompt mostly contains anyway."""


class OwnFileSource(CompletionSource):
    """The source of similar lines of the same file, which the window around the cursor does not show."""

    name = "this file"
    share = Share(fraction=0.6)
    order = 25
    reasons = (REASON,)

    def __init__(self, inputs: CompletionInputs) -> None:
        super().__init__(inputs)
        cursor = inputs.cursor
        self._document, self._line = cursor.document, cursor.document.line_of(cursor.offset)
        self._missing_names = find_missing_names(cursor.tree, cursor.offset).names if cursor.tree else ()

    async def find_fragments(self, budget: int, quoted: Sequence[Fragment]) -> Sequence[Fragment]:
        shown = range(self._line - LINES_ABOVE, self._line + LINES_BELOW + 1)
        pieces = find_similar_lines(
            self._document, self._line, shown, secret_lines(self._document), self._missing_names
        )
        fragments = list[Fragment]()
        for piece in pieces:
            tokens_left = budget - total_tokens(fragments)
            if tokens_left >= MIN_FRAGMENT_TOKENS:
                text = "\n".join(decode(self._document.line(n)) for n in piece)
                fragments = [*await self._fit_piece(self._inputs.cursor.path, text, REASON, tokens_left), *fragments]
        return fragments
