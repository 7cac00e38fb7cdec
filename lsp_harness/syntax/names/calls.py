"""Calls and the functions they call, as far as one file says it: the arguments of a call, and the parameters of a function."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from lsp_harness.syntax.languages import Language
from lsp_harness.syntax.names.scope_nodes import FUNCTION_NODES
from lsp_harness.syntax.parse_budget import ParseBudgetExceeded
from lsp_harness.syntax.tree import SyntaxTree, nodes_around, parse_root
from lsp_harness.text.position import Span, decode, encode

CALL_NODES = frozenset(
    {"call", "call_expression", "new_expression", "method_invocation", "object_creation_expression"}
    | {"invocation_expression", "function_call_expression", "member_call_expression", "scoped_call_expression"}
    | {"nullsafe_member_call_expression", "explicit_constructor_invocation", "constructor_initializer"}
)
ARGUMENT_NODES = frozenset({"arguments", "argument_list", "generator_expression"})
PARAMETER_NODES = frozenset(
    {"parameters", "formal_parameters", "parameter_list", "method_parameters", "lambda_parameters"}
)
NON_POSITIONAL_NODES = frozenset(
    {"keyword_argument", "pair", "hash_splat_argument", "dictionary_splat", "list_splat", "spread_element"}
)
"""Arguments that have no place in the order of parameters."""
RECEIVER_NAMES = frozenset({"self", "cls", "this"})
NAME = re.compile(r"[^\W\d]\w*")
LITERAL_KINDS = {
    "string": "string", "string_literal": "string", "template_string": "string", "interpreted_string_literal": "string",
    "encapsed_string": "string", "raw_string_literal": "string", "concatenated_string": "string",
    "integer": "int", "int_literal": "int", "integer_literal": "int", "decimal_integer_literal": "int", "number": "number",
    "number_literal": "number", "float": "float", "float_literal": "float", "real_literal": "float",
    "decimal_floating_point_literal": "float", "true": "bool", "false": "bool", "boolean": "bool",
    "boolean_literal": "bool", "list": "list", "array": "list", "dictionary": "dict", "object": "dict",
    "char_literal": "char", "character_literal": "char", "rune_literal": "char",
    "arrow_function": "function", "lambda": "function", "func_literal": "function", "lambda_expression": "function",
    "closure_expression": "function",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Argument:
    """One positional argument. `literal` is the kind of a literal, empty for any other expression."""

    span: Span
    text: str
    literal: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call: the last name of what it calls, what is before that name, and its positional arguments in their order."""

    name: str
    receiver: str
    span: Span
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter as it is declared; `type` is empty where none is written."""

    name: str
    type: str


def find_calls_around(tree: SyntaxTree, span: Span) -> Iterator[Call]:
    """The calls that a range is in, or that begin on its line and end it; the innermost first."""
    for node in nodes_around(tree.root, *span):
        if node.type in CALL_NODES and (found := _read_call(node)):
            yield found


def find_calls_in(tree: SyntaxTree, span: Span) -> Iterator[Call]:
    """The calls that lie in a range, in the order of the text."""
    waiting = [nodes_around(tree.root, *span)[0]]
    while waiting:
        node = waiting.pop()
        if node.end_byte < span.start or node.start_byte > span.end:
            continue
        if (
            node.type in CALL_NODES
            and span.start <= node.start_byte
            and node.end_byte <= span.end
            and (call := _read_call(node))
        ):
            yield call
        waiting += reversed(node.named_children)


def find_parameters(tree: SyntaxTree, name: str) -> list[tuple[Parameter, ...]]:
    """The parameters of the functions of a name that a file declares; of a class those of its constructor or its fields."""
    return _find_parameters(tree.language, tree.root, tree.data, name)


def parse_parameters(language: Language, data: bytes, name: str) -> list[tuple[Parameter, ...]]:
    """The same for the text of a declaration; nothing where parsing it takes more than the budget of a text."""
    try:
        return _find_parameters(language, parse_root(language, data), data, name)
    except ParseBudgetExceeded:
        return []


def _find_parameters(language: Language, root: Node, data: bytes, name: str) -> list[tuple[Parameter, ...]]:
    found: list[tuple[Parameter, ...]] = []
    for match in re.finditer(rb"(?<![\w.])%s(?!\w)" % re.escape(encode(name)), data):
        path = nodes_around(root, *match.span())
        for parent in path[1:5]:
            if parent.type == "function_declarator":
                continue
            named = _declared_name(parent)
            if named is None or named.start_byte > match.start() or named.end_byte < match.end():
                continue
            if parent.type == "class_definition":
                found += [made] if (made := _constructor_parameters(parent)) else []
            elif (parent.type in FUNCTION_NODES or parent.type in ("declaration", "variable_declarator")) and (
                listed := _parameter_list(parent)
            ):
                found.append(tuple(_read_parameters(listed)))
            break
    return found


def _declared_name(node: Node) -> Node | None:
    named = node.child_by_field_name("name")
    if named is None:
        named = node.child_by_field_name("declarator")
        while named and (inner := named.child_by_field_name("declarator")):
            named = inner
    return named


def _constructor_parameters(node: Node) -> tuple[Parameter, ...]:
    """Of a class of Python: the parameters of `__init__`, else its annotated fields, as data classes have them."""
    body = node.child_by_field_name("body")
    fields: list[Parameter] = []
    for one in body.named_children if body else ():
        inner = one.child_by_field_name("definition") or one
        name = inner.child_by_field_name("name")
        if (
            inner.type == "function_definition"
            and name
            and name.text == b"__init__"
            and (listed := _parameter_list(inner))
        ):
            return tuple(_read_parameters(listed))
        first = next(iter(one.named_children), None)
        if (
            one.type == "expression_statement"
            and first
            and first.type == "assignment"
            and first.child_by_field_name("type")
        ):
            left, kind = first.child_by_field_name("left"), first.child_by_field_name("type")
            fields.append(Parameter(_text(left), _text(kind)))
    return tuple(fields)


def _parameter_list(node: Node) -> Node | None:
    """The parameters of a function, wherever its grammar has them."""
    waiting = [node]
    for _ in range(4):
        for one in waiting:
            if found := one.child_by_field_name("parameters"):
                return found
        fields = ("declarator", "value")
        waiting = [inner for one in waiting for field in fields if (inner := one.child_by_field_name(field))]
    return None


def _read_parameters(listed: Node) -> Iterator[Parameter]:
    for one in listed.named_children:
        if one.is_extra or one.type in ("self_parameter", "keyword_separator", "positional_separator", "comment"):
            continue
        kind = one.child_by_field_name("type")
        names = one.children_by_field_name("name") or [_name_node(one)]
        for named in names:
            text = _text(named).lstrip("$&*.")
            if NAME.fullmatch(text) and text not in RECEIVER_NAMES:
                # the star of C stands with the name
                declarator = one.child_by_field_name("declarator")
                star = " *" if declarator and declarator.type in ("pointer_declarator", "array_declarator") else ""
                yield Parameter(text, _text(kind) + star)


def _name_node(node: Node) -> Node:
    for field in ("pattern", "declarator", "left", "name"):
        if inner := node.child_by_field_name(field):
            return _name_node(inner)
    first = next(iter(node.named_children), None)
    return node if first is None or node.type in ("identifier", "variable_name") else _name_node(first)


def _read_call(node: Node) -> Call | None:
    listed = node.child_by_field_name("arguments") or next(
        (one for one in node.children if one.type in ARGUMENT_NODES), None
    )
    called = next(
        (
            found
            for field in ("function", "method", "name", "constructor", "type")
            if (found := node.child_by_field_name(field))
        ),
        None,
    )
    if listed is None:
        return None
    text = _text(called) if called else _text(next(iter(node.named_children), None))
    parts = NAME.findall(text.split("<")[0])
    receiver = _text(node.child_by_field_name("receiver") or node.child_by_field_name("object"))
    before = receiver or text[: text.rfind(parts[-1])].rstrip(".:->?") if parts else ""
    arguments = tuple(
        _read_argument(one)
        for one in listed.named_children
        if one.type not in NON_POSITIONAL_NODES and not one.is_extra
    )
    return Call(parts[-1] if parts else "", before, Span(*node.byte_range), arguments)


def _read_argument(node: Node) -> Argument:
    inner = next(iter(node.named_children), None) if node.type == "argument" and node.named_child_count == 1 else node
    kind = inner.type if inner else node.type
    return Argument(Span(*node.byte_range), _text(node), LITERAL_KINDS.get(kind, ""))


def _text(node: Node | None) -> str:
    return decode(node.text or b"") if node else ""
