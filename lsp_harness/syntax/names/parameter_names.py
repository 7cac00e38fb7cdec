"""The places of a parameter: in its function, where scopes say what its name means, and in calls that name it."""

import re
from collections.abc import Iterable, Iterator, Sequence

from tree_sitter import Node

from lsp_harness.errors import NoAnswer
from lsp_harness.syntax.names.binding_nodes import FUNCTION_NODES
from lsp_harness.syntax.names.calls import ARGUMENT_NODES, CALL_NODES
from lsp_harness.syntax.names.occurrences import MAX_OCCURRENCES, Occurrence, find_occurrences
from lsp_harness.syntax.scope import find_declared_node
from lsp_harness.syntax.tree import SyntaxTree, nodes_around
from lsp_harness.text.position import Span, encode

NAMED_ARGUMENT_NODES = frozenset({"keyword_argument", "named_argument", "argument"})


def find_local_uses(
    tree: SyntaxTree, name_start: int, name: str, new_name: str, *, may_be_variable: bool = False
) -> list[Span]:
    """Return all places where a function means its own parameter, or a variable.

    Args:
        tree: The tree of the file.
        name_start: The offset of the name of the function.
        name: The name of the parameter or variable.
        new_name: A name that must not have a meaning in the function yet.
        may_be_variable: Whether the name may be that of a variable, too.

    Raises:
        NoAnswer: There is no such parameter or variable, or it cannot be renamed safely.
    """
    function = find_declared_node(tree.root, name_start, lambda node: node.type in FUNCTION_NODES)
    if function is None:
        raise NoAnswer("this is no function, so it has no parameters")
    span = Span(*function.byte_range)
    occurrences = _find_all(tree, name, span)
    own = [item for item in occurrences if item.is_binding and item.role == "parameter" and item.scope == span]
    variables = [item for item in occurrences if item.is_binding and item.role == "variable" and may_be_variable]
    if not (own or variables):
        kind = "parameter or variable" if may_be_variable else "parameter"
        raise NoAnswer(f"there is no {kind} {name}; name one that the function has")
    if any(item.role not in ("member", "key") for item in _find_all(tree, new_name, span)):
        raise NoAnswer(f"{new_name} has a meaning in this function already; choose another name")
    if re.search(rb"\b(nonlocal|global)\b[^\n]*\b%s\b" % re.escape(encode(name)), tree.data[slice(*span)]):
        raise NoAnswer(f"{name} is declared nonlocal or global in this function; rename it yourself")
    if not own:
        # a block may bind a variable, too, and all of them are renamed
        return [item.span for item in occurrences if item.role not in ("member", "key")]
    parameters = function.child_by_field_name("parameters")
    inner = [item.scope for item in occurrences if item.is_binding and item.scope != span]
    return [item.span for item in occurrences if item in own or _means_parameter(item, span, inner, parameters)]


def find_named_arguments(tree: SyntaxTree, offsets: Iterable[int], name: str) -> list[Span]:
    """Return the places where the calls of the references at some offsets pass a parameter by its name."""
    return sorted({span for offset in offsets for span in _find_in_call(tree, offset, name)})


def _find_all(tree: SyntaxTree, name: str, span: Span) -> list[Occurrence]:
    occurrences = [*find_occurrences(tree, name, span)]
    if len(occurrences) >= MAX_OCCURRENCES:
        raise NoAnswer(f"{name} occurs more than {MAX_OCCURRENCES} times in this function; rename it yourself")
    return occurrences


def _means_parameter(item: Occurrence, span: Span, inner: Sequence[Span], parameters: Node | None) -> bool:
    """Return whether an occurrence of the name refers to the parameter, and not to the same name of an inner scope."""
    if item.is_binding:
        return item.scope == span
    if item.role not in ("value", "type"):
        return False
    if parameters and parameters.start_byte <= item.span.start < parameters.end_byte:
        # a default value is computed where the function is defined
        return False
    return not any(scope.start <= item.span.start < scope.end for scope in inner)


def _find_in_call(tree: SyntaxTree, offset: int, name: str) -> Iterator[Span]:
    """Yield the names of the arguments with a name, in the call of the reference at an offset."""
    for node in nodes_around(tree.root, offset, offset):
        arguments = _find_arguments(node) if node.type in CALL_NODES else None
        if arguments is None:
            continue
        for argument in arguments.named_children if offset < arguments.start_byte else ():
            key = argument.child_by_field_name("name")
            if argument.type in NAMED_ARGUMENT_NODES and key and key.text == encode(name):
                yield Span(*key.byte_range)
        if offset < arguments.end_byte:
            # an outer call is not the call of the reference
            return


def _find_arguments(call: Node) -> Node | None:
    arguments = call.child_by_field_name("arguments")
    return arguments or next((child for child in call.children if child.type in ARGUMENT_NODES), None)
