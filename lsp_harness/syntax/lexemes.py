"""The tokens of a text as its grammar reads them, also where the text is broken.

Comments are left out, a string without a fault is one token, and what the parser skipped is read by its characters.
"""

import re
from functools import cache
from typing import Literal, NamedTuple

from tree_sitter import Node

from lsp_harness.syntax.languages import Language, grammar
from lsp_harness.syntax.tree import SyntaxTree

LexemeKind = Literal["word", "keyword", "number", "string", "open", "close", "mark"]

OPENERS = {b"(": b")", b"[": b"]", b"{": b"}"}
CLOSERS = {closer: opener for opener, closer in OPENERS.items()}
BLOCK_END_WORDS: dict[str, frozenset[bytes]] = {
    "ruby": frozenset({b"end"}),
    "lua": frozenset({b"end", b"until"}),
    "bash": frozenset({b"fi", b"done", b"esac"}),
}
"""Words that end a block, where words do that."""
BLOCK_MIDDLE_WORDS = frozenset(
    b"else elif elsif elseif except finally catch rescue ensure when case default then do while in until".split()
)
"""Words that go on with a block that a line before began."""
_WORD = re.compile(rb"[A-Za-z_$@\x80-\xff][\w$\x80-\xff]*[?!]?\Z")
_WORD_OR_SIGN = re.compile(rb"[A-Za-z_$@\x80-\xff][\w$\x80-\xff]*|\d[\w.]*|[^\s\w]")
_STRING_NODE = re.compile(
    r"(?<!chained_)(?<!concatenated_)string(?!_array)|template|char_lit|character|heredoc|regex|raw_text|jsx_text|^text$|preproc_arg|program_name"
)


_OPERAND_END_MARKS = frozenset((b'"', b"'", b"`", b"?", b"++", b">"))
_OPERAND_START_MARKS = frozenset(b"\" ' ` - ! & * ** ... .. ~ @ # $ < | + : ?".split())


class Lexeme(NamedTuple):
    """One token: its bytes, its kind, the line it begins on, and whether it is the first of that line."""

    start: int
    end: int
    text: bytes
    kind: LexemeKind
    line: int
    starts_line: bool


def read_lexemes(tree: SyntaxTree, start: int = 0, end: int | None = None) -> list[Lexeme]:
    """The tokens of a tree in source order, or of those of its lines that a range touches."""
    document = tree.document
    if start:
        start = document.line_span(document.line_of(start))[0]
    if end is not None:
        end = document.line_span(document.line_of(end))[1]
    found: list[Lexeme] = []
    words, data, starts = grammar_keywords(tree.language), tree.data, document.starts
    last, line, count = -1, document.line_of(start), len(starts)
    following = starts[line + 1] if line + 1 < count else len(data) + 1
    stop = len(data) if end is None else end
    covered = start
    for node in [*_leaves(tree.root, start, stop), None]:
        begin, behind = (node.start_byte, node.end_byte) if node else (stop, stop)
        # what the parser skipped may be in no node at all
        skipped = tree.root.has_error and covered < begin and data[covered:begin].strip()
        parts = _split_words(data, covered, begin) if skipped else []
        covered = max(covered, behind)
        whole = False
        if node and "comment" not in node.type and data[begin:behind].strip():
            parts += _split_words(data, begin, behind) if node.is_error else [(begin, behind)]
            whole = node.child_count > 0 or (node.is_named and b" " in data[begin:behind])
        for begin, behind in parts:
            while begin >= following:
                line += 1
                following = starts[line + 1] if line + 1 < count else len(data) + 1
            text = data[begin:behind]
            kind = "string" if whole else _lexeme_kind(text, words)
            if kind == "mark" and node and node.is_named and not node.is_error and text[-1:].isalnum():
                # `:name` of Ruby
                kind = "word"
            found.append(Lexeme(begin, behind, text, kind, line, line != last))
            last = line if b"\n" not in text else document.line_of(behind - 1)
    return found


NAMED_KEYWORDS: dict[str, frozenset[bytes]] = {"rust": frozenset([b"mut"])}
"""Keywords that a grammar has as a node with a name."""


@cache
def grammar_keywords(language: Language) -> frozenset[bytes]:
    """The words that the grammar knows by their letters."""
    literals = {b"true", b"false", b"null"} if language.id == "json" else set[bytes]()
    return (
        frozenset(word for word in _anonymous_tokens(language) if word.isalpha())
        | literals
        | NAMED_KEYWORDS.get(language.id, frozenset())
    )


@cache
def grammar_marks(language: Language) -> frozenset[bytes]:
    """The signs that the grammar knows: operators, separators and brackets."""
    return frozenset(word for word in _anonymous_tokens(language) if not any(chr(letter).isalnum() for letter in word))


def can_end_operand(lexeme: Lexeme) -> bool:
    """Whether an expression may end with a token."""
    return lexeme.kind in ("word", "number", "string", "close", "keyword") or lexeme.text in _OPERAND_END_MARKS


def can_begin_operand(lexeme: Lexeme) -> bool:
    """Whether an expression may begin with a token."""
    return lexeme.kind in ("word", "number", "string", "open", "keyword") or lexeme.text in _OPERAND_START_MARKS


def _split_words(data: bytes, start: int, end: int) -> list[tuple[int, int]]:
    """Words, numbers and single signs of a text."""
    return [(start + part.start(), start + part.end()) for part in _WORD_OR_SIGN.finditer(data[start:end])]


def _lexeme_kind(text: bytes, words: frozenset[bytes]) -> LexemeKind:
    if text[-1:] in OPENERS:
        return "open"
    if text[:1] in CLOSERS:
        return "close"
    if _WORD.match(text):
        return "keyword" if text in words else "word"
    if text[:1].isdigit():
        return "number"
    return "string" if len(text) > 3 and b" " in text else "mark"


def _leaves(root: Node, start: int, end: int) -> list[Node]:
    found: list[Node] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        kind = node.type
        if node.end_byte < start or node.start_byte > end:
            continue
        if (
            not node.child_count
            or "comment" in kind
            or (not node.has_error and _STRING_NODE.search(kind) and node.is_named)
        ):
            found.append(node)
        else:
            waiting += reversed(node.children)
    return found


@cache
def _anonymous_tokens(language: Language) -> frozenset[bytes]:
    known = grammar(language)
    names = (
        known.node_kind_for_id(number)
        for number in range(known.node_kind_count)
        if known.node_kind_is_visible(number) and not known.node_kind_is_named(number)
    )
    return frozenset(name.encode() for name in names if name)
