"""A suggestion that the editor displays, and the rest of it while the user types along."""

from dataclasses import dataclass

from lsp_harness.completion.request.answer_cache import ModelText
from lsp_harness.completion.request.text_generation import make_presentable
from lsp_harness.completion.rules.ghost_text import ghost_at
from lsp_harness.config.schema import Completion
from lsp_harness.kernel.results import Suggestion
from lsp_harness.text.document import Document
from lsp_harness.workspace.cursor import Cursor
from lsp_harness.workspace.typed_text import find_typed_text


@dataclass(frozen=True, slots=True)
class DisplayedSuggestion:
    """A suggestion that the editor displays, and the text that it was made for."""

    document: Document
    suggestion: Suggestion

    def is_at(self, cursor: Cursor) -> bool:
        """Return whether the suggestion was made for exactly this text and place."""
        return self.suggestion.start == cursor.offset and self.document.hash == cursor.document.hash

    def find_rest(self, cursor: Cursor, settings: Completion) -> str | None:
        """Return the rest of the suggestion, or None if the user typed something else than its start."""
        typed_text = find_typed_text(self.document, self.suggestion.start, cursor.document, cursor.offset)
        if typed_text is None or not self.suggestion.text.startswith(typed_text.text):
            return None
        rest = self.suggestion.text[len(typed_text.text) :]
        # the editor inserted brackets that the suggestion may bring, too
        return (
            make_presentable(cursor, ghost_at(cursor), ModelText(rest, None), settings) if typed_text.closers else rest
        )
