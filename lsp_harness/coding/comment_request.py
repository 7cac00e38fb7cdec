"""Comments that ask for something: with `ai!` for an edit, with `ai?` for an answer, in the syntax of any language."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsp_harness.syntax import scope
from lsp_harness.syntax.tokens import Token, read_tokens
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, decode

MARK_BYTES = re.compile(rb"(?<![\w.])ai[!?]", re.IGNORECASE)
COMMENT_START = re.compile(r"^[\s#/*;%<!\-'\"{(]+")
COMMENT_END = re.compile(r"[\s#/*%>\-\"})]+$")
LINE_START = re.compile(r"\n[ \t]*\*?[ \t]*")
REQUEST = re.compile(r"ai([!?])[\s:,.-]*(.*)|(.*?)[\s,]*(?<![\w.])ai([!?])", re.IGNORECASE | re.DOTALL)
MAX_REWRITE_LINES = 80
"""A function with more lines is not written again: only the statement is."""


@dataclass(frozen=True, slots=True)
class CommentRequest:
    """A comment that asks for something.

    Attributes:
        span: The bytes of the comment, from its first line to its last.
        text: The request, without the signs of the comment and the mark.
        is_question: Whether it asks for an answer and not for an edit.
        comments: The comments as they stand in the text, one for each line if each line is one.
    """

    span: Span
    text: str
    is_question: bool
    comments: tuple[str, ...]


def find_comment_requests(tree: SyntaxTree) -> Iterator[CommentRequest]:
    """Yield the requests in the comments of a text, in their order."""
    for mark in MARK_BYTES.finditer(tree.data):
        comment = next((token for token in _find_comments(tree, mark.start(), mark.end())), None)
        if comment and (request := _read_request(tree, comment)):
            yield request


def find_target(tree: SyntaxTree, request: CommentRequest) -> Span:
    """Return the code that a request is about, together with its comment.

    It is the function around the comment or right behind it, else the statement there, else only the comment.
    """
    document = tree.document
    lines = _whole_lines(document, request.span)
    for offset in _find_places(document, request):
        function = scope.function_text_span(tree, offset)
        if function and document.line_of(function.end) - document.line_of(function.start) < MAX_REWRITE_LINES:
            return _whole_lines(document, Span(min(lines.start, function.start), max(lines.end, function.end)))
    for offset in _find_places(document, request):
        # a comment on lines of its own is no statement
        if offset != request.span.start and (statement := scope.statement_at(tree, offset, offset)):
            return _whole_lines(document, Span(min(lines.start, statement.start), max(lines.end, statement.end)))
    return lines


def remove_comments(code: str, comments: Sequence[str]) -> str:
    """Return code without some comments. A line that has nothing else is removed as a whole."""
    for comment in comments:
        pattern = re.compile(rf"^[ \t]*{re.escape(comment)}[ \t]*\n?|[ \t]*{re.escape(comment)}", re.MULTILINE)
        code = pattern.sub("", code, count=1)
    return code


def has_mark(code: str) -> bool:
    """Return whether a code still has a mark such as `ai!`."""
    return bool(MARK_BYTES.search(code.encode("utf-8", "replace")))


def _find_places(document: Document, request: CommentRequest) -> Iterator[int]:
    """Yield where the code of a request may be: beside the comment, or on the next line if it is not blank."""
    last = document.line_of(request.span.end)
    if document.data[document.line_starts[last] : request.span.start].strip():
        yield _first_char(document, last)
        return
    yield request.span.start
    if last + 1 < len(document.line_starts) and document.data[slice(*document.line_span(last + 1))].strip():
        yield _first_char(document, last + 1)


def _first_char(document: Document, line: int) -> int:
    start, end = document.line_span(line)
    text = document.data[start:end]
    return start + len(text) - len(text.lstrip())


def _whole_lines(document: Document, span: Span) -> Span:
    first, last = document.line_of(span.start), document.line_of(max(span.start, span.end - 1))
    return Span(document.line_starts[first], document.line_span(last)[1])


def _read_request(tree: SyntaxTree, comment: Token) -> CommentRequest | None:
    document = tree.document
    match = REQUEST.fullmatch(_strip(comment.text))
    if match is None:
        return None
    prefix_mark, text_after, text_before, suffix_mark = match.groups()
    parts, comments, start = [text_after or text_before or ""], [comment.text], comment.start
    # a request may begin on the lines above, if its mark is at the end
    line = document.line_of(comment.start)
    while suffix_mark and line and (above := _lone_comment(tree, line - 1)) and _is_lone(document, comment):
        if MARK_BYTES.search(above.text.encode("utf-8", "replace")):
            break
        parts.insert(0, _strip(above.text))
        comments.insert(0, above.text)
        start, line = above.start, line - 1
    text = " ".join(LINE_START.sub("\n", part) for part in parts).strip()
    if not text:
        return None
    return CommentRequest(Span(start, comment.end), text, "?" in (prefix_mark, suffix_mark), tuple(comments))


def _strip(comment: str) -> str:
    return COMMENT_END.sub("", COMMENT_START.sub("", comment))


def _find_comments(tree: SyntaxTree, start: int, end: int) -> Iterator[Token]:
    """Yield the comments that contain some bytes."""
    for token in read_tokens(tree, start, end):
        if token.kind == "comment" and token.start <= start and token.end >= end:
            yield token


def _is_lone(document: Document, comment: Token) -> bool:
    """Return whether nothing but white space is before a comment on its line."""
    return not document.data[document.line_starts[document.line_of(comment.start)] : comment.start].strip()


def _lone_comment(tree: SyntaxTree, line: int) -> Token | None:
    """Return the comment of a line that has nothing else, or None."""
    document = tree.document
    end = document.line_span(line)[1]
    first = _first_char(document, line)
    comment = next(_find_comments(tree, first, first), None) if first < end else None
    is_whole = comment and comment.start == first and decode(document.data[first:end]).rstrip() == comment.text
    return comment if is_whole else None
