"""Where separators and operators parse and mean nothing. Each rule says what is wrong with a place, or an empty text."""

import re
from collections.abc import Callable, Mapping

from lsp_harness.syntax.lexemes import grammar_keywords
from lsp_harness.syntax.recovery.sign_rules.bracket_rules import closer, closing_brace, opener, opening_brace
from lsp_harness.syntax.recovery.sign_rules.sign_place import WORD_AFTER, WORD_BEFORE, SignPlace, is_written_before
from lsp_harness.text.position import decode

SEQUENCES = frozenset({"sequence_expression", "comma_expression"})

ASSIGNMENTS = frozenset({"assignment_expression", "assignment_statement", "assignment"})

ASSIGNING = re.compile(
    r"\A(?:expression_statement|statements?|body\w*|program|module|for\w*|assignment\w*|begin\w*|then|else|ensure|rescue|do)\Z|block"
)
"""What an assignment may be directly in."""

CONDITION = re.compile(
    r"\A(?:if|elif|unless|while|until|assert|return|conditional|ternary|boolean_operator|not_operator|match_arm|when|do_statement|for_statement)"
)
"""What a comparison decides about."""

DECIDED = re.compile(
    r"statement\Z|\A(?:block|body|program|module|array|list|dictionary|object|hash|pair|argument)|element|declarat"
)

UNASSIGNED = re.compile("call|binary|literal|string|number|invocation")
"""Expressions that nothing is assigned to."""

DECLARED = frozenset({"rust", "c", "cpp", "java", "csharp", "javascript", "typescript", "tsx", "go"})
"""Languages in which nothing is assigned to a name that is not declared."""

SEMICOLONS = frozenset({"javascript", "typescript", "tsx", "rust", "java", "csharp", "php", "c", "cpp", "go"})

RECEIVERS = frozenset({"self", "this", "cls", "super", "base", "parent", "Self"})

BLANKS_BESIDE = re.compile(rb"\S ,|\S,  [^\s#/]| , \S")
LINE_ENDS = (b"}", b"//", b"/*", b"#", b"?>", b")", b"]")


def _comma(sign: SignPlace) -> str:
    if BLANKS_BESIDE.search(sign.before[-2:] + b"," + sign.after[:3]):
        return "into a gap of two blanks, where an operator may be missing"
    kind, node = sign.parent.type, sign.parent
    bare = kind in SEQUENCES and sign.within(r"\Afor") < 0
    if kind.startswith("with_"):
        return "where `as` may be missing"
    if sign.language == "python" and kind in ("expression_list", "tuple"):
        outer = sign.outside(0)
        alone = sum(child.type == "," for child in node.children) == 1
        left = outer == "assignment" and sign.nodes[1].child_by_field_name("left") == node
        bare = alone and not left and node.children[0].type != "(" and outer not in ("delete_statement", "subscript")
    return "between two values that are in no list" if bare else ""


def _semicolon(sign: SignPlace) -> str:
    if sign.language not in SEMICOLONS:
        return ""
    rest, _, below = sign.after.partition(b"\n")
    rest = rest.strip()
    if not rest:
        return "before the block" if below.lstrip().startswith(b"{") else ""
    if (
        rest.startswith(LINE_ENDS)
        or sign.within(r"\A(?:for|c_style_for)|interface|object_type|struct|field|member|class_body") >= 0
    ):
        return ""
    if sign.language == "go" and sign.within("if_statement|switch") >= 0:
        return ""
    known = grammar_keywords(sign.tree.language)
    behind, ahead = WORD_BEFORE.search(sign.before), WORD_AFTER.match(b" " + rest)
    if ahead and ahead[1] in known and not (behind and behind[1] in known):
        return ""
    return "into a statement that goes on behind it"


def _assignment(sign: SignPlace) -> str:
    if sign.parent.type == "object_assignment_pattern" and sign.outside(0) == "object":
        return "into an object, which has `:` there"
    if sign.parent.type not in ASSIGNMENTS:
        return ""
    left = sign.parent.child_by_field_name("left")
    word = left.text if left is not None else None
    if sign.language == "python" and word and is_written_before(sign, word):
        return "behind a name that is used before, where another operator may be missing"
    if sign.language == "python":
        return ""
    if not ASSIGNING.search(sign.outside(0)):
        return "into an expression, where another operator may be missing"
    if left is not None and UNASSIGNED.search(left.type):
        return "behind a value that nothing can be assigned to"
    if sign.language == "rust" and sign.outside(0) == "block":
        return "into the value of a block, where another operator may be missing"
    if word and is_written_before(sign, word):
        return "behind a name that is used before, where another operator may be missing"
    bare = left is not None and left.named_child_count == (left.type == "expression_list")
    if sign.language in DECLARED and bare and word and sign.times(word) == 1:
        return f"behind `{decode(word)}`, which is declared nowhere"
    return ""


