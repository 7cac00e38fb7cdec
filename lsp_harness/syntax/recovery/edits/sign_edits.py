"""Insertion, deletion and replacement of separators and operators."""

from collections.abc import Iterator

from lsp_harness.syntax.lexemes import (
    can_begin_operand,
    can_end_operand,
    grammar_keywords,
    grammar_marks,
)
from lsp_harness.syntax.recovery.broken_text import BrokenText
from lsp_harness.syntax.recovery.edits.token_layout import SEPARATORS
from lsp_harness.syntax.recovery.token_edit import Trial, decode_token, deletion, insertion, replacement
from lsp_harness.text.edit import Edit

MAX_HEADER_TOKENS = 12
"""Maximum number of tokens of a line in which the word that begins a header is searched."""
CONFUSED_SIGNS: dict[bytes, tuple[bytes, ...]] = {
    b"=": (b"==",),
    b"=>": (b"->",),
    b"->": (b"=>",),
    b":": (b"=",),
    b";": (b",", b":"),
    b",": (b";",),
    b"::": (b":",),
}
"""Signs that are often confused with each other."""


def separators(broken_text: BrokenText) -> Iterator[Trial]:
    """Yield separators and operators between operands, and semicolons and colons at line ends, near the fault."""
    tokens = broken_text.tokens
    language, traits = broken_text.language, broken_text.language.recovery
    expected = tuple(dict.fromkeys((*traits.signs_between, *_joining_words(broken_text))))
    for gap in [*broken_text.nearby_tokens, len(tokens)]:
        if not gap:
            continue
        previous_token, next_token = tokens[gap - 1], tokens[gap] if gap < len(tokens) else None
        ends_line = next_token is None or next_token.starts_line
        if (
            traits.inserts_semicolons
            and can_end_operand(previous_token)
            and (next_token is None or ends_line or next_token.text in (b"}", b"end") or _in_header(broken_text, gap))
        ):
            yield insertion(broken_text, gap, b";")
        if language.block == "indent" and ends_line and previous_token.text not in (b":", b",", b"("):
            yield insertion(broken_text, gap, b":")
        if traits.has_block_parameters and next_token is not None and next_token.text == b"|":
            yield insertion(broken_text, gap, b"do")
        if traits.words_behind_semicolon and can_end_operand(previous_token):
            yield insertion(broken_text, gap, b";")
            if ends_line:
                yield from (
                    Trial(Edit(previous_token.end, previous_token.end, b"; " + word), "insert", word, gap)
                    for word in traits.words_behind_semicolon
                )
        if next_token is None:
            continue
        if can_end_operand(previous_token) and can_begin_operand(next_token):
            yield from (insertion(broken_text, gap, text) for text in expected)
        elif can_end_operand(previous_token) and next_token.text in (b"{", b"=>", b"->", b"=", b"]", b")", b"}"):
            yield from (
                insertion(broken_text, gap, text) for text in expected if text in (b":", b",", b"=>", b"->", b"=")
            )
        elif previous_token.kind == "mark" and can_begin_operand(next_token) and traits.joins_after_marks:
            yield from (insertion(broken_text, gap, text) for text in expected if text in (b"=", b":", b"=>"))


def surplus_signs(broken_text: BrokenText) -> Iterator[Trial]:
    """Yield deletions of signs, brackets and words near the fault."""
    for position in broken_text.nearby_tokens:
        token = broken_text.tokens[position]
        if (
            token.text in SEPARATORS
            or token.kind in ("open", "close")
            or token.text in (b"=", b"=>", b"->", b".", b"==")
            or (
                position
                and token.text == broken_text.tokens[position - 1].text
                and token.kind in ("word", "keyword", "mark")
            )
            or token.text in broken_text.language.tokens.block_end_words
        ):
            yield deletion(broken_text, position)


def swapped_signs(broken_text: BrokenText) -> Iterator[Trial]:
    """Yield replacements of signs near the fault by signs that are often confused with them."""
    language_signs = grammar_marks(broken_text.language)
    for position in broken_text.nearby_tokens:
        token = broken_text.tokens[position]
        if b"->" not in language_signs and b"=>" in language_signs and broken_text.data.startswith(b"->", token.start):
            yield Trial(Edit(token.start, token.start + 2, b"=>"), "replace", b"=>", position, -1, "for ->")
        meant_signs = broken_text.language.recovery.meant_by_equals if token.text == b"=" else ()
        for other in CONFUSED_SIGNS.get(token.text, ()) + meant_signs:
            if other in language_signs:
                yield replacement(broken_text, position, other, f"for {decode_token(token.text)}")


def _in_header(broken_text: BrokenText, gap: int) -> bool:
    """Return whether a place is on a line that may have semicolons between expressions."""
    line = broken_text.tokens_of_line(gap - 1)
    return any(broken_text.tokens[position].text in (b"for", b"if", b"switch") for position in line[:MAX_HEADER_TOKENS])


def _joining_words(broken_text: BrokenText) -> list[bytes]:
    """Return the words of the language between a condition and its block."""
    words = (b"in", b"then", b"do") if broken_text.language.block == "end" else (b"in",)
    return [word for word in words if word in grammar_keywords(broken_text.language)]
