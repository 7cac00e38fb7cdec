"""Sources of context from open texts: similar lines of the file, code seen lately, the history of the session."""

from collections.abc import Sequence

from lsp_harness.context.context_inputs import CompletionInputs
from lsp_harness.context.context_source import (
    MIN_FRAGMENT_TOKENS,
    CompletionSource,
    InstructionSource,
    SectionTitle,
    Share,
)
from lsp_harness.context.fragment import Fragment, count_lines, fit_lines, sum_tokens
from lsp_harness.context.lookup.similar_lines import find_similar_lines
from lsp_harness.files.secrets import find_secret_lines
from lsp_harness.process.offload import offload
from lsp_harness.syntax.names.unbound_names import find_missing_names
from lsp_harness.text.position import decode

HISTORY_REASON = "history of the session"


class SessionHistorySource(InstructionSource):
    """The source of the session history: the first lines that fit, as one fragment."""

    name = "session history"
    share = Share(("session_budget", "task_budget"))
    order = 60
    reasons = (HISTORY_REASON,)
    section = SectionTitle("session", "Earlier in this session", is_code=False)

    async def find_fragments(self, budget: int, quoted: Sequence[Fragment]) -> Sequence[Fragment]:
        costs = await count_lines(self._inputs.session, self._inputs.count)
        lines, _ = fit_lines(self._inputs.session, costs, budget)
        if not lines:
            return ()
        text = "".join(f"{line}\n" for line in lines)
        return (Fragment(text, sum(costs[line] for line in lines), "", HISTORY_REASON),)


EDITED_REASON = "was edited lately"
VIEWED_REASON = "was looked at lately"


class RecentCodeSource(CompletionSource):
    """The source of code around the places that the user edited or looked at last, the most similar last."""

    name = "recent edits"
    share = Share(fraction=0.25)
    order = 30
    reasons = (EDITED_REASON, VIEWED_REASON)

    async def find_fragments(self, budget: int, quoted: Sequence[Fragment]) -> Sequence[Fragment]:
        recent, document = self._inputs.recent, self._inputs.cursor.document
        fragments = list[Fragment]()
        for piece in recent.find_pieces(document, document.line_of(self._inputs.cursor.offset)) if recent else ():
            tokens_left = budget - sum_tokens(fragments)
            reason = EDITED_REASON if piece.is_edited else VIEWED_REASON
            if tokens_left >= MIN_FRAGMENT_TOKENS:
                fragments = [*await self._fit_piece(piece.path, piece.text, reason, tokens_left), *fragments]
        return fragments


SIMILAR_LINES_REASON = "similar lines of this file"
LINES_ABOVE, LINES_BELOW = 36, 10
"""Lines around the cursor that the prompt mostly contains anyway."""


class OwnFileSource(CompletionSource):
    """The source of similar lines of the same file, which the window around the cursor does not show."""

    name = "this file"
    share = Share(fraction=0.6)
    order = 25
    reasons = (SIMILAR_LINES_REASON,)

    def __init__(self, inputs: CompletionInputs) -> None:
        super().__init__(inputs)
        cursor = inputs.cursor
        self._document, self._line = cursor.document, cursor.document.line_of(cursor.offset)
        self._missing_names = find_missing_names(cursor.tree, cursor.offset).names if cursor.tree else ()

    async def find_fragments(self, budget: int, quoted: Sequence[Fragment]) -> Sequence[Fragment]:
        document, line = self._document, self._line
        shown = range(line - LINES_ABOVE, line + LINES_BELOW + 1)
        hidden, names = find_secret_lines(document), self._missing_names
        pieces = await offload(len(document.data), lambda: find_similar_lines(document, line, shown, hidden, names))
        path = self._inputs.cursor.path
        texts = ((path, "\n".join(decode(document.line(n)) for n in piece)) for piece in pieces)
        return await self._fit_pieces(texts, SIMILAR_LINES_REASON, budget)
