"""Separators and operators that are missing, one too many, or written for another one."""

from collections.abc import Iterator

from lsp_harness.syntax.lexemes import (
    BLOCK_END_WORDS,
    can_begin_operand,
    can_end_operand,
    grammar_keywords,
    grammar_marks,
)
from lsp_harness.syntax.recovery.broken_text import Scene
from lsp_harness.syntax.recovery.edits.token_layout import SEPARATORS
from lsp_harness.syntax.recovery.token_edit import Trial, deletion, insertion, replacement, shown
from lsp_harness.text.edit import Edit

EXPECTED: dict[str, tuple[bytes, ...]] = {
    "python": (b",", b":", b"=", b"->", b".", b"in", b"=="),
    "typescript": (b",", b":", b"=", b"=>", b".", b";"),
    "tsx": (b",", b":", b"=", b"=>", b".", b";"),
    "go": (b",", b":", b"=", b":=", b"."),
    "rust": (b",", b":", b"=", b"->", b"=>", b"."),
    "java": (b",", b":", b"=", b"->", b"."),
    "csharp": (b",", b":", b"=", b"=>", b"."),
    "php": (b",", b":", b"=", b"=>", b"->"),
    "ruby": (b",", b":", b"=", b"=>", b"->", b"."),
    "bash": (b"then", b"do", b"in", b"="),
    "lua": (b",", b"=", b"then", b"do", b"in", b"."),
    "json": (b",", b":"),
    "c": (b",", b":", b"=", b"."),
    "cpp": (b",", b":", b"=", b"."),
}
"""What is tried between two operands, besides what is tried in every language."""
DEFAULT_EXPECTED = (b",", b":", b"=", b"=>", b".")
ENDERS = frozenset(["javascript", "typescript", "tsx", "rust", "java", "csharp", "php", "c", "cpp"])
"""Languages whose statements end with a semicolon."""
BLOCK_WORDS = frozenset(["bash", "lua", "ruby"])
"""Languages in which `do` or `then` stands between a condition and its block."""
HEADER_TOKENS = 12
"""A header begins among so many tokens of its line."""
SWAPS: dict[bytes, tuple[bytes, ...]] = {
    b"=": (b"==",),
    b"=>": (b"->",),
    b"->": (b"=>",),
    b":": (b"=",),
    b";": (b",", b":"),
    b",": (b";",),
    b"::": (b":",),
}
"""Signs that are written for each other."""
FOR_EQUALS: dict[str, tuple[bytes, ...]] = {
    **dict.fromkeys(("php", "rust", "ruby", "csharp"), (b"=>",)),
    **dict.fromkeys(("javascript", "typescript", "tsx"), (b"=>", b":")),
}
"""Signs of one language for which `=` is written."""


def separators(scene: Scene) -> Iterator[Trial]:
    """A separator or an operator between two operands near the fault, a semicolon or a colon at the end of a line."""
    tokens = scene.tokens
    expected = tuple(dict.fromkeys((*EXPECTED.get(scene.language, DEFAULT_EXPECTED), *_joining(scene))))
    for gap in [*scene.near, len(tokens)]:
        if not gap:
            continue
        before, after = tokens[gap - 1], tokens[gap] if gap < len(tokens) else None
        ends_line = after is None or after.starts_line
        if (
            scene.language in ENDERS | {"go", "ruby"}
            and can_end_operand(before)
            and (after is None or ends_line or after.text in (b"}", b"end") or _in_header(scene, gap))
        ):
            yield insertion(scene, gap, b";")
        if scene.language == "python" and ends_line and before.text not in (b":", b",", b"("):
            yield insertion(scene, gap, b":")
        if scene.language == "ruby" and after is not None and after.text == b"|":
            yield insertion(scene, gap, b"do")
        if scene.language == "bash" and can_end_operand(before):
            yield insertion(scene, gap, b";")
            if ends_line:
                yield from (
                    Trial(Edit(before.end, before.end, b"; " + word), "insert", word, gap) for word in (b"then", b"do")
                )
        if after is None:
            continue
        if can_end_operand(before) and can_begin_operand(after):
            yield from (insertion(scene, gap, text) for text in expected)
        elif can_end_operand(before) and after.text in (b"{", b"=>", b"->", b"=", b"]", b")", b"}"):
            yield from (insertion(scene, gap, text) for text in expected if text in (b":", b",", b"=>", b"->", b"="))
        elif before.kind == "mark" and can_begin_operand(after) and scene.language != "json":
            yield from (insertion(scene, gap, text) for text in expected if text in (b"=", b":", b"=>"))


def surplus(scene: Scene) -> Iterator[Trial]:
    """A sign, a bracket or a word near the fault deleted."""
    for at in scene.near:
        token = scene.tokens[at]
        if (
            token.text in SEPARATORS
            or token.kind in ("open", "close")
            or token.text in (b"=", b"=>", b"->", b".", b"==")
            or (at and token.text == scene.tokens[at - 1].text and token.kind in ("word", "keyword", "mark"))
            or token.text in BLOCK_END_WORDS.get(scene.language, ())
        ):
            yield deletion(scene, at)


def swapped_signs(scene: Scene) -> Iterator[Trial]:
    """A sign near the fault replaced by one that is written for it."""
    known = grammar_marks(scene.tree.language)
    for at in scene.near:
        token = scene.tokens[at]
        if b"->" not in known and b"=>" in known and scene.data.startswith(b"->", token.start):
            yield Trial(Edit(token.start, token.start + 2, b"=>"), "replace", b"=>", at, -1, "for ->")
        own = FOR_EQUALS.get(scene.language, ()) if token.text == b"=" else ()
        for other in SWAPS.get(token.text, ()) + own:
            if other in known:
                yield replacement(scene, at, other, f"for {shown(token.text)}")


def _in_header(scene: Scene, gap: int) -> bool:
    """Whether a place is on a line that may have semicolons between expressions."""
    line = scene.line_of(gap - 1)
    return any(scene.tokens[at].text in (b"for", b"if", b"switch") for at in line[:HEADER_TOKENS])


def _joining(scene: Scene) -> list[bytes]:
    """Words that stand between a condition and what it is for."""
    words = (b"in", b"then", b"do") if scene.language in BLOCK_WORDS else (b"in",)
    return [word for word in words if word in grammar_keywords(scene.tree.language)]
