"""Signatures of what the names around the cursor refer to in other files."""

from collections.abc import Sequence

from lsp_harness.context.context_inputs import CompletionInputs
from lsp_harness.context.context_source import CompletionSource, Share
from lsp_harness.context.fragment import Fragment
from lsp_harness.context.lookup.named_definitions import (
    DEFINITION_REASON,
    DefinitionLine,
    find_definitions,
    fit_signatures,
)
from lsp_harness.index.index_view import IndexView
from lsp_harness.store.database import Reader


class DefinitionSource(CompletionSource):
    """The definitions of names, the most important lines that fit."""

    name = "definitions"
    share = Share()
    order = 10
    reasons = (DEFINITION_REASON,)

    def __init__(self, inputs: CompletionInputs) -> None:
        super().__init__(inputs)
        self._lines: Sequence[DefinitionLine] = ()

    async def ask_index(self) -> None:
        self._lines = await _find_lines(self._inputs)

    async def find_fragments(self, budget: int, quoted: Sequence[Fragment]) -> Sequence[Fragment]:
        return await fit_signatures(self._lines, budget, self._inputs.count, self._inputs.comment)


async def _find_lines(inputs: CompletionInputs) -> Sequence[DefinitionLine]:
    cursor, time = inputs.cursor, inputs.time
    opened = inputs.index.opened(cursor.document.uri)

    def read(reader: Reader) -> list[DefinitionLine]:
        view = IndexView(reader, opened)
        return reader.collect_until(time.is_over, lambda: find_definitions(view, cursor.path, inputs.names))

    return await inputs.index.ask(cursor.document.uri, read, list[DefinitionLine]())
