"""Detection of signs that parse at their place but only hide what is missing.

`(1 + tax) base` parses again with a comma, `base  10` with `=`, and `new Map<…` with a semicolon after `new`. An
operator, a keyword or a bracket is missing there, and the text does not show which.
"""

import re

from tree_sitter import Node

from lsp_harness.syntax.lexemes import grammar_keywords
from lsp_harness.syntax.recovery.sign_rules import LOOK_BYTES, RULES, WORD_AFTER, WORD_BEFORE, SignPlace
from lsp_harness.syntax.tree import SyntaxTree, nodes_around
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


STATEMENT_NODES = frozenset({"expression_statement", "labeled_statement"})

SIGNS_BETWEEN_NAMES = frozenset({"=", "=>", "->", "."})

SIGNS_BETWEEN_VALUES = frozenset({"=", "==", ":=", "=>", "->", ",", ":"})
BLOCK_PARAMETERS = re.compile(rb"[\w)][ \t]+\|[\w, *&]+\|[ \t]*$", re.MULTILINE)

OPENED_BLOCK = re.compile(rb"(?:\bdo|\{)[ \t]*\|[^|\n]*\|[ \t]*$", re.MULTILINE)

RETURN_BEFORE = re.compile(rb"\b(?:return|yield|throw|await)[ ]*\Z")
NO_VALUE_AFTER = re.compile(rb"[ ]+(?:[,;){}\]]|\r?\n)")


def is_misplaced_removal(tree: SyntaxTree, token: bytes, position: int) -> bool:
    """Return whether the deletion of a token only hides what is missing.

    Args:
        tree: The tree of the text after the deletion. It has no error.
        token: The token that was deleted.
        position: The byte offset at which the token was.
    """
    traits = tree.language.recovery
    if token == b"end" and traits.has_block_parameters:
        # the parameters of a block whose `do` is missing are read as operands of `|`
        return BLOCK_PARAMETERS.search(OPENED_BLOCK.sub(b"", tree.data)) is not None
    if (
        token == b"("
        and RETURN_BEFORE.search(tree.data[max(0, position - LOOK_BYTES) : position])
        and not tree.data[position:].split(b"\n")[0].strip()
    ):
        # the returned value is on the next line
        return True
    if token in (b"(", b")") and traits.incomplete_call:
        return any(match.start() < position <= match.end() for match in re.finditer(traits.incomplete_call, tree.data))
    behind_word = len(tree.data[:position].rstrip(b")]"))
    if token in (b")", b"]") and WORD_BEFORE.search(tree.data[max(0, behind_word - LOOK_BYTES) : behind_word]):
        # `days0]`: the bracket that opens may be missing in the word
        return bool(find_joined_words(SignPlace(tree, behind_word, behind_word, (tree.root,), is_replacement=False)))
    # the type between the two signs is missing
    return (
        token == b":"
        and tree.data[position : position + 1] == b" "
        and NO_VALUE_AFTER.match(tree.data, position) is not None
    )


def describe_misplaced_sign(tree: SyntaxTree, start: int, end: int, *, is_replacement: bool = False) -> str:
    """Return what is wrong with a sign at its place, as the end of the sentence "the edit …". It is empty if the sign
    is right.

    Args:
        tree: The tree of the text after the edit.
        start: The byte offset at which the sign starts.
        end: The byte offset at which it ends.
        is_replacement: Whether the sign took the place of another sign.
    """
    text = decode(tree.data[start:end])
    nodes = tuple(node for node in nodes_around(tree.root, start, end) if node.is_named and node.child_count)
    sign = SignPlace(tree, start, end, nodes or (tree.root,), is_replacement)
    rule = RULES.get(text)
    if rule is None:
        return ""
    if (
        text not in "(){}"
        and not sign.language.recovery.allows_outer_statements
        and len(sign.nodes) > 1
        and _is_bare_statement(sign.nodes[-2])
    ):
        return f"puts `{text}` where the code becomes a statement outside a function"
    if not is_replacement and (keyword := find_misspelt_keyword(sign)):
        return f"puts `{text}` beside `{keyword}`, which may be a misspelt keyword"
    if text in SIGNS_BETWEEN_VALUES and sign.text_before.rstrip()[-1:] in (b";", b"{"):
        return f"puts `{text}` at the beginning of a statement"
    if not is_replacement and text in SIGNS_BETWEEN_NAMES and (keyword := find_adjacent_keyword(sign)):
        return f"puts `{text}` beside the keyword `{keyword}`"
    if not is_replacement and text in "([" and (word := find_joined_words(sign)):
        return f"puts `{text}` beside `{word}`, which may be two words"
    return rule(sign) and f"puts `{text}` {rule(sign)}"


def _is_bare_statement(node: Node) -> bool:
    if node.type not in STATEMENT_NODES:
        return False
    first = node.named_children[0].type if node.named_children else ""
    return "macro" not in first
