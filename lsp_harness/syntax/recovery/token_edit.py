"""An edit of one token that may mend a text; it has not been tried yet."""

from typing import Literal, NamedTuple

from lsp_harness.syntax.lexemes import Lexeme
from lsp_harness.syntax.recovery.broken_text import BrokenText
from lsp_harness.syntax.recovery.edits.token_layout import insertion_edit
from lsp_harness.text.edit import Edit

Action = Literal["insert", "delete", "replace"]


class Trial(NamedTuple):
    """One edit. `at` is the token before which it inserts, or that it deletes or replaces; `opener` the bracket it closes.

    `note` says more about how it was found, for those who judge it.
    """

    edit: Edit
    action: Action
    token: bytes
    at: int
    opener: int = -1
    note: str = ""


def insertion(scene: BrokenText, gap: int, text: bytes) -> Trial:
    """A token before the token `gap`."""
    return Trial(insertion_edit(scene, gap, text), "insert", text, gap)


def deletion(scene: BrokenText, at: int) -> Trial:
    """A token left out, with its line where nothing else is on it."""
    token = scene.tokens[at]
    document = scene.tree.document
    line = document.line_of(token.start)
    start, end = document.line_span(line)
    if scene.data[start:end].strip() == token.text and line + 1 < len(document.starts):
        return Trial(Edit(start, document.starts[line + 1], b""), "delete", token.text, at)
    return Trial(Edit(token.start, token.end, b""), "delete", token.text, at)


def replacement(scene: BrokenText, at: int, text: bytes, note: str) -> Trial:
    """Another token in the place of one."""
    token = scene.tokens[at]
    return Trial(Edit(token.start, token.end, text), "replace", text, at, -1, note)


def decode_token(text: bytes) -> str:
    """Bytes of a text for people, whatever they are."""
    return text.decode("utf-8", "replace")


def token_class(trial: Trial) -> str:
    """What sort of token an edit is about."""
    token = trial.token
    if trial.note == "keyword":
        return "keyword"
    if token in (b"then", b"do", b"in"):
        return "joining word"
    if token.isalpha():
        return "indentation" if token == b"indentation" else "end"
    return "quote" if token[:1] in (b'"', b"'", b"`") else decode_token(token)


def neighbor_class(token: Lexeme) -> str:
    """What sort of token a neighbour is."""
    if token.kind in ("open", "close") or token.text in (b",", b";", b":", b"=", b"=>", b"->", b"."):
        return decode_token(token.text)
    return "operator" if token.kind == "mark" else token.kind
