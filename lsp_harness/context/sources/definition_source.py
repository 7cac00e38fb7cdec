"""Signatures of what the names around the cursor refer to in other files."""

from collections.abc import Sequence

from lsp_harness.context.context_inputs import CompletionInputs
from lsp_harness.context.context_source import CompletionSource, Share
from lsp_harness.context.fragment import Fragment
from lsp_harness.context.lookup.signature_fitting import DEFINITION_REASON, fit_signatures
from lsp_harness.index.query.definition_lines import DefinitionLine


class DefinitionSource(CompletionSource):
    """The source of definitions of the names around the cursor, as many important lines as fit."""

    name = "definitions"
    share = Share(fraction=0.5)
    order = 10
    reasons = (DEFINITION_REASON,)

    def __init__(self, inputs: CompletionInputs) -> None:
        super().__init__(inputs)
        self._lines: Sequence[DefinitionLine] = ()

    async def ask_index(self) -> None:
        inputs, cursor = self._inputs, self._inputs.cursor
        self._lines = await inputs.index.definition_lines(cursor.document.uri, cursor.path, inputs.names, inputs.limit)

    async def find_fragments(self, budget: int, quoted: Sequence[Fragment]) -> Sequence[Fragment]:
        return await fit_signatures(self._lines, budget, self._inputs.count, self._inputs.comment)
