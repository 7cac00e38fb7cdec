"""The tokens around a place in a text, with the white space between them."""

from collections.abc import Sequence
from dataclasses import dataclass

from lsp_harness.syntax.tokens import Token, read_tokens, scan_tokens
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, decode

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
