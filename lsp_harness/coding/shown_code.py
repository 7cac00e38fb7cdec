"""The lines of code that a question such as “what does load do?” or “how does load check the path?” is about.

No model chooses them: they are the declaration, or those of its lines that have the words of the question.
"""

import re
from collections.abc import Iterator, Sequence

from lsp_harness.index.identifier_words import split_words
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode

MAX_LINES = 40
"""Most lines that are shown of a declaration."""
CONTEXT_LINES = 1
"""Lines before and behind each line that has words of the question."""
HEAD_LINES = 2
"""The first lines of a long declaration, which are always shown."""
STEM_CHARS = 5
"""Words with the same first letters count as the same: “check” and “checked”."""
ASKING_WORDS = re.compile(
    r"(?:a|an|and|are|as|at|be|by|can|code|do|does|for|from|function|gets?|how|i|if|in|inside|is|it|its|me|method|of|on|"
    r"or|our|out|please|show|tell|that|the|their|there|they|this|to|up|use[ds]?|using|what|when|where|which|who|why|will|"
    r"with|works?|you|explain|describe|class|file|module|happens?|means?|about)"
)
"""Words of questions that say nothing about which lines are meant."""


def show_code(
    document: Document, path: str, first: int, last: int, question: str, *, max_lines: int = MAX_LINES
) -> str:
    """Return the lines of a declaration that a question is about, with their numbers.

    Args:
        document: The text of the file.
        path: The path of the file.
        first: The first line of the declaration, from 1.
        last: Its last line.
        question: The question of the user.
        max_lines: Most lines that are shown.

    Returns:
        All lines of a short declaration. Of a long one, the first lines and those with words of the question, or the
        beginning if no line has them. Each gap is counted.
    """
    lines = [
        decode(document.data[slice(*document.line_span(number - 1))]).rstrip() for number in range(first, last + 1)
    ]
    width = len(str(last))
    shown = list(range(len(lines))) if len(lines) <= max_lines else _choose_lines(lines, question, max_lines)
    return "\n".join([f"{path}:{first}-{last}", *_format_lines(lines, shown, first, width)])


def _choose_lines(lines: Sequence[str], question: str, max_lines: int) -> list[int]:
    stems = {stem for stem in _read_stems(question) if stem not in _read_stems(lines[0])}
    hits = [number for number, line in enumerate(lines) if stems & _read_stems(line)]
    if not hits:
        return list(range(max_lines))
    near = {other for hit in hits for other in range(hit - CONTEXT_LINES, hit + CONTEXT_LINES + 1)}
    chosen = sorted(number for number in {*range(HEAD_LINES), *near} if 0 <= number < len(lines))
    return chosen[:max_lines]


def _read_stems(text: str) -> set[str]:
    words = {part for word in re.findall(r"[^\W\d]\w*", text) for part in split_words(word).split()}
    return {word[:STEM_CHARS] for word in words if len(word) > 2 and not ASKING_WORDS.fullmatch(word)}


def _format_lines(lines: Sequence[str], shown: Sequence[int], first: int, width: int) -> Iterator[str]:
    before = -1
    for number in shown:
        if number > before + 1:
            yield f"{'…':>{width}}"
        yield f"{number + first:>{width}}  {lines[number]}".rstrip()
        before = number
    if rest := len(lines) - before - 1:
        yield f"{'…':>{width}}  {rest} more line{'s' if rest > 1 else ''}"
