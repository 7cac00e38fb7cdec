"""Words beside a sign which show that something else is missing.

They are misspelled keywords, keywords, and two names that are written as one word.
"""

import re

from lsp_harness.syntax.lexemes import grammar_keywords
from lsp_harness.syntax.recovery.sign_rules.sign_place import WORD_AFTER, WORD_BEFORE, SignPlace
from lsp_harness.text.misspelling import edit_distance
from lsp_harness.text.position import decode

DEFINITION_BEFORE = re.compile(rb"\b(?:def|func|fn|function)\s+\w+\s*\Z")

CHAIN_BEFORE = re.compile(rb"([A-Za-z_]\w*)(?:\.\w+)+\s*\Z")
TYPE_WORDS = frozenset({b"const", b"final", b"unsigned"})
"""Words that begin the type of a parameter and do not end a name."""
VALUE_WORDS = frozenset(
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

MIN_PART_LENGTH = 3
MIN_KEYWORD_LENGTH = 3


def find_misspelt_keyword(sign: SignPlace) -> str:
    """Return a word beside the sign that occurs only there and is one letter away from a keyword, or an empty text."""
    for pattern, text in ((WORD_BEFORE, sign.text_before), (WORD_AFTER, sign.text_after)):
        if not (match := pattern.search(text) if pattern is WORD_BEFORE else pattern.match(text)):
            continue
        word = match[1]
        language_keywords = grammar_keywords(sign.tree.language)
        if (
            word in language_keywords
            or len(word) < MIN_KEYWORD_LENGTH - 1
            or not word.isalpha()
            or sign.count_word(word) > 1
        ):
            continue
        written = decode(word)
        if any(
            len(keyword) >= MIN_KEYWORD_LENGTH and edit_distance(written, decode(keyword), 1) == 1
            for keyword in language_keywords
        ):
            return written
    return ""


def find_adjacent_keyword(sign: SignPlace) -> str:
    """Return a keyword beside the sign that is not a value, or an empty text."""
    language_keywords = grammar_keywords(sign.tree.language)
    for match in (WORD_BEFORE.search(sign.text_before), WORD_AFTER.match(sign.text_after.split(b"\n")[0])):
        if match and match[1] in language_keywords and decode(match[1]) not in VALUE_WORDS:
            return decode(match[1])
    return ""


def find_joined_words(sign: SignPlace) -> str:
    """Return a word beside the sign that occurs only there and consists of two known words, or an empty text.

    The missing bracket may belong between the two words.
    """
    chain = CHAIN_BEFORE.search(sign.text_before)
    if (
        chain
        and sign.count_word(chain[1]) == 1
        and any(sign.count_word(chain[1][:position]) for position in range(2, len(chain[1]) - 2))
    ):
        return decode(chain[1])
    for match in (WORD_BEFORE.search(sign.text_before), WORD_AFTER.match(sign.text_after)):
        if not match or sign.count_word(match[1]) > 1:
            continue
        word = match[1]
        is_member = match.string[: match.start()].endswith(b".")
        for position in range(2, len(word)):
            first, second = word[:position], word[position:]
            if second in TYPE_WORDS or (not is_member and _is_seam(sign, first, second)):
                return decode(word)
            if (second.isdigit() and sign.count_word(first)) or (
                len(second) > 1 and sign.count_word(first) and _is_known(sign, second)
            ):
                return decode(word)
            if (
                DEFINITION_BEFORE.search(sign.text_before)
                and sign.count_word(second)
                and not second.isdigit()
                and not _is_bound(sign, second)
            ):
                return decode(word)
    return ""


def _is_seam(sign: SignPlace, first: bytes, second: bytes) -> bool:
    """Return whether a bracket probably stood between two parts of a word.

    The text has one of the parts, and the second part begins with a small letter.
    """
    if first.endswith(b"_") or not second[:1].islower() or len(second) < MIN_PART_LENGTH:
        return False
    return bool(
        sign.count_word(first)
        if len(first) > MIN_PART_LENGTH
        else sign.count_word(second) and len(second) > MIN_PART_LENGTH
    )


def _is_known(sign: SignPlace, word: bytes) -> bool:
    return word in grammar_keywords(sign.tree.language) or decode(word) in VALUE_WORDS or sign.count_word(word) > 0


def _is_bound(sign: SignPlace, word: bytes) -> bool:
    """Return whether the text assigns or declares a name."""
    bound = (
        rb"(?<![\w.])%s\s*(?::?=[^=]|,\s*\w+\s*(?::?=[^=]|in\b)|in\b)|\b(?:import|def|class|func|fn|function)\s+%s\b"
    )
    return re.search(bound % (re.escape(word), re.escape(word)), sign.tree.data) is not None
