"""Rules for brackets that parse at their place but have no meaning there.

A rule returns what is wrong as the end of the sentence "the edit puts `(` …", or an empty text.
"""

import re

from lsp_harness.syntax.lexemes import keywords
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
    ahead = WORD_AFTER.match(sign.text_after)
    if ahead and ahead[1] in STATEMENT_WORDS:
        return "around a statement"
    if (
        sign.language == "go"
        and sign.parent.parent
        and sign.parent.parent.type == "func_literal"
        and len(sign.nodes) <= MAX_OUTER_DEPTH
    ):
        return "where the function has no name"
    word = WORD_BEFORE.search(sign.text_before)
    blank = sign.text_before[-1:].isspace()
    if word and ahead and blank and word[1] not in keywords(sign.tree.language):
        return "between two words with a blank between them"
    called = re.search("argument|call|invocation", sign.parent.type)
    if called and word and sign.text_after.lstrip().startswith(b")") and sign.count_word(word[1]) > 1:
        calls = re.findall(rb"(?<!\w)%s\s*\(" % re.escape(word[1]), sign.tree.data)
        if len(calls) == 1:
            return f"behind `{decode(word[1])}`, which is called nowhere else"
    return _group(sign)


def check_closer(sign: SignPlace) -> str:
    ahead = sign.text_after.split(b"\n")[0].lstrip()
    if sign.text_before.rstrip().endswith(b"(") and (WORD_AFTER.match(ahead) or ahead[:1] in (b"(", b"|", b'"', b"'")):
        return "before the arguments"
    return _group(sign)


def _group(sign: SignPlace) -> str:
    """Reject parentheses around a single word or number in an expression."""
    if not sign.parent.type.startswith("parenthesized") or not OPERAND_PARENT.search(sign.parent_type(0)):
        return ""
    inner = sign.parent.named_children
    return "around one word, which needs no parentheses" if len(inner) == 1 and not inner[0].named_child_count else ""


def check_opening_brace(sign: SignPlace) -> str:
    bare = sign.parent.type in BARE_BLOCKS and sign.parent_type(0) in BARE_BLOCKS | {
        "program",
        "source_file",
        "translation_unit",
        "class_body",
    }
    return "that begins a block of nothing" if bare else ""


def check_closing_brace(sign: SignPlace) -> str:
    if sign.text_before.endswith(b"{$"):
        return "around a sign that is part of the bracket"
    rest = sign.text_after.split(b"\n")[0].lstrip()
    return "before the end of a statement" if rest.startswith(b";") and sign.parent.type in BARE_BLOCKS else ""
