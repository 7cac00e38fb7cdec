"""A fix as a template: the error, the code around it with abstract names, and the tokens that replace others.

A template is data: it names no file and keeps no other text than the tokens that must stand there, or that are added.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, cast

from lsp_harness.syntax.tokens import Token, read_tokens, scan_tokens
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, decode, encode

LINES_AROUND = 6
"""Lines before and after the place that belong to the window."""


@dataclass(frozen=True, slots=True)
class CodeWindow:
    """The tokens of some lines, without their comments.

    Attributes:
        document: The text.
        span: The lines, in bytes.
        tokens: The tokens.
        comments: The comments.
    """

    document: Document
    span: Span
    tokens: Sequence[Token]
    comments: Sequence[Token]

    @classmethod
    def read(cls, tree: SyntaxTree, place: Span, *, is_lexical: bool) -> "CodeWindow":
        """Return the window around a place.

        Args:
            tree: The syntax tree of the text.
            place: The place, in bytes.
            is_lexical: Whether the tokens are words and signs only, because the tree has errors.
        """
        document = tree.document
        first = max(0, document.line_of(min(place.start, len(document.data))) - LINES_AROUND)
        last = min(len(document.line_starts) - 1, document.line_of(min(place.end, len(document.data))) + LINES_AROUND)
        span = Span(document.line_starts[first], document.line_span(last)[1])
        tokens = scan_tokens(document.data, *span) if is_lexical else read_tokens(tree, *span)
        code = [token for token in tokens if token.kind != "comment"]
        return cls(document, span, code, [token for token in tokens if token.kind == "comment"])

    def gap(self, index: int) -> str:
        """Return the text between a token and the one before it."""
        start = self.tokens[index - 1].end if index else self.span.start
        end = self.tokens[index].start if index < len(self.tokens) else self.span.end
        return decode(self.document.data[start:end])

    def has_line_break(self, index: int) -> bool:
        """Return whether a line begins between a token and the one before it. At the ends of the window one does."""
        return index in (0, len(self.tokens)) or "\n" in self.gap(index)

    def keys(self) -> list[tuple[str, str, str]]:
        """Return what makes two tokens equal: the kind, the text, and the indentation if it begins a line."""
        gaps = (self.gap(index) for index in range(len(self.tokens)))
        return [
            (token.kind, token.text, gap if "\n" in gap else "") for token, gap in zip(self.tokens, gaps, strict=True)
        ]

    def index_at(self, offset: int) -> int:
        """Return the index of the first token that ends after a byte offset, or of the last token."""
        return next(
            (index for index, token in enumerate(self.tokens) if token.end > offset), max(0, len(self.tokens) - 1)
        )

    def indentation_at(self, offset: int) -> str:
        """Return the white space at the beginning of the line of a byte offset."""
        start, end = self.document.line_span(self.document.line_of(offset))
        line = decode(self.document.data[start:end])
        return line[: len(line) - len(line.lstrip())]

    def has_comment(self, start: int, end: int) -> bool:
        """Return whether a comment lies between two byte offsets."""
        return any(comment.start < end and comment.end > start for comment in self.comments)


NAME, LITERAL, TEXT, LINE = "$", "#", "=", "|"
"""First characters of an entry: a name or a literal by its number, a text as it is, and a new line of the text."""
KINDS = {NAME: "name", LITERAL: "literal"}
WORD = r"(?<![\w$]){}(?![\w$])"
NUMBER = re.compile(r"\d+")
MAX_MESSAGE_CHARS = 300

Bindings = Mapping[str, str]
"""Entry of a name or a literal → its text in the code."""


@dataclass(frozen=True, slots=True)
class ErrorReport:
    """A diagnostic of a tool.

    Attributes:
        tool: The name of the tool.
        code: The rule of the linter or checker.
        message: The message.
        names: The names in the message, in their order.
        start: The first byte of the code that it is about.
        end: The byte after this code.
        is_about_name: Whether the tool does not know one of these names. Then its fix is a fix of this name only.
    """

    tool: str
    code: str
    message: str
    names: tuple[str, ...]
    start: int
    end: int
    is_about_name: bool = False

    @property
    def signature(self) -> tuple[str, str, str]:
        """The tool, the rule, and the message without names and numbers."""
        text = self.message
        for name in sorted(self.names, key=len, reverse=True):
            text = re.sub(WORD.format(re.escape(name)), "_", text)
        text = NUMBER.sub("0", " ".join(text.split()))[:MAX_MESSAGE_CHARS]
        return self.tool.lower(), self.code, text


@dataclass(frozen=True, slots=True)
class TokenEdit:
    """One replacement of a template.

    Attributes:
        start: Where it begins: twice the index of a token of the pattern, and one more for the end of that token.
        end: Where it ends, in the same way.
        pieces: The new text, as entries.
    """

    start: int
    end: int
    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FixTemplate:
    """A fix that fits all code with the same error and the same tokens but other names.

    Attributes:
        language: The language of the code.
        signature: The tool, the rule and the message, see `ErrorReport.signature`.
        names: The names in the message, as entries.
        tokens: The pattern: the tokens around the error, as entries.
        anchor: The index of the token at which the error begins.
        borders: Whether a line must begin before the pattern, and whether one must end behind it.
        is_lexical: Whether the code had a syntax error, so that its tokens are words and signs.
        edits: The replacements in the matched tokens.
    """

    language: str
    signature: tuple[str, str, str]
    names: tuple[str, ...]
    tokens: tuple[str, ...]
    anchor: int
    borders: tuple[bool, bool]
    is_lexical: bool
    edits: tuple[TokenEdit, ...]

    @property
    def id(self) -> str:
        """The hash of the template."""
        return blake2b(self.to_json().encode(), digest_size=8).hexdigest()

    @property
    def title(self) -> str:
        """The template in one line: the old tokens and the new ones."""
        old = " ".join(entry.removeprefix(TEXT) for entry in self.tokens)
        new = " … ".join("".join(_show(piece) for piece in edit.pieces).strip() or "nothing" for edit in self.edits)
        return " ".join(f"{old}  →  {new}".split())

    def render(self, report: ErrorReport, window: CodeWindow) -> tuple[Edit, ...]:
        """Return the edits of this code. There are none if the pattern does not fit."""
        first = window.index_at(report.start) - self.anchor
        values = self._bind(window, first)
        if values is None or len(report.names) != len(self.names):
            return ()
        if any(_fill_text(entry, values) != name for entry, name in zip(self.names, report.names, strict=True)):
            return ()
        base, edits = window.indentation_at(report.start), list[Edit]()
        for edit in self.edits:
            start, end = (_find_offset(window, first, position) for position in (edit.start, edit.end))
            if window.has_comment(start, end):
                return ()
            lines = [base + piece[1:] if piece[0] == LINE else _fill_text(piece, values) for piece in edit.pieces]
            text = "".join(
                f"\n{line}" if piece[0] == LINE else line for piece, line in zip(edit.pieces, lines, strict=True)
            )
            edits.append(Edit(start, end, encode(text.replace("\n", window.document.newline))))
        return tuple(edits)

    def _bind(self, window: CodeWindow, first: int) -> Bindings | None:
        """Return the texts of the pattern's entries at a token, or None if it does not fit there."""
        tokens = window.tokens[first : first + len(self.tokens)] if first >= 0 else ()
        if len(tokens) < len(self.tokens):
            return None
        if any(
            needed and not window.has_line_break(index)
            for needed, index in zip(self.borders, (first, first + len(tokens)), strict=True)
        ):
            return None
        values: dict[str, str] = {}
        for entry, token in zip(self.tokens, tokens, strict=True):
            if entry[0] == TEXT:
                if token.text != entry[1:]:
                    return None
            elif token.kind != KINDS[entry[0]] or values.setdefault(entry, token.text) != token.text:
                return None
        names = [text for entry, text in values.items() if entry[0] == NAME]
        return values if len(set(names)) == len(names) else None

    # -- JSON
    def to_json(self) -> str:
        """Return the template as one line."""
        data = {
            "language": self.language,
            "error": self.signature,
            "names": self.names,
            "tokens": self.tokens,
            "anchor": self.anchor,
            "borders": self.borders,
            "lexical": self.is_lexical,
            "edits": [(edit.start, edit.end, edit.pieces) for edit in self.edits],
        }
        return json.dumps(data, separators=(",", ":"))

    @classmethod
    def from_json(cls, data: Any) -> "FixTemplate | None":
        """Return the template of a decoded line, or None if it is none."""
        try:
            tool, code, message = _read_texts(data["error"])
            tokens, names = _read_texts(data["tokens"]), _read_texts(data["names"])
            edits = tuple(TokenEdit(start, end, _read_texts(pieces)) for start, end, pieces in data["edits"])
            template = cls(
                str(data["language"]),
                (tool, code, message),
                names,
                tokens,
                data["anchor"],
                (data["borders"][0] is True, data["borders"][1] is True),
                data["lexical"] is True,
                edits,
            )
        except (LookupError, TypeError, ValueError):
            return None
        return template if template._is_valid() else None

    def _is_valid(self) -> bool:
        bound = {entry for entry in self.tokens if entry[:1] in KINDS}
        pieces = [piece for edit in self.edits for piece in edit.pieces if piece[:1] != LINE]
        entries_are_known = all(entry[:1] == TEXT or entry in bound for entry in (*self.tokens, *self.names, *pieces))
        positions = [position for edit in self.edits for position in (edit.start, edit.end)]
        are_numbers = all(type(number) is int for number in (self.anchor, *positions))
        return (
            entries_are_known
            and are_numbers
            and bool(self.edits)
            and 0 <= self.anchor < len(self.tokens)
            and positions == sorted(positions)
            and positions[0] >= 0
            and positions[-1] < 2 * len(self.tokens)
        )


def _read_texts(value: object) -> tuple[str, ...]:
    """Return a list of texts. Raises ValueError if it is another value."""
    items = cast("list[object]", value) if isinstance(value, list) else [None]
    texts = [item for item in items if isinstance(item, str) and item]
    if len(texts) < len(items):
        raise ValueError("the value is not a list of texts")
    return tuple(texts)


def _fill_text(entry: str, values: Bindings) -> str:
    return entry[1:] if entry[0] == TEXT else values[entry]


def _show(piece: str) -> str:
    return "\n" if piece[0] == LINE else piece.removeprefix(TEXT)


def _find_offset(window: CodeWindow, first: int, position: int) -> int:
    token = window.tokens[first + position // 2]
    return token.end if position % 2 else token.start
