"""All edits of one token that are tried on a broken text."""

from collections.abc import Callable, Iterator

from lsp_harness.syntax.recovery.broken_text import BrokenText
from lsp_harness.syntax.recovery.edits.block_edits import block_ends, else_if_words, indentations, misspelt_keywords
from lsp_harness.syntax.recovery.edits.bracket_edits import (
    body_openers,
    closers,
    closing_angles,
    closing_tags,
    openers,
    stray_brackets,
    swapped_brackets,
)
from lsp_harness.syntax.recovery.edits.quote_edits import quotes
from lsp_harness.syntax.recovery.edits.sign_edits import separators, surplus_signs, swapped_signs
from lsp_harness.syntax.recovery.token_edit import Trial
from lsp_harness.text.edit import Edit

GENERATORS: tuple[Callable[[BrokenText], Iterator[Trial]], ...] = (
    quotes,
    closers,
    openers,
    body_openers,
    stray_brackets,
    swapped_brackets,
    block_ends,
    separators,
    surplus_signs,
    swapped_signs,
    misspelt_keywords,
    else_if_words,
    closing_angles,
    closing_tags,
    indentations,
)
"""The generators in order. If two give the same text, the edit of the first one is used."""


def trials(broken_text: BrokenText) -> Iterator[Trial]:
    """Yield all edits to try. Each resulting text occurs once."""
    keys: set[tuple[int, int, bytes]] = set()
    for generator in GENERATORS:
        for trial in generator(broken_text):
            key = _make_canonical(broken_text, trial.edit)
            if key not in keys:
                keys.add(key)
                yield trial


def _make_canonical(broken_text: BrokenText, edit: Edit) -> tuple[int, int, bytes]:
    """Return the leftmost edit with the same result: deleting either bracket of `))` gives the same text."""
    start, end, new = edit
    data = broken_text.data
    if end > start and not new:
        while start and data[start - 1] == data[end - 1]:
            start, end = start - 1, end - 1
    elif start == end and new:
        while start and data[start - 1] == new[-1]:
            new = new[-1:] + new[:-1]
            start -= 1
        end = start
    return start, end, new
