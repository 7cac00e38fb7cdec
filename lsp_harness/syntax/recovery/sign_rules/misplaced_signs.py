"""Signs that parse where they are put, but that no program has there: they only hide what is really missing.

`(1 + tax) base` parses again with a comma, `base  10` with `=`, `new Map<…` with a semicolon behind `new`. An operator, a keyword or a bracket
is missing there, and nothing in the text says which.
"""

import re

from tree_sitter import Node

from lsp_harness.syntax.recovery.sign_rules.doubtful_words import joined_words, keyword_beside, misspelt_keyword
from lsp_harness.syntax.recovery.sign_rules.sign_place import LOOK_BYTES, WORD_BEFORE, SignPlace
from lsp_harness.syntax.recovery.sign_rules.sign_rules import RULES
from lsp_harness.syntax.tree import SyntaxTree, nodes_around
from lsp_harness.text.position import decode

OUTERMOST = frozenset({"rust", "go", "java", "c", "cpp"})
"""Languages that have no statements outside of functions."""

STATEMENTS = frozenset({"expression_statement", "labeled_statement"})

BETWEEN_NAMES = frozenset({"=", "=>", "->", "."})

BETWEEN_VALUES = frozenset({"=", "==", ":=", "=>", "->", ",", ":"})
BLOCK_PARAMETERS = re.compile(rb"[\w)][ \t]+\|[\w, *&]+\|[ \t]*$", re.MULTILINE)

OPENED = re.compile(rb"(?:\bdo|\{)[ \t]*\|[^|\n]*\|[ \t]*$", re.MULTILINE)

EMPTY_RESULT = re.compile(rb"\b(?:Ok|Err|Some)\(\)")

RETURNED = re.compile(rb"\b(?:return|yield|throw|await)[ ]*\Z")
VALUELESS = re.compile(rb"[ ]+(?:[,;){}\]]|\r?\n)")


def misplaced_removal(tree: SyntaxTree, token: bytes, at: int) -> bool:
    """Whether a text without a token that was at a place parses, and means nothing there."""
    language = tree.language.id
    if token == b"end" and language == "ruby":
        # the parameters of a block whose `do` is missing are read as operands of `|`
        return BLOCK_PARAMETERS.search(OPENED.sub(b"", tree.data)) is not None
    if (
        token == b"("
        and RETURNED.search(tree.data[max(0, at - LOOK_BYTES) : at])
        and not tree.data[at:].split(b"\n")[0].strip()
    ):
        # what is returned stands on the next line
        return True
    if token in (b"(", b")") and language == "rust":
        return any(found.start() < at <= found.end() for found in EMPTY_RESULT.finditer(tree.data))
    behind_word = len(tree.data[:at].rstrip(b")]"))
    if token in (b")", b"]") and WORD_BEFORE.search(tree.data[max(0, behind_word - LOOK_BYTES) : behind_word]):
        # `days0]`: the bracket that opens may be missing in the word
        return bool(joined_words(SignPlace(tree, behind_word, behind_word, (tree.root,), replaced=False)))
    # what stood between the two signs is missing
    return token == b":" and tree.data[at : at + 1] == b" " and VALUELESS.match(tree.data, at) is not None


def misplaced_sign(tree: SyntaxTree, start: int, end: int, *, replaced: bool = False) -> str:
    """What is wrong with a sign that an edit put at these bytes of a text, as the rest of "the edit …"; empty where nothing is."""
    text = decode(tree.data[start:end])
    nodes = tuple(node for node in nodes_around(tree.root, start, end) if node.is_named and node.child_count)
    sign = SignPlace(tree, start, end, nodes or (tree.root,), replaced)
    rule = RULES.get(text)
    if rule is None:
        return ""
    if text not in "(){}" and sign.language in OUTERMOST and len(sign.nodes) > 1 and _is_bare_statement(sign.nodes[-2]):
        return f"puts `{text}` where the code is then a statement outside of a function"
    if not replaced and (keyword := misspelt_keyword(sign)):
        return f"puts `{text}` beside `{keyword}`, which may be a misspelt keyword"
    if text in BETWEEN_VALUES and sign.before.rstrip()[-1:] in (b";", b"{"):
        return f"puts `{text}` at the beginning of a statement"
    if not replaced and text in BETWEEN_NAMES and (keyword := keyword_beside(sign)):
        return f"puts `{text}` beside the keyword `{keyword}`"
    if not replaced and text in "([" and (word := joined_words(sign)):
        return f"puts `{text}` beside `{word}`, which may be two words"
    return rule(sign) and f"puts `{text}` {rule(sign)}"


def _is_bare_statement(node: Node) -> bool:
    if node.type not in STATEMENTS:
        return False
    first = node.named_children[0].type if node.named_children else ""
    return "macro" not in first
