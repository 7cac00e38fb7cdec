"""Code that the user edited or looked at last, as far as it is similar to the code at the cursor."""

from collections.abc import Sequence

from lsp_harness.context.context_source import MIN_FRAGMENT_TOKENS, CompletionSource, Share
from lsp_harness.context.fragment import Fragment, total_tokens

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
            tokens_left = budget - total_tokens(fragments)
            reason = EDITED_REASON if piece.is_edited else VIEWED_REASON
            if tokens_left >= MIN_FRAGMENT_TOKENS:
                fragments = [*await self._fit_piece(piece.path, piece.text, reason, tokens_left), *fragments]
        return fragments
