"""An edit of one token that may repair a text and has not been tried yet."""

from typing import Literal, NamedTuple

from lsp_harness.syntax.lexemes import Lexeme
from lsp_harness.syntax.recovery.broken_text import BrokenText
from lsp_harness.syntax.recovery.edits.token_layout import insertion_edit
from lsp_harness.text.edit import Edit

Action = Literal["insert", "delete", "replace"]


class Trial(NamedTuple):
    """One edit to try.

    Attributes:
        edit: The edit of the text.
        action: What the edit does with the token.
        token: The bytes of the token that it inserts, deletes, or puts in the place of another one.
        position: The index of the token that it deletes or replaces, or before which it inserts.
        opener: The index of the bracket or block that it closes, or -1. For an inserted opener it is the index of the
            closer.
        note: Which generator made the edit, as evidence.
    """

    edit: Edit
    action: Action
    token: bytes
    position: int
    opener: int = -1
    note: str = ""


def insertion(broken_text: BrokenText, gap: int, text: bytes) -> Trial:
    """Return the insertion of a token before the token `gap`."""
    return Trial(insertion_edit(broken_text, gap, text), "insert", text, gap)


def deletion(broken_text: BrokenText, position: int) -> Trial:
    """Return the deletion of a token, and of its line if nothing else is on it."""
    token = broken_text.tokens[position]
    document = broken_text.tree.document
    line = document.line_of(token.start)
    start, end = document.line_span(line)
    if broken_text.data[start:end].strip() == token.text and line + 1 < len(document.line_starts):
        return Trial(Edit(start, document.line_starts[line + 1], b""), "delete", token.text, position)
    return Trial(Edit(token.start, token.end, b""), "delete", token.text, position)


def replacement(broken_text: BrokenText, position: int, text: bytes, note: str) -> Trial:
    """Return the replacement of a token by another one."""
    token = broken_text.tokens[position]
    return Trial(Edit(token.start, token.end, text), "replace", text, position, -1, note)


def decode_token(text: bytes) -> str:
    """Decode bytes of a text for a message. Invalid UTF-8 is replaced."""
    return text.decode("utf-8", "replace")


def token_class(trial: Trial) -> str:
    """Return the class of the token of an edit. It is part of the names of observations in `weights.json`."""
    token = trial.token
    if trial.note == "keyword":
        return "keyword"
    if token in (b"then", b"do", b"in"):
        return "joining word"
    if token.isalpha():
        return "indentation" if token == b"indentation" else "end"
    return "quote" if token[:1] in (b'"', b"'", b"`") else decode_token(token)


def neighbor_class(token: Lexeme) -> str:
    """Return the class of a token next to an edit. It is part of the names of observations in `weights.json`."""
    if token.kind in ("open", "close") or token.text in (b",", b";", b":", b"=", b"=>", b"->", b"."):
        return decode_token(token.text)
    return "operator" if token.kind == "mark" else token.kind
