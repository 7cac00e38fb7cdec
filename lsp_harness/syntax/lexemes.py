"""The tokens of a text as its grammar reads them, even if the text has syntax errors.

Comments are left out. A complete string is one token. Text that the parser skipped is split by its characters.
"""

import re
from functools import cache
from typing import Literal, NamedTuple

from tree_sitter import Node

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.grammars import grammar
from lsp_harness.syntax.tree import SyntaxTree

LexemeKind = Literal["word", "keyword", "number", "string", "open", "close", "mark"]

OPENERS = {b"(": b")", b"[": b"]", b"{": b"}"}
CLOSERS = {closer: opener for opener, closer in OPENERS.items()}
BLOCK_MIDDLE_WORDS = frozenset(
    b"else elif elsif elseif except finally catch rescue ensure when case default then do while in until".split()
)
"""Words that start the next part of a block that an earlier line has opened."""
_WORD = re.compile(rb"[A-Za-z_$@\x80-\xff][\w$\x80-\xff]*[?!]?\Z")
_WORD_OR_SIGN = re.compile(rb"[A-Za-z_$@\x80-\xff][\w$\x80-\xff]*|\d[\w.]*|[^\s\w]")
_STRING_NODE = re.compile(
    r"(?<!chained_)(?<!concatenated_)string(?!_array)|template|char_lit|character|heredoc|regex|raw_text|jsx_text"
    r"|^text$|preproc_arg|program_name"
)
_OPERAND_END_MARKS = frozenset((b'"', b"'", b"`", b"?", b"++", b">"))
_OPERAND_START_MARKS = frozenset(b"\" ' ` - ! & * ** ... .. ~ @ # $ < | + : ?".split())


class Lexeme(NamedTuple):
    """One token. `start` and `end` are byte offsets, `line` is the line of its start, counted from 0."""

    start: int
    end: int
    text: bytes
    kind: LexemeKind
    line: int
    starts_line: bool
    """Whether the token is the first one of its line."""


def read_lexemes(tree: SyntaxTree, start: int = 0, end: int | None = None) -> list[Lexeme]:
    """Return the tokens of a tree in the order of the text.

    Args:
        tree: The tree, which may contain errors.
        start: If given, the tokens start at the line of this byte offset.
        end: If given, the tokens end with the line of this byte offset.
    """
    document = tree.document
    if start:
        start = document.line_span(document.line_of(start))[0]
    start = max(start, document.mark_size)
    if end is not None:
        end = document.line_span(document.line_of(end))[1]
    lexemes: list[Lexeme] = []
    keywords, data, starts = grammar_keywords(tree.language), tree.data, document.line_starts
    last_line, line, line_count = -1, document.line_of(start), len(starts)
    next_line_start = starts[line + 1] if line + 1 < line_count else len(data) + 1
    stop = len(data) if end is None else end
    covered_end = start
    for node in [*_leaves(tree.root, start, stop), None]:
        node_start, node_end = (node.start_byte, node.end_byte) if node else (stop, stop)
        # Text that the parser skipped may be in no node at all.
        is_skipped = tree.root.has_error and covered_end < node_start and data[covered_end:node_start].strip()
        spans = _split_words(data, covered_end, node_start) if is_skipped else []
        covered_end = max(covered_end, node_end)
        is_string = False
        if node and "comment" not in node.type and data[node_start:node_end].strip():
            spans += _split_words(data, node_start, node_end) if node.is_error else [(node_start, node_end)]
            is_string = node.child_count > 0 or (node.is_named and b" " in data[node_start:node_end])
        for token_start, token_end in spans:
            while token_start >= next_line_start:
                line += 1
                next_line_start = starts[line + 1] if line + 1 < line_count else len(data) + 1
            text = data[token_start:token_end]
            kind = "string" if is_string else _lexeme_kind(text, keywords)
            if kind == "mark" and node and node.is_named and not node.is_error and text[-1:].isalnum():
                # A symbol of Ruby, such as `:name`.
                kind = "word"
            lexemes.append(Lexeme(token_start, token_end, text, kind, line, line != last_line))
            last_line = line if b"\n" not in text else document.line_of(token_end - 1)
    return lexemes


@cache
def grammar_keywords(language: LanguageSpec) -> frozenset[bytes]:
    """Return the keywords of a grammar."""
    words = frozenset(word for word in _anonymous_tokens(language) if word.isalpha())
    return words | language.tokens.named_keywords


@cache
def grammar_marks(language: LanguageSpec) -> frozenset[bytes]:
    """Return the operators, separators and brackets of a grammar."""
    return frozenset(word for word in _anonymous_tokens(language) if not any(chr(letter).isalnum() for letter in word))


def can_end_operand(lexeme: Lexeme) -> bool:
    """Return whether an expression may end with a token."""
    return lexeme.kind in ("word", "number", "string", "close", "keyword") or lexeme.text in _OPERAND_END_MARKS


def can_begin_operand(lexeme: Lexeme) -> bool:
    """Return whether an expression may begin with a token."""
    return lexeme.kind in ("word", "number", "string", "open", "keyword") or lexeme.text in _OPERAND_START_MARKS


def _split_words(data: bytes, start: int, end: int) -> list[tuple[int, int]]:
    """Return the spans of the words, numbers and single symbols of a text."""
    return [(start + match.start(), start + match.end()) for match in _WORD_OR_SIGN.finditer(data[start:end])]


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
    leaves: list[Node] = []
    stack = [root]
    while stack:
        node = stack.pop()
        kind = node.type
        if node.end_byte < start or node.start_byte > end:
            continue
        is_complete_string = not node.has_error and node.is_named and _STRING_NODE.search(kind)
        if not node.child_count or "comment" in kind or is_complete_string:
            leaves.append(node)
        else:
            stack += reversed(node.children)
    return leaves


@cache
def _anonymous_tokens(language: LanguageSpec) -> frozenset[bytes]:
    rules = grammar(language)
    names = (
        rules.node_kind_for_id(kind_id)
        for kind_id in range(rules.node_kind_count)
        if rules.node_kind_is_visible(kind_id) and not rules.node_kind_is_named(kind_id)
    )
    return frozenset(name.encode() for name in names if name)
