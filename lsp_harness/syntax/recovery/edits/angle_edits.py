"""The `>` that is missing behind type arguments: the grammars do not know it for a bracket, since it is an operator as well."""

from collections.abc import Iterator

from lsp_harness.syntax.recovery.broken_text import BrokenText
from lsp_harness.syntax.recovery.token_edit import Trial
from lsp_harness.text.edit import Edit

TYPE_ARGUMENT_LANGUAGES = frozenset({"typescript", "tsx", "java", "csharp", "rust", "cpp"})
"""Languages with type arguments in angle brackets."""
OPERATORS = (b"=>", b"->", b">=", b"<=", b"<<")


def closing_angles(scene: BrokenText) -> Iterator[Trial]:
    """A `>` behind each word, bracket or `>` of a line near the fault that has more of `<` than of `>`."""
    if scene.language not in TYPE_ARGUMENT_LANGUAGES:
        return
    document = scene.tree.document
    lines = dict.fromkeys(document.line_of(scene.tokens[at].start) for at in scene.near)
    for line in lines:
        start, end = document.line_span(line)
        opened = _first_open(scene.data[start:end])
        if opened < 0:
            continue
        for at, token in enumerate(scene.tokens):
            if scene.data[token.end : token.end + 1] in (b"<", b":", b"."):
                # a path or a type that goes on
                continue
            ends = token.kind in ("word", "keyword", "close") or token.text.endswith(b">")
            if ends and start + opened < token.start and token.end <= end:
                yield Trial(Edit(token.end, token.end, b">"), "insert", b">", at + 1, -1, "type arguments")


def _first_open(text: bytes) -> int:
    """Where the first `<` of a line stands that begins type arguments, if one `>` of them is missing; else -1."""
    for sign in OPERATORS:
        text = text.replace(sign, b" " * len(sign))
    depth, first = 0, -1
    for at, byte in enumerate(text):
        if byte == ord("<") and at and (text[at - 1 : at].isalnum() or text[at - 1 : at] in (b"_", b":")):
            first = at if first < 0 else first
            depth += 1
        elif byte == ord(">") and depth:
            depth -= 1
    return first if depth == 1 else -1
