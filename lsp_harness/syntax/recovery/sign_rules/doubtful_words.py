"""Words beside a sign that show that something else than the sign is missing: misspelt keywords, keywords, and two words that are written as one."""

import re

from lsp_harness.syntax.lexemes import grammar_keywords
from lsp_harness.syntax.recovery.sign_rules.sign_place import WORD_AFTER, WORD_BEFORE, SignPlace
from lsp_harness.text.misspelling import distance
from lsp_harness.text.position import decode

DEFINING = re.compile(rb"\b(?:def|func|fn|function)\s+\w+\s*\Z")

CHAIN_BEFORE = re.compile(rb"([A-Za-z_]\w*)(?:\.\w+)+\s*\Z")
TYPE_WORDS = frozenset({b"const", b"final", b"unsigned"})
"""Words that begin the type of a parameter, and end no name."""
VALUES = frozenset(
    [
        "this",
        "self",
        "super",
        "base",
        "parent",
        "static",
        "Self",
        "cls",
        "new",
        "true",
        "false",
        "null",
        "nil",
        "None",
        "True",
        "False",
        "undefined",
        "void",
        "int",
        "char",
        "bool",
        "boolean",
        "float",
        "double",
        "long",
        "short",
        "string",
        "byte",
        "object",
        "lambda",
        "function",
        "func",
        "fn",
        "async",
        "await",
        "match",
        "switch",
        "if",
        "type",
        "default",
        "case",
        "struct",
        "map",
        "chan",
        "interface",
        "not",
        "move",
        "in",
    ]
)
"""Keywords that may stand beside an operator: values, types, and words that begin an expression."""

SHORTEST_PART = 3
SHORTEST_KEYWORD = 3


def misspelt_keyword(sign: SignPlace) -> str:
    """
    A word beside the sign that the text has nowhere else, and that is one slip away from a keyword."""
    for pattern, text in ((WORD_BEFORE, sign.before), (WORD_AFTER, sign.after)):
        if not (found := pattern.search(text) if pattern is WORD_BEFORE else pattern.match(text)):
            continue
        word = found[1]
        known = grammar_keywords(sign.tree.language)
        if word in known or len(word) < SHORTEST_KEYWORD - 1 or not word.isalpha() or sign.times(word) > 1:
            continue
        written = decode(word)
        if any(len(one) >= SHORTEST_KEYWORD and distance(written, decode(one), 1) == 1 for one in known):
            return written
    return ""


def keyword_beside(sign: SignPlace) -> str:
    """A keyword beside the sign that stands for no value."""
    known = grammar_keywords(sign.tree.language)
    for found in (WORD_BEFORE.search(sign.before), WORD_AFTER.match(sign.after.split(b"\n")[0])):
        if found and found[1] in known and decode(found[1]) not in VALUES:
            return decode(found[1])
    return ""


def joined_words(sign: SignPlace) -> str:
    """A word beside the sign that the text has nowhere else, and that is made of two that it has: the bracket may be missing in between."""
    chain = CHAIN_BEFORE.search(sign.before)
    if chain and sign.times(chain[1]) == 1 and any(sign.times(chain[1][:at]) for at in range(2, len(chain[1]) - 2)):
        return decode(chain[1])
    for found in (WORD_BEFORE.search(sign.before), WORD_AFTER.match(sign.after)):
        if not found or sign.times(found[1]) > 1:
            continue
        word = found[1]
        of_object = found.string[: found.start()].endswith(b".")
        for at in range(2, len(word)):
            first, second = word[:at], word[at:]
            if second in TYPE_WORDS or (not of_object and _is_seam(sign, first, second)):
                return decode(word)
            if (second.isdigit() and sign.times(first)) or (
                len(second) > 1 and sign.times(first) and _is_known(sign, second)
            ):
                return decode(word)
            if (
                DEFINING.search(sign.before)
                and sign.times(second)
                and not second.isdigit()
                and not _is_bound(sign, second)
            ):
                return decode(word)
    return ""


def _is_seam(sign: SignPlace, first: bytes, second: bytes) -> bool:
    """Whether two parts of a word were likely parted by a bracket: the text has one of them, and no name is written so at the seam."""
    if first.endswith(b"_") or not second[:1].islower() or len(second) < SHORTEST_PART:
        return False
    return bool(sign.times(first) if len(first) > SHORTEST_PART else sign.times(second) and len(second) > SHORTEST_PART)


def _is_known(sign: SignPlace, word: bytes) -> bool:
    return word in grammar_keywords(sign.tree.language) or decode(word) in VALUES or sign.times(word) > 0


def _is_bound(sign: SignPlace, word: bytes) -> bool:
    """Whether the text gives the name a value, or declares it."""
    bound = (
        rb"(?<![\w.])%s\s*(?::?=[^=]|,\s*\w+\s*(?::?=[^=]|in\b)|in\b)|\b(?:import|def|class|func|fn|function)\s+%s\b"
    )
    return re.search(bound % (re.escape(word), re.escape(word)), sign.tree.data) is not None
