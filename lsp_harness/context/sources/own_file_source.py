"""Code elsewhere in the same file that is similar to the lines around the cursor."""

from collections.abc import Sequence

from lsp_harness.context.context_inputs import CompletionInputs
from lsp_harness.context.context_source import CompletionSource, Share
from lsp_harness.context.fragment import Fragment
from lsp_harness.context.lookup.similar_lines import find_similar_lines
from lsp_harness.files.secrets import secret_lines
from lsp_harness.process.offload import offload
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
        document, line = self._document, self._line
        shown = range(line - LINES_ABOVE, line + LINES_BELOW + 1)
        hidden, names = secret_lines(document), self._missing_names
        pieces = await offload(len(document.data), lambda: find_similar_lines(document, line, shown, hidden, names))
        path = self._inputs.cursor.path
        texts = ((path, "\n".join(decode(document.line(n)) for n in piece)) for piece in pieces)
        return await self._fit_pieces(texts, REASON, budget)
