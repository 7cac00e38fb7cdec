"""Where brackets parse and mean nothing."""

import re

from lsp_harness.syntax.lexemes import grammar_keywords
from lsp_harness.syntax.recovery.sign_rules.sign_place import WORD_AFTER, WORD_BEFORE, SignPlace
from lsp_harness.text.position import decode

STATEMENT_WORDS = frozenset(
    b"const let var return if for while def class import export public private protected static".split()
)

SHALLOW = 5
"""So deep in the tree is what stands outside of all functions, at most."""

BARE_BLOCKS = frozenset({"statement_block", "block", "compound_statement"})

OPERAND = re.compile("binary|unary|boolean_operator|comparison|assignment|declarator|argument")
"""What does not ask for parentheses around what is in it."""


def opener(sign: SignPlace) -> str:
    ahead = WORD_AFTER.match(sign.after)
    if ahead and ahead[1] in STATEMENT_WORDS:
        return "around a statement"
    if (
        sign.language == "go"
        and sign.parent.parent
        and sign.parent.parent.type == "func_literal"
        and len(sign.nodes) <= SHALLOW
    ):
        return "where the function has no name"
    word = WORD_BEFORE.search(sign.before)
    blank = sign.before[-1:].isspace()
    if word and ahead and blank and word[1] not in grammar_keywords(sign.tree.language):
        return "between two words that a blank parts"
    called = re.search("argument|call|invocation", sign.parent.type)
    if called and word and sign.after.lstrip().startswith(b")") and sign.times(word[1]) > 1:
        calls = re.findall(rb"(?<!\w)%s\s*\(" % re.escape(word[1]), sign.tree.data)
        if len(calls) == 1:
            return f"behind `{decode(word[1])}`, which is called nowhere else"
    return _group(sign)


def closer(sign: SignPlace) -> str:
    ahead = sign.after.split(b"\n")[0].lstrip()
    if sign.before.rstrip().endswith(b"(") and (WORD_AFTER.match(ahead) or ahead[:1] in (b"(", b"|", b'"', b"'")):
        return "before the arguments"
    return _group(sign)


def _group(sign: SignPlace) -> str:
    """Parentheses around one word or number of an expression."""
    if not sign.parent.type.startswith("parenthesized") or not OPERAND.search(sign.outside(0)):
        return ""
    inner = sign.parent.named_children
    return "around one word, which needs no parentheses" if len(inner) == 1 and not inner[0].named_child_count else ""


def opening_brace(sign: SignPlace) -> str:
    bare = sign.parent.type in BARE_BLOCKS and sign.outside(0) in BARE_BLOCKS | {
        "program",
        "source_file",
        "translation_unit",
        "class_body",
    }
    return "that begins a block of nothing" if bare else ""


def closing_brace(sign: SignPlace) -> str:
    if sign.before.endswith(b"{$"):
        return "around a sign that is part of the mark"
    rest = sign.after.split(b"\n")[0].lstrip()
    return "before the end of a statement" if rest.startswith(b";") and sign.parent.type in BARE_BLOCKS else ""
