"""Rules for brackets that parse at their place but have no meaning there.

A rule returns what is wrong as the end of the sentence "the edit puts `(` …", or an empty text.
"""

import re

from lsp_harness.syntax.lexemes import grammar_keywords
from lsp_harness.syntax.recovery.sign_rules.sign_place import WORD_AFTER, WORD_BEFORE, SignPlace
from lsp_harness.text.position import decode

STATEMENT_WORDS = frozenset(
    b"const let var return if for while def class import export public private protected static".split()
)

MAX_OUTER_DEPTH = 5
"""Maximum depth in the tree of code outside all functions."""

BARE_BLOCKS = frozenset({"statement_block", "block", "compound_statement"})

OPERAND_PARENT = re.compile("binary|unary|boolean_operator|comparison|assignment|declarator|argument")
"""Nodes whose operands need no parentheses."""


def check_opener(sign: SignPlace) -> str:
    word_after = WORD_AFTER.match(sign.text_after)
    if word_after and word_after[1] in STATEMENT_WORDS:
        return "around a statement"
    if sign.parent.parent and sign.parent.parent.type == "func_literal" and len(sign.nodes) <= MAX_OUTER_DEPTH:
        return "where the function has no name"
    word_before = WORD_BEFORE.search(sign.text_before)
    has_blank = sign.text_before[-1:].isspace()
    if word_before and word_after and has_blank and word_before[1] not in grammar_keywords(sign.tree.language):
        return "between two words with a blank between them"
    is_call = re.search("argument|call|invocation", sign.parent.type)
    if is_call and word_before and sign.text_after.lstrip().startswith(b")") and sign.count_word(word_before[1]) > 1:
        calls = re.findall(rb"(?<!\w)%s\s*\(" % re.escape(word_before[1]), sign.tree.data)
        if len(calls) == 1:
            return f"behind `{decode(word_before[1])}`, which is called nowhere else"
    return _group(sign)


def check_closer(sign: SignPlace) -> str:
    rest_of_line = sign.text_after.split(b"\n")[0].lstrip()
    if sign.text_before.rstrip().endswith(b"(") and (
        WORD_AFTER.match(rest_of_line) or rest_of_line[:1] in (b"(", b"|", b'"', b"'")
    ):
        return "before the arguments"
    return _group(sign)


def _group(sign: SignPlace) -> str:
    """Reject parentheses around a single word or number in an expression."""
    if not sign.parent.type.startswith("parenthesized") or not OPERAND_PARENT.search(sign.parent_type(0)):
        return ""
    children = sign.parent.named_children
    return (
        "around one word, which needs no parentheses"
        if len(children) == 1 and not children[0].named_child_count
        else ""
    )


def check_opening_brace(sign: SignPlace) -> str:
    is_bare = sign.parent.type in BARE_BLOCKS and sign.parent_type(0) in BARE_BLOCKS | {
        "program",
        "source_file",
        "translation_unit",
        "class_body",
    }
    return "that begins a block of nothing" if is_bare else ""


def check_closing_brace(sign: SignPlace) -> str:
    if sign.text_before.endswith(b"{$"):
        return "around a sign that is part of the bracket"
    rest = sign.text_after.split(b"\n")[0].lstrip()
    return "before the end of a statement" if rest.startswith(b";") and sign.parent.type in BARE_BLOCKS else ""