def _comparison(sign: SignPlace) -> str:
    if not sign.replaced:
        return "where another operator may be missing"
    for node in sign.nodes[1:]:
        if CONDITION.match(node.type):
            return ""
        if DECIDED.search(node.type):
            break
    return "where nothing is decided"


def _membership(sign: SignPlace) -> str:
    return "" if re.match("for_", sign.parent.type) else "where another operator may be missing"


def _member(sign: SignPlace) -> str:
    before, after = WORD_BEFORE.search(sign.before), WORD_AFTER.match(sign.after)
    if not before or not after:
        return "between two values, where something else may be missing" if sign.before[-1:] == b" " else ""
    word = before[1].lstrip(b"$")
    mark = sign.tree.data[sign.start : sign.end]
    if decode(word) in RECEIVERS or re.search(
        rb"%s\s*%s" % (re.escape(before[1]), re.escape(mark)), sign.tree.data[: sign.start]
    ):
        return ""
    if re.search(rb"(?<!\w)%s\s*%s" % (re.escape(before[1]), re.escape(mark)), sign.tree.data[sign.end :]):
        return ""
    imported = re.search(
        rb"^\s*(?:import|from|use|using|require)\b.*(?<!\w)%s(?!\w)" % re.escape(word), sign.tree.data, re.MULTILINE
    )
    return "" if imported else "between two words, where something else may be missing"


def _arrow(sign: SignPlace) -> str:
    if sign.parent.type.endswith("_pattern") and sign.language == "ruby":
        return "where nothing is compared with a pattern"
    if sign.language == "php" and sign.parent.type != "array_element_initializer":
        return _member(sign) if sign.tree.data[sign.start : sign.end] == b"->" else ""
    if sign.parent.type == "array_element_initializer" and _alone(sign, b"=>"):
        return "into a list of single values"
    if sign.parent.type in ("arrow_function", "lambda_expression"):
        if sign.outside(0) == "expression_statement":
            return "where nothing takes a function"
        parameter = sign.tree.data[sign.parent.start_byte : sign.start].strip()
        body = sign.tree.data[sign.end : sign.parent.end_byte]
        if parameter.isalnum() and not re.search(rb"(?<![\w$])%s(?!\w)" % re.escape(parameter), body):
            return "between two values, where another operator may be missing"
    return ""


def _colon(sign: SignPlace) -> str:
    kind = sign.parent.type
    if sign.replaced and kind != "pair":
        return "where no object has a value"
    if kind.startswith("labeled"):
        return "where it only makes a label"
    if kind == "keyed_element" and _alone(sign, b":"):
        return "into a list of single values"
    bare = kind == "assignment" and sign.parent.child_by_field_name("right") is None
    if sign.language == "python" and bare and sign.within("class_definition") < 0:
        return "where nothing is declared"
    if kind == "bitfield_clause" and not sign.after.lstrip()[:1].isdigit():
        return "where nothing has a width"
    return ""


def _declaration(sign: SignPlace) -> str:
    word = WORD_BEFORE.search(sign.before)
    return "behind a name that is declared already" if word and is_written_before(sign, word[1]) else ""


def _block_word(sign: SignPlace) -> str:
    rest = sign.after.split(b"\n")[0].strip()
    return "before code that goes on" if rest and not rest.startswith((b"|", b"#")) else ""


def _alone(sign: SignPlace, mark: bytes) -> bool:
    """Whether the element with the sign has neighbours, and none of them has one."""
    list_ = sign.nodes[1] if len(sign.nodes) > 1 else sign.parent
    others = [child for child in list_.named_children if child.id != sign.parent.id and child.type != "comment"]
    return bool(others) and not any(
        one.children and any(c.type == decode(mark) for c in one.children) for one in others
    )


RULES: Mapping[str, Callable[[SignPlace], str]] = {
    ",": _comma,
    ";": _semicolon,
    "=": _assignment,
    "==": _comparison,
    "in": _membership,
    ".": _member,
    "->": _arrow,
    "=>": _arrow,
    ":": _colon,
    "(": opener,
    ")": closer,
    "do": _block_word,
    "{": opening_brace,
    "}": closing_brace,
    ":=": _declaration,
    "[": lambda sign: "",
}
"""What each sign asks of its place."""
