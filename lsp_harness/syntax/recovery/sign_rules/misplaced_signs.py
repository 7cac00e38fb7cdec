"""Detection of signs that parse at their place but only hide what is missing.

`(1 + tax) base` parses again with a comma, `base  10` with `=`, and `new Map<…` with a semicolon after `new`. An
operator, a keyword or a bracket is missing there, and the text does not show which.
"""

import re

from tree_sitter import Node

from lsp_harness.syntax.recovery.sign_rules.doubtful_words import (
    find_adjacent_keyword,
    find_joined_words,
    find_misspelt_keyword,
)
from lsp_harness.syntax.recovery.sign_rules.sign_place import LOOK_BYTES, WORD_BEFORE, SignPlace
from lsp_harness.syntax.recovery.sign_rules.sign_rules import RULES
from lsp_harness.syntax.tree import SyntaxTree, nodes_around
from lsp_harness.text.position import decode

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
        token: The deleted token.
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
