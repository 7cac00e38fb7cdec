"""Insertion of a missing `>` after type arguments.

The grammars do not treat it as a bracket, because it is also an operator.
"""

from collections.abc import Iterator

from lsp_harness.syntax.recovery.broken_text import BrokenText
from lsp_harness.syntax.recovery.token_edit import Trial
from lsp_harness.text.edit import Edit

OPERATORS = (b"=>", b"->", b">=", b"<=", b"<<")


def closing_angles(broken_text: BrokenText) -> Iterator[Trial]:
    """Yield a `>` after each word, bracket or `>` of a line near the fault, if the line lacks one `>`."""
    if not broken_text.language.recovery.has_type_arguments:
        return
    document = broken_text.tree.document
    lines = dict.fromkeys(
        document.line_of(broken_text.tokens[position].start) for position in broken_text.nearby_tokens
    )
    for line in lines:
        start, end = document.line_span(line)
        first_open = _first_open(broken_text.data[start:end])
        if first_open < 0:
            continue
        for position, token in enumerate(broken_text.tokens):
            if broken_text.data[token.end : token.end + 1] in (b"<", b":", b"."):
                # the path or the type continues
                continue
            ends = token.kind in ("word", "keyword", "close") or token.text.endswith(b">")
            if ends and start + first_open < token.start and token.end <= end:
                yield Trial(Edit(token.end, token.end, b">"), "insert", b">", position + 1, -1, "type arguments")


def _first_open(text: bytes) -> int:
    """Return the offset of the first `<` of type arguments in a line, if exactly one `>` is missing, else -1."""
    for sign in OPERATORS:
        text = text.replace(sign, b" " * len(sign))
    depth, first = 0, -1
    for position, byte in enumerate(text):
        if (
            byte == ord("<")
            and position
            and (text[position - 1 : position].isalnum() or text[position - 1 : position] in (b"_", b":"))
        ):
            first = position if first < 0 else first
            depth += 1
        elif byte == ord(">") and depth:
            depth -= 1
    return first if depth == 1 else -1
