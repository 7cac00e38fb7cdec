"""All edits of one token that are worth trying on a broken text."""

from collections.abc import Callable, Iterator

from lsp_harness.syntax.recovery.broken_text import Scene
from lsp_harness.syntax.recovery.edits.angle_edits import closing_angles
from lsp_harness.syntax.recovery.edits.block_word_edits import block_ends, joined_words, misspelt
from lsp_harness.syntax.recovery.edits.bracket_edits import body_openers, closers, openers, stray, swapped_brackets
from lsp_harness.syntax.recovery.edits.indent_edits import indents
from lsp_harness.syntax.recovery.edits.jsx_edits import closing_tags
from lsp_harness.syntax.recovery.edits.quote_edits import quotes
from lsp_harness.syntax.recovery.edits.sign_edits import separators, surplus, swapped_signs
from lsp_harness.syntax.recovery.token_edit import Trial
from lsp_harness.text.edit import Edit

GENERATORS: tuple[Callable[[Scene], Iterator[Trial]], ...] = (
    quotes,
    closers,
    openers,
    body_openers,
    stray,
    swapped_brackets,
    block_ends,
    separators,
    surplus,
    swapped_signs,
    misspelt,
    joined_words,
    closing_angles,
    closing_tags,
    indents,
)
"""In the order in which they are asked; where two give the same text, the first says what it is."""


def trials(scene: Scene) -> Iterator[Trial]:
    """All edits that are worth trying, each resulting text once."""
    seen: set[tuple[int, int, bytes]] = set()
    for generator in GENERATORS:
        for trial in generator(scene):
            key = _canonical(scene, trial.edit)
            if key not in seen:
                seen.add(key)
                yield trial


def _canonical(scene: Scene, edit: Edit) -> tuple[int, int, bytes]:
    """The same edit as far left as it can be: `))` minus either bracket is one text."""
    start, end, new = edit
    data = scene.data
    if end > start and not new:
        while start and data[start - 1] == data[end - 1]:
            start, end = start - 1, end - 1
    elif start == end and new:
        while start and data[start - 1] == new[-1]:
            new = new[-1:] + new[:-1]
            start -= 1
        end = start
    return start, end, new
