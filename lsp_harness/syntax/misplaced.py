"""Signs that parse where they are put, but that no program has there: they only hide what is really missing.

`(1 + tax) base` parses again with a comma, `base  10` with `=`, `new Map<…` with a semicolon behind `new`. An operator, a keyword or a bracket
is missing there, and nothing in the text says which.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from lsp_harness.syntax.lexemes import keywords
from lsp_harness.syntax.tree import SyntaxTree, around
from lsp_harness.text.position import decode
from lsp_harness.text.spelling import distance

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
OUTERMOST = frozenset({"rust", "go", "java", "c", "cpp"})
"""Languages that have no statements outside of functions."""
STATEMENTS = frozenset({"expression_statement", "labeled_statement"})
RECEIVERS = frozenset({"self", "this", "cls", "super", "base", "parent", "Self"})
WORD_BEFORE, WORD_AFTER = re.compile(rb"(\$?\w+)\s*\Z"), re.compile(rb"\s*(\$?\w+)")
BLOCK_PARAMETERS = re.compile(rb"[\w)][ \t]+\|[\w, *&]+\|[ \t]*$", re.MULTILINE)
OPENED = re.compile(rb"(?:\bdo|\{)[ \t]*\|[^|\n]*\|[ \t]*$", re.MULTILINE)
EMPTY_RESULT = re.compile(rb"\b(?:Ok|Err|Some)\(\)")
VALUELESS = re.compile(rb"[ ]+(?:[,;){}\]]|\r?\n)")
LINE_ENDS = (b"}", b"//", b"/*", b"#", b"?>", b")", b"]")
DEFINING = re.compile(rb"\b(?:def|func|fn|function)\s+\w+\s*\Z")
BETWEEN_NAMES = frozenset({"=", "=>", "->", "."})
VALUES = frozenset(
    {
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
    }
    | {
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
    }
    | {
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
    }
)
"""Keywords that may stand beside an operator: values, types, and words that begin an expression."""
STATEMENT_WORDS = frozenset(
    b"const let var return if for while def class import export public private protected static".split()
)
SHALLOW = 5
"""So deep in the tree is what stands outside of all functions, at most."""
BARE_BLOCKS = frozenset({"statement_block", "block", "compound_statement"})
SHORTEST_KEYWORD = 3
LOOK_BYTES = 120


@dataclass(frozen=True, slots=True)
class _Sign:
    """A sign in a tree. `nodes`: what it is in, the innermost first; `replaced`: whether it took the place of another sign."""

    tree: SyntaxTree
    start: int
    end: int
    nodes: tuple[Node, ...]
    replaced: bool

    @property
    def language(self) -> str:
        return self.tree.language.id

    @property
    def parent(self) -> Node:
        return self.nodes[0]

    @property
    def before(self) -> bytes:
        return self.tree.data[max(0, self.start - LOOK_BYTES) : self.start]

    @property
    def after(self) -> bytes:
        return self.tree.data[self.end : self.end + LOOK_BYTES]

    def within(self, kind: str) -> int:
        """The first of `nodes` whose kind matches; -1 if none does."""
        return next((n for n, node in enumerate(self.nodes) if re.search(kind, node.type)), -1)

    def outside(self, at: int) -> str:
        return self.nodes[at + 1].type if at + 1 < len(self.nodes) else ""

    def times(self, word: bytes) -> int:
        """How often the text has a word."""
        return len(re.findall(rb"(?<![\w$])%s(?!\w)" % re.escape(word), self.tree.data))


def misplaced_removal(tree: SyntaxTree, token: bytes, at: int) -> bool:
    """Whether a text without a token that was at a place parses, and means nothing there."""
    language = tree.language.id
    if token == b"end" and language == "ruby":
        # the parameters of a block whose `do` is missing are read as operands of `|`
        return BLOCK_PARAMETERS.search(OPENED.sub(b"", tree.data)) is not None
    if token in (b"(", b")") and language == "rust":
        return any(found.start() < at <= found.end() for found in EMPTY_RESULT.finditer(tree.data))
    if token in (b")", b"]") and WORD_BEFORE.search(tree.data[max(0, at - LOOK_BYTES) : at]):
        # `days0]`: the bracket that opens may be missing in the word
        return bool(_joined_words(_Sign(tree, at, at, (tree.root,), replaced=False)))
    # what stood between the two signs is missing
    return token == b":" and tree.data[at : at + 1] == b" " and VALUELESS.match(tree.data, at) is not None


def misplaced_sign(tree: SyntaxTree, start: int, end: int, *, replaced: bool = False) -> str:
    """What is wrong with a sign that an edit put at these bytes of a text, as the rest of "the edit …"; empty where nothing is."""
    text = decode(tree.data[start:end])
    nodes = tuple(node for node in around(tree.root, start, end) if node.is_named and node.child_count)
    sign = _Sign(tree, start, end, nodes or (tree.root,), replaced)
    rule = RULES.get(text)
    if rule is None:
        return ""
    if text not in "(){}" and sign.language in OUTERMOST and len(sign.nodes) > 1 and _is_bare_statement(sign.nodes[-2]):
        return f"puts `{text}` where the code is then a statement outside of a function"
    if not replaced and (keyword := _misspelt_keyword(sign)):
        return f"puts `{text}` beside `{keyword}`, which may be a misspelt keyword"
    if not replaced and text in BETWEEN_NAMES and (keyword := _keyword(sign)):
        return f"puts `{text}` beside the keyword `{keyword}`"
    if not replaced and text in "([" and (word := _joined_words(sign)):
        return f"puts `{text}` beside `{word}`, which may be two words"
    return rule(sign) and f"puts `{text}` {rule(sign)}"


def _is_bare_statement(node: Node) -> bool:
    if node.type not in STATEMENTS:
        return False
    first = node.named_children[0].type if node.named_children else ""
    return "macro" not in first


def _keyword(sign: _Sign) -> str:
    """A keyword beside the sign that stands for no value."""
    known = keywords(sign.tree.language)
    for found in (WORD_BEFORE.search(sign.before), WORD_AFTER.match(sign.after.split(b"\n")[0])):
        if found and found[1] in known and decode(found[1]) not in VALUES:
            return decode(found[1])
    return ""


def _joined_words(sign: _Sign) -> str:
    """A word beside the sign that the text has nowhere else, and that is made of two that it has: the bracket may be missing in between."""
    for found in (WORD_BEFORE.search(sign.before), WORD_AFTER.match(sign.after)):
        if not found or sign.times(found[1]) > 1:
            continue
        word = found[1]
        for at in range(2, len(word)):
            first, second = word[:at], word[at:]
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


def _is_known(sign: _Sign, word: bytes) -> bool:
    return word in keywords(sign.tree.language) or decode(word) in VALUES or sign.times(word) > 0


def _is_bound(sign: _Sign, word: bytes) -> bool:
    """Whether the text gives the name a value, or declares it."""
    bound = (
        rb"(?<![\w.])%s\s*(?::?=[^=]|,\s*\w+\s*(?::?=[^=]|in\b)|in\b)|\b(?:import|def|class|func|fn|function)\s+%s\b"
    )
    return re.search(bound % (re.escape(word), re.escape(word)), sign.tree.data) is not None


def _misspelt_keyword(sign: _Sign) -> str:
    """A word beside the sign that the text has nowhere else, and that is one slip away from a keyword."""
    for pattern, text in ((WORD_BEFORE, sign.before), (WORD_AFTER, sign.after)):
        if not (found := pattern.search(text) if pattern is WORD_BEFORE else pattern.match(text)):
            continue
        word = found[1]
        known = keywords(sign.tree.language)
        if word in known or len(word) < SHORTEST_KEYWORD - 1 or not word.isalpha() or sign.times(word) > 1:
            continue
        written = decode(word)
        if any(len(one) >= SHORTEST_KEYWORD and distance(written, decode(one), 1) == 1 for one in known):
            return written
    return ""


def _comma(sign: _Sign) -> str:
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


def _semicolon(sign: _Sign) -> str:
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
    known = keywords(sign.tree.language)
    behind, ahead = WORD_BEFORE.search(sign.before), WORD_AFTER.match(b" " + rest)
    if ahead and ahead[1] in known and not (behind and behind[1] in known):
        return ""
    return "into a statement that goes on behind it"


def _assignment(sign: _Sign) -> str:
    if sign.parent.type == "object_assignment_pattern" and sign.outside(0) == "object":
        return "into an object, which has `:` there"
    if sign.parent.type not in ASSIGNMENTS:
        return ""
    spaced = sign.before.endswith(b"  ") or sign.after.startswith(b"  ")
    if spaced and (word := WORD_BEFORE.search(sign.before)) and _is_written_before(sign, word[1]):
        return "behind a name that has a value, where another operator may be missing"
    if sign.language == "python":
        return ""
    if not ASSIGNING.search(sign.outside(0)):
        return "into an expression, where another operator may be missing"
    word = WORD_BEFORE.search(sign.before)
    left = sign.parent.child_by_field_name("left")
    if left is not None and UNASSIGNED.search(left.type):
        return "behind a value that nothing can be assigned to"
    bare = left is not None and left.named_child_count == (left.type == "expression_list")
    if sign.language in DECLARED and bare and word and sign.times(word[1]) == 1:
        return f"behind `{decode(word[1])}`, which is declared nowhere"
    return ""


def _comparison(sign: _Sign) -> str:
    if not sign.replaced:
        return "where another operator may be missing"
    for node in sign.nodes[1:]:
        if CONDITION.match(node.type):
            return ""
        if DECIDED.search(node.type):
            break
    return "where nothing is decided"


def _membership(sign: _Sign) -> str:
    return "" if re.match("for_", sign.parent.type) else "where another operator may be missing"


def _member(sign: _Sign) -> str:
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


def _arrow(sign: _Sign) -> str:
    if sign.parent.type.endswith("_pattern") and sign.language == "ruby":
        return "where nothing is compared with a pattern"
    if sign.language == "php" and sign.parent.type != "array_element_initializer":
        return _member(sign) if sign.tree.data[sign.start : sign.end] == b"->" else ""
    if sign.parent.type == "array_element_initializer" and _alone(sign, b"=>"):
        return "into a list of single values"
    if sign.parent.type == "arrow_function":
        parameter, body = sign.parent.child_by_field_name("parameter"), sign.parent.child_by_field_name("body")
        if sign.outside(0) == "expression_statement":
            return "where nothing takes a function"
        if (
            parameter
            and body
            and not re.search(rb"(?<![\w$])%s(?!\w)" % re.escape(parameter.text or b""), body.text or b"")
        ):
            return "between two values, where another operator may be missing"
    return ""


def _colon(sign: _Sign) -> str:
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


def _opener(sign: _Sign) -> str:
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
    called = re.search("argument|call|invocation", sign.parent.type)
    if called and word and sign.after.lstrip().startswith(b")") and sign.times(word[1]) > 1:
        calls = re.findall(rb"(?<!\w)%s\s*\(" % re.escape(word[1]), sign.tree.data)
        if len(calls) == 1:
            return f"behind `{decode(word[1])}`, which is called nowhere else"
    return _group(sign)


def _closer(sign: _Sign) -> str:
    ahead = sign.after.split(b"\n")[0].lstrip()
    if sign.before.rstrip().endswith(b"(") and (WORD_AFTER.match(ahead) or ahead[:1] in (b"(", b"|", b'"', b"'")):
        return "before the arguments"
    return _group(sign)


def _opening_brace(sign: _Sign) -> str:
    bare = sign.parent.type in BARE_BLOCKS and sign.outside(0) in BARE_BLOCKS | {
        "program",
        "source_file",
        "translation_unit",
        "class_body",
    }
    return "that begins a block of nothing" if bare else ""


def _closing_brace(sign: _Sign) -> str:
    if sign.before.endswith(b"{$"):
        return "around a sign that is part of the mark"
    rest = sign.after.split(b"\n")[0].lstrip()
    return "before the end of a statement" if rest.startswith(b";") and sign.parent.type in BARE_BLOCKS else ""


def _declaration(sign: _Sign) -> str:
    word = WORD_BEFORE.search(sign.before)
    return "behind a name that is declared already" if word and _is_written_before(sign, word[1]) else ""


def _is_written_before(sign: _Sign, word: bytes) -> bool:
    return len(re.findall(rb"(?<![\w$.])%s(?!\w)" % re.escape(word), sign.tree.data[: sign.start])) > 1


def _group(sign: _Sign) -> str:
    """Parentheses around one word or number of an expression."""
    if not sign.parent.type.startswith("parenthesized") or not OPERAND.search(sign.outside(0)):
        return ""
    inner = sign.parent.named_children
    return "around one word, which needs no parentheses" if len(inner) == 1 and not inner[0].named_child_count else ""


def _block_word(sign: _Sign) -> str:
    rest = sign.after.split(b"\n")[0].strip()
    return "before code that goes on" if rest and not rest.startswith((b"|", b"#")) else ""


def _alone(sign: _Sign, mark: bytes) -> bool:
    """Whether the element with the sign has neighbours, and none of them has one."""
    list_ = sign.nodes[1] if len(sign.nodes) > 1 else sign.parent
    others = [child for child in list_.named_children if child.id != sign.parent.id and child.type != "comment"]
    return bool(others) and not any(
        one.children and any(c.type == decode(mark) for c in one.children) for one in others
    )


OPERAND = re.compile("binary|unary|boolean_operator|comparison|assignment|declarator|argument")
"""What does not ask for parentheses around what is in it."""
RULES: Mapping[str, Callable[[_Sign], str]] = {
    ",": _comma,
    ";": _semicolon,
    "=": _assignment,
    "==": _comparison,
    "in": _membership,
    ".": _member,
    "->": _arrow,
    "=>": _arrow,
    ":": _colon,
    "(": _opener,
    ")": _closer,
    "do": _block_word,
    "{": _opening_brace,
    "}": _closing_brace,
    ":=": _declaration,
    "[": lambda sign: "",
}
"""What each sign asks of its place."""
