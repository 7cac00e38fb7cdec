"""Rules for separators and operators that parse at their place but have no meaning there.

A rule returns what is wrong as the end of the sentence "the edit puts `,` …", or an empty text.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.lexemes import grammar_keywords
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import decode

LOOK_BYTES = 120
"""Number of bytes before and after a sign that the rules examine."""

WORD_BEFORE, WORD_AFTER = re.compile(rb"(\$?\w+)\s*\Z"), re.compile(rb"\s*(\$?\w+)")


@dataclass(frozen=True, slots=True)
class SignPlace:
    """A sign in a text.

    Attributes:
        tree: The tree of the text.
        start: The byte offset at which the sign starts.
        end: The byte offset at which it ends.
        nodes: The nodes that contain the sign, the innermost first.
        is_replacement: Whether the sign took the place of another sign.
    """

    tree: SyntaxTree
    start: int
    end: int
    nodes: tuple[Node, ...]
    is_replacement: bool

    @property
    def language(self) -> LanguageSpec:
        return self.tree.language

    @property
    def parent(self) -> Node:
        return self.nodes[0]

    @property
    def text_before(self) -> bytes:
        return self.tree.data[max(0, self.start - LOOK_BYTES) : self.start]

    @property
    def text_after(self) -> bytes:
        return self.tree.data[self.end : self.end + LOOK_BYTES]

    def find_ancestor(self, kind: str) -> int:
        """Return the index of the first of `nodes` whose type matches the expression `kind`, or -1."""
        return next((n for n, node in enumerate(self.nodes) if re.search(kind, node.type)), -1)

    def parent_type(self, position: int) -> str:
        """Return the type of the node around the node `position`, or an empty text."""
        return self.nodes[position + 1].type if position + 1 < len(self.nodes) else ""

    def count_word(self, word: bytes) -> int:
        """Return how often the text has a word."""
        return len(re.findall(rb"(?<![\w$])%s(?!\w)" % re.escape(word), self.tree.data))


def occurs_before(sign: SignPlace, word: bytes) -> bool:
    """Return whether a word occurs in the text before the sign, apart from the word beside it."""
    return len(re.findall(rb"(?<![\w$.])%s(?!\w)" % re.escape(word), sign.tree.data[: sign.start])) > 1


SEQUENCE_NODES = frozenset({"sequence_expression", "comma_expression"})

ASSIGNMENT_NODES = frozenset({"assignment_expression", "assignment_statement", "assignment"})

ASSIGNMENT_PARENT = re.compile(
    r"\A(?:expression_statement|statements?|body\w*|program|module|for\w*|assignment\w*|begin\w*|then"
    r"|else|ensure|rescue|do)\Z|block"
)
"""Nodes that may contain an assignment."""

COMPARISON_PARENT = re.compile(
    r"\A(?:if|elif|unless|while|until|assert|return|conditional|ternary|boolean_operator|not_operator"
    r"|match_arm|when|do_statement|for_statement)"
)
"""Types of nodes that need a condition, where a comparison is likely."""

NO_CONDITION_PARENT = re.compile(
    r"statement\Z|\A(?:block|body|program|module|array|list|dictionary|object|hash|pair|argument)|element|declarat"
)

UNASSIGNABLE = re.compile("call|binary|literal|string|number|invocation")
"""Expressions to which nothing can be assigned."""

RECEIVERS = frozenset({"self", "this", "cls", "super", "base", "parent", "Self"})

BLANKS_BESIDE_COMMA = re.compile(rb"\S ,|\S,  [^\s#/]| , \S")
LINE_ENDS = (b"}", b"//", b"/*", b"#", b"?>", b")", b"]")


def _check_comma(sign: SignPlace) -> str:
    if BLANKS_BESIDE_COMMA.search(sign.text_before[-2:] + b"," + sign.text_after[:3]):
        return "into a gap of two blanks, where an operator may be missing"
    kind, node = sign.parent.type, sign.parent
    is_bare = kind in SEQUENCE_NODES and sign.find_ancestor(r"\Afor") < 0
    if kind.startswith("with_"):
        return "where `as` may be missing"
    if sign.language.recovery.has_bare_tuples and kind in ("expression_list", "tuple"):
        outer_type = sign.parent_type(0)
        is_single = sum(child.type == "," for child in node.children) == 1
        is_target = outer_type == "assignment" and sign.nodes[1].child_by_field_name("left") == node
        is_bare = (
            is_single
            and not is_target
            and node.children[0].type != "("
            and outer_type not in ("delete_statement", "subscript")
        )
    return "between two values that are in no list" if is_bare else ""


def _check_semicolon(sign: SignPlace) -> str:
    if not sign.language.recovery.needs_semicolons:
        return ""
    rest, _, next_lines = sign.text_after.partition(b"\n")
    rest = rest.strip()
    if not rest:
        return "before the block" if next_lines.lstrip().startswith(b"{") else ""
    if (
        rest.startswith(LINE_ENDS)
        or sign.find_ancestor(r"\A(?:for|c_style_for)|interface|object_type|struct|field|member|class_body") >= 0
    ):
        return ""
    if sign.language.recovery.has_statements_in_headers and sign.find_ancestor("if_statement|switch") >= 0:
        return ""
    language_keywords = grammar_keywords(sign.tree.language)
    word_before, word_after = WORD_BEFORE.search(sign.text_before), WORD_AFTER.match(b" " + rest)
    if word_after and word_after[1] in language_keywords and not (word_before and word_before[1] in language_keywords):
        return ""
    return "into a statement that continues after it"


def _check_assignment(sign: SignPlace) -> str:
    if sign.parent.type == "object_assignment_pattern" and sign.parent_type(0) == "object":
        return "into an object, which has `:` there"
    if sign.parent.type not in ASSIGNMENT_NODES:
        return ""
    target = sign.parent.child_by_field_name("left")
    word = target.text if target is not None else None
    traits = sign.language.recovery
    if not traits.checks_assignment_places:
        is_used = word and occurs_before(sign, word)
        return "behind a name that is used before, where another operator may be missing" if is_used else ""
    if not ASSIGNMENT_PARENT.search(sign.parent_type(0)):
        return "into an expression, where another operator may be missing"
    if target is not None and UNASSIGNABLE.search(target.type):
        return "behind a value that nothing can be assigned to"
    if traits.blocks_are_values and sign.parent_type(0) == "block":
        return "into the value of a block, where another operator may be missing"
    if word and occurs_before(sign, word):
        return "behind a name that is used before, where another operator may be missing"
    is_bare = target is not None and target.named_child_count == (target.type == "expression_list")
    if traits.requires_declarations and is_bare and word and sign.count_word(word) == 1:
        return f"behind `{decode(word)}`, which is declared nowhere"
    return ""


def _check_comparison(sign: SignPlace) -> str:
    if not sign.is_replacement:
        return "where another operator may be missing"
    for node in sign.nodes[1:]:
        if COMPARISON_PARENT.match(node.type):
            return ""
        if NO_CONDITION_PARENT.search(node.type):
            break
    return "where no condition is needed"


def _check_membership(sign: SignPlace) -> str:
    return "" if re.match("for_", sign.parent.type) else "where another operator may be missing"


def _check_member(sign: SignPlace) -> str:
    word_before, word_after = WORD_BEFORE.search(sign.text_before), WORD_AFTER.match(sign.text_after)
    if not word_before or not word_after:
        return "between two values, where something else may be missing" if sign.text_before[-1:] == b" " else ""
    word = word_before[1].lstrip(b"$")
    mark = sign.tree.data[sign.start : sign.end]
    if decode(word) in RECEIVERS or re.search(
        rb"%s\s*%s" % (re.escape(word_before[1]), re.escape(mark)), sign.tree.data[: sign.start]
    ):
        return ""
    if re.search(rb"(?<!\w)%s\s*%s" % (re.escape(word_before[1]), re.escape(mark)), sign.tree.data[sign.end :]):
        return ""
    imported = re.search(
        rb"^\s*(?:import|from|use|using|require)\b.*(?<!\w)%s(?!\w)" % re.escape(word), sign.tree.data, re.MULTILINE
    )
    return "" if imported else "between two words, where something else may be missing"


def _check_arrow(sign: SignPlace) -> str:
    if sign.parent.type.endswith("_pattern") and sign.language.recovery.arrow_matches_patterns:
        return "where nothing is compared with a pattern"
    if sign.language.recovery.arrow_reads_members and sign.parent.type != "array_element_initializer":
        return _check_member(sign) if sign.tree.data[sign.start : sign.end] == b"->" else ""
    if sign.parent.type == "array_element_initializer" and _is_only_element(sign, b"=>"):
        return "into a list of single values"
    if sign.parent.type in ("arrow_function", "lambda_expression"):
        if sign.parent_type(0) == "expression_statement":
            return "where nothing takes a function"
        parameter = sign.tree.data[sign.parent.start_byte : sign.start].strip()
        body = sign.tree.data[sign.end : sign.parent.end_byte]
        if parameter.isalnum() and not re.search(rb"(?<![\w$])%s(?!\w)" % re.escape(parameter), body):
            return "between two values, where another operator may be missing"
    return ""


def _check_colon(sign: SignPlace) -> str:
    kind = sign.parent.type
    if sign.is_replacement and kind != "pair":
        return "where no object has a value"
    if kind.startswith("labeled"):
        return "where it only makes a label"
    if kind == "keyed_element" and _is_only_element(sign, b":"):
        return "into a list of single values"
    is_bare = kind == "assignment" and sign.parent.child_by_field_name("right") is None
    if is_bare and sign.find_ancestor("class_definition") < 0:
        return "where nothing is declared"
    if kind == "bitfield_clause" and not sign.text_after.lstrip()[:1].isdigit():
        return "where nothing has a width"
    return ""


def _check_declaration(sign: SignPlace) -> str:
    word = WORD_BEFORE.search(sign.text_before)
    return "behind a name that is declared already" if word and occurs_before(sign, word[1]) else ""


def _block_word(sign: SignPlace) -> str:
    rest = sign.text_after.split(b"\n")[0].strip()
    return "before code that goes on" if rest and not rest.startswith((b"|", b"#")) else ""


def _is_only_element(sign: SignPlace, mark: bytes) -> bool:
    """Return whether the element with the sign has siblings, and none of them has this sign."""
    list_node = sign.nodes[1] if len(sign.nodes) > 1 else sign.parent
    siblings = [child for child in list_node.named_children if child.id != sign.parent.id and child.type != "comment"]
    return bool(siblings) and not any(
        sibling.children and any(c.type == decode(mark) for c in sibling.children) for sibling in siblings
    )


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


RULES: Mapping[str, Callable[[SignPlace], str]] = {
    ",": _check_comma,
    ";": _check_semicolon,
    "=": _check_assignment,
    "==": _check_comparison,
    "in": _check_membership,
    ".": _check_member,
    "->": _check_arrow,
    "=>": _check_arrow,
    ":": _check_colon,
    "(": check_opener,
    ")": check_closer,
    "do": _block_word,
    "{": check_opening_brace,
    "}": check_closing_brace,
    ":=": _check_declaration,
    "[": lambda sign: "",
}
"""The rule for each sign."""
