"""Calls with their arguments and functions with their parameters, as far as they are written in one file."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.names.binding_nodes import FUNCTION_NODES
from lsp_harness.syntax.parse_budget import ParseBudgetExceeded
from lsp_harness.syntax.tree import SyntaxTree, nodes_around, parse_root
from lsp_harness.text.position import Span, decode, encode

CALL_NODES = frozenset(
    {"call", "call_expression", "new_expression", "method_invocation", "object_creation_expression"}
    | {"invocation_expression", "function_call_expression", "member_call_expression", "scoped_call_expression"}
    | {"nullsafe_member_call_expression", "explicit_constructor_invocation", "constructor_initializer"}
)
ARGUMENT_NODES = frozenset({"arguments", "argument_list", "generator_expression"})
NON_POSITIONAL_NODES = frozenset(
    {"keyword_argument", "pair", "hash_splat_argument", "dictionary_splat", "list_splat", "spread_element"}
)
"""Arguments that are not positional, or whose position is unknown."""
FUNCTIONS_AND_VARIABLES = FUNCTION_NODES | {"declaration", "variable_declarator"}
"""Nodes that declare a function, including variables that hold one."""
RECEIVER_NAMES = frozenset({"self", "cls", "this"})
NAME = re.compile(r"[^\W\d]\w*")
LITERAL_KINDS = {
    "string": "string", "string_literal": "string", "template_string": "string", "interpreted_string_literal": "string",
    "encapsed_string": "string", "raw_string_literal": "string", "concatenated_string": "string",
    "integer": "int", "int_literal": "int", "integer_literal": "int", "decimal_integer_literal": "int",
    "number": "number", "number_literal": "number", "float": "float", "float_literal": "float", "real_literal": "float",
    "decimal_floating_point_literal": "float", "true": "bool", "false": "bool", "boolean": "bool",
    "boolean_literal": "bool", "list": "list", "array": "list", "dictionary": "dict", "object": "dict",
    "char_literal": "char", "character_literal": "char", "rune_literal": "char",
    "arrow_function": "function", "lambda": "function", "func_literal": "function", "lambda_expression": "function",
    "closure_expression": "function",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Argument:
    """One positional argument.

    `literal` is the type of a literal (see `LITERAL_KINDS`), empty for any other expression.
    """

    span: Span
    text: str
    literal: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call.

    For `a.b.f(x)` the `name` is `f` and the `receiver` is `a.b`. `arguments` are the positional ones, in order.
    """

    name: str
    receiver: str
    span: Span
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A declared parameter. `type` is the text of its type, empty if none is written."""

    name: str
    type: str


def find_calls_around(tree: SyntaxTree, span: Span) -> Iterator[Call]:
    """Yield the calls that contain a range, the innermost first."""
    for node in nodes_around(tree.root, *span):
        if node.type in CALL_NODES and (call := _read_call(node)):
            yield call


def find_calls_in(tree: SyntaxTree, span: Span) -> Iterator[Call]:
    """Yield the calls that lie inside of a range, in the order of the text."""
    stack = [nodes_around(tree.root, *span)[0]]
    while stack:
        node = stack.pop()
        if node.end_byte < span.start or node.start_byte > span.end:
            continue
        if (
            node.type in CALL_NODES
            and span.start <= node.start_byte
            and node.end_byte <= span.end
            and (call := _read_call(node))
        ):
            yield call
        stack += reversed(node.named_children)


def find_parameters(tree: SyntaxTree, name: str) -> list[tuple[Parameter, ...]]:
    """Return the parameters of each function with the given name that a file declares.

    For a Python class they are the parameters of its constructor, or its annotated fields if it has none.
    """
    return _find_parameters(tree.language, tree.root, tree.data, name)


def parse_parameters(language: LanguageSpec, data: bytes, name: str) -> list[tuple[Parameter, ...]]:
    """Return the same as `find_parameters` for the text of a declaration.

    The list is empty if parsing exceeds the budget of a text.
    """
    try:
        return _find_parameters(language, parse_root(language, data), data, name)
    except ParseBudgetExceeded:
        return []


def _find_parameters(language: LanguageSpec, root: Node, data: bytes, name: str) -> list[tuple[Parameter, ...]]:
    signatures: list[tuple[Parameter, ...]] = []
    for match in re.finditer(rb"(?<![\w.])%s(?!\w)" % re.escape(encode(name)), data):
        path = nodes_around(root, *match.span())
        for parent in path[1:5]:
            if parent.type == "function_declarator":
                continue
            name_node = _declared_name(parent)
            if name_node is None or name_node.start_byte > match.start() or name_node.end_byte < match.end():
                continue
            if parent.type == "class_definition":
                if fields := _constructor_parameters(parent):
                    signatures.append(fields)
            elif parent.type in FUNCTIONS_AND_VARIABLES and (parameter_list := _parameter_list(parent)):
                signatures.append(tuple(_read_parameters(parameter_list)))
            break
    return signatures


def _declared_name(node: Node) -> Node | None:
    name = node.child_by_field_name("name")
    if name is None:
        name = node.child_by_field_name("declarator")
        while name and (inner := name.child_by_field_name("declarator")):
            name = inner
    return name


def _constructor_parameters(node: Node) -> tuple[Parameter, ...]:
    """Return the parameters of `__init__` of a Python class, or else its annotated fields."""
    body = node.child_by_field_name("body")
    fields: list[Parameter] = []
    for statement in body.named_children if body else ():
        inner = statement.child_by_field_name("definition") or statement
        name = inner.child_by_field_name("name")
        is_constructor = inner.type == "function_definition" and name and name.text == b"__init__"
        if is_constructor and (parameter_list := _parameter_list(inner)):
            return tuple(_read_parameters(parameter_list))
        first = next(iter(statement.named_children), None)
        if statement.type == "expression_statement" and first and first.type == "assignment":
            left, annotation = first.child_by_field_name("left"), first.child_by_field_name("type")
            if annotation:
                fields.append(Parameter(_read_text(left), _read_text(annotation)))
    return tuple(fields)


def _parameter_list(node: Node) -> Node | None:
    """Return the parameter list of a function. In some grammars it is a field of an inner node."""
    level = [node]
    for _ in range(4):
        for candidate in level:
            if parameter_list := candidate.child_by_field_name("parameters"):
                return parameter_list
        fields = ("declarator", "value")
        level = [child for parent in level for field in fields if (child := parent.child_by_field_name(field))]
    return None


def _read_parameters(parameter_list: Node) -> Iterator[Parameter]:
    for node in parameter_list.named_children:
        if node.is_extra or node.type in ("self_parameter", "keyword_separator", "positional_separator", "comment"):
            continue
        type_node = node.child_by_field_name("type")
        for name_node in node.children_by_field_name("name") or [_name_node(node)]:
            name = _read_text(name_node).lstrip("$&*.")
            if NAME.fullmatch(name) and name not in RECEIVER_NAMES:
                # In C the star of a pointer belongs to the declarator, not to the type.
                declarator = node.child_by_field_name("declarator")
                star = " *" if declarator and declarator.type in ("pointer_declarator", "array_declarator") else ""
                yield Parameter(name, _read_text(type_node) + star)


def _name_node(node: Node) -> Node:
    for field in ("pattern", "declarator", "left", "name"):
        if inner := node.child_by_field_name(field):
            return _name_node(inner)
    first = next(iter(node.named_children), None)
    return node if first is None or node.type in ("identifier", "variable_name") else _name_node(first)


def _read_call(node: Node) -> Call | None:
    argument_list = node.child_by_field_name("arguments")
    if argument_list is None:
        argument_list = next((child for child in node.children if child.type in ARGUMENT_NODES), None)
    if argument_list is None:
        return None
    callee_fields = ("function", "method", "name", "constructor", "type")
    callee = next((child for field in callee_fields if (child := node.child_by_field_name(field))), None)
    text = _read_text(callee) if callee else _read_text(next(iter(node.named_children), None))
    names = NAME.findall(text.split("<")[0])
    name = names[-1] if names else ""
    receiver = _read_text(node.child_by_field_name("receiver") or node.child_by_field_name("object"))
    if not receiver and name:
        receiver = text[: text.rfind(name)].rstrip(".:->?")
    arguments = tuple(
        _read_argument(child)
        for child in argument_list.named_children
        if child.type not in NON_POSITIONAL_NODES and not child.is_extra
    )
    return Call(name, receiver if name else "", Span(*node.byte_range), arguments)


def _read_argument(node: Node) -> Argument:
    inner = next(iter(node.named_children), None) if node.type == "argument" and node.named_child_count == 1 else node
    kind = inner.type if inner else node.type
    return Argument(Span(*node.byte_range), _read_text(node), LITERAL_KINDS.get(kind, ""))


def _read_text(node: Node | None) -> str:
    return decode(node.text or b"") if node else ""
