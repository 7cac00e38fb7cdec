"""A suggestion that is on the screen, and what is left of it while the user types along."""

from dataclasses import dataclass

from lsp_harness.completion.request.answer_cache import Written
from lsp_harness.completion.request.text_generation import presentable
from lsp_harness.completion.rules.ghost_text import ghost_at
from lsp_harness.config.schema import Completion
from lsp_harness.session.results import Suggestion
from lsp_harness.text.document import Document
from lsp_harness.workspace.cursor import Cursor
from lsp_harness.workspace.typed_text import since


@dataclass(frozen=True, slots=True)
class Shown:
    """A suggestion as it was given, for typing along and for verification after it was accepted."""

    document: Document
    suggestion: Suggestion

    def rest(self, cursor: Cursor, settings: Completion) -> str | None:
        """What is left of the text after the user typed the beginning of it; None if they did something else."""
        way = since(self.document, self.suggestion.start, cursor.document, cursor.offset)
        if way is None or not self.suggestion.text.startswith(way.typed):
            return None
        rest = self.suggestion.text[len(way.typed) :]
        # behind the cursor stands now what it may have brought itself
        return presentable(cursor, ghost_at(cursor), Written(rest, None), settings) if way.closed else rest
