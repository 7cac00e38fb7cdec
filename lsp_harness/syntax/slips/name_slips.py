"""Slips of a name or a literal: another one of the same kind was meant, or a call around it is missing."""

from collections.abc import Iterator

from lsp_harness.syntax.names.calls import ARGUMENT_NODES, CALL_NODES
from lsp_harness.syntax.slips.code_parts import (
    BINARY_NODES,
    CONDITIONAL_NODES,
    MEMBER_NODES,
    SUBSCRIPT_NODES,
    CodePart,
    SlipPlace,
    WordUse,
    find_literal_kind,
    is_called,
    is_member,
    is_use,
)
from lsp_harness.text.edit import Edit

MAX_LOCAL_NAMES, MAX_OTHER_NAMES, MAX_MEMBERS, MAX_CONSTANTS, MAX_WRAPPERS = 8, 4, 6, 4, 2
"""Most names and literals that are tried in place of one."""
STEP = 0.25
"""How much less likely each further name is."""
REPEATED_COST = 3.0
"""How much less likely a name is that stands beside the place already."""
COMPARED_KINDS = ("string", "int", "number", "float")
"""Kinds of literals of which another one of the file may be meant."""
EMPTY_NAMES = frozenset({"none", "null", "undefined"})


def change_names(place: SlipPlace) -> Iterator[tuple[float, tuple[Edit, ...]]]:
    """Yield the changes of one name to another of the same kind: a value, a function or a member."""
    for part in place.parts:
        if is_member(part):
            names = _rank_members(place, part)
        elif is_use(part):
            names = _rank_values(place, part)
        elif part.node.type in EMPTY_NAMES and (function := place.vocabulary.find_function(place.statement.start)):
            # a value that is missing
            local = _select(place.vocabulary.names, function.start, function.end)
            names = place.vocabulary.rank_names(part, local, is_called=False)[:MAX_OTHER_NAMES]
        else:
            continue
        beside = _list_neighbours(part)
        for rank, name in enumerate(names):
            # the same value twice says little: `a > a`, `f(a, a)`
            yield rank * STEP + REPEATED_COST * (name in beside), (part.replace(name),)


def _list_neighbours(part: CodePart) -> set[str]:
    """Return the texts of the other operands or arguments beside a part."""
    parent = part.parent
    if parent is None or parent.type not in BINARY_NODES | ARGUMENT_NODES:
        return set()
    return {CodePart(child, parent, "").text for child in parent.named_children if child != part.node}


def _rank_values(place: SlipPlace, part: CodePart) -> list[str]:
    vocabulary, called = place.vocabulary, is_called(part.node)
    ranked = vocabulary.rank_names(part, vocabulary.names, is_called=called)
    function = vocabulary.find_function(place.statement.start)
    if called or function is None:
        return ranked[:MAX_LOCAL_NAMES]
    local = vocabulary.rank_names(part, _select(vocabulary.names, *function), is_called=False)[:MAX_LOCAL_NAMES]
    # what no function binds can be seen by all of them
    shared = [name for name in ranked if name not in local and _is_shared(place, vocabulary.names[name])]
    return [*local, *shared[:MAX_OTHER_NAMES]]


def _rank_members(place: SlipPlace, part: CodePart) -> list[str]:
    assert part.parent is not None
    vocabulary, called = place.vocabulary, is_called(part.parent)
    receiver = CodePart(part.parent.children[0], part.parent, "").text
    same = {
        name: kept
        for name, uses in vocabulary.members.items()
        if (kept := [use for use in uses if use.receiver == receiver])
    }
    ranked = vocabulary.rank_names(part, same, is_called=called)[:MAX_MEMBERS]
    others = [name for name in vocabulary.rank_names(part, vocabulary.members, is_called=called) if name not in ranked]
    return [*ranked, *others[: max(0, MAX_OTHER_NAMES - len(ranked))]]


def _select(names: dict[str, list[WordUse]], start: int, end: int) -> dict[str, list[WordUse]]:
    found = {name: [use for use in uses if start <= use.offset < end] for name, uses in names.items()}
    return {name: uses for name, uses in found.items() if uses}


def _is_shared(place: SlipPlace, uses: list[WordUse]) -> bool:
    return any(place.vocabulary.find_function(use.offset) is None for use in uses)


def change_constants(place: SlipPlace) -> Iterator[tuple[float, tuple[Edit, ...]]]:
    """Yield the changes of one literal to another one of its kind in the file, the closest first."""
    for part in place.parts:
        kind = find_literal_kind(part.node)
        if kind not in COMPARED_KINDS or (part.parent and part.parent.type == "expression_statement"):
            continue
        offset = part.node.start_byte
        places = place.vocabulary.literals[kind].items()
        distances = {text: min(abs(start - offset) for start in starts) for text, starts in places}
        near = sorted(distances, key=distances.__getitem__)
        others = [text for text in near if text != part.text and "\n" not in text][:MAX_CONSTANTS]
        for rank, text in enumerate(others):
            yield rank * STEP, (part.replace(text),)
        if part.text == "0" and part.field in ("subscript", "index"):
            yield 0.0, (part.replace("-1"),)


def add_calls(place: SlipPlace) -> Iterator[tuple[float, tuple[Edit, ...]]]:
    """Yield the calls of functions around a value: those that get the same value elsewhere in the file, then others."""
    wrappers = place.vocabulary.wrappers
    usual = sorted(wrappers, key=lambda name: -len(wrappers[name]))
    for part in place.parts:
        is_value = is_use(part) or part.node.type in MEMBER_NODES | SUBSCRIPT_NODES
        if not is_value or is_called(part.node) or part.field in ("function", "object", "left"):
            continue
        same = [name for name in usual if part.text in wrappers[name]]
        for rank, name in enumerate([*same, *(name for name in usual if name not in same)][: len(same) + MAX_WRAPPERS]):
            if "\n" not in name and not part.text.startswith(f"{name}."):
                yield rank * STEP + (name not in same), (part.replace(f"{name}({part.text})"),)


def drop_parts(place: SlipPlace) -> Iterator[tuple[float, tuple[Edit, ...]]]:
    """Yield the expressions with one part less: an operand, a call around a value, a sign, or a branch."""
    for part in place.parts:
        node = part.node
        if node.type == "unary_operator" or (node.type == "unary_expression" and part.text.startswith("-")):
            yield 0.0, (part.replace(part.text[1:]),)
        elif node.type in ("boolean_operator", "binary_operator", "binary_expression"):
            for field in ("left", "right"):
                if operand := node.child_by_field_name(field):
                    yield 0.5, (part.replace(CodePart(operand, node, field).text),)
        elif node.type in CONDITIONAL_NODES and len(node.named_children) == 3:
            branches = [child for child in node.named_children if node.child_by_field_name("condition") != child]
            for child in branches[:1] + branches[-1:]:
                yield 1.0, (part.replace(CodePart(child, node, "").text),)
        elif node.type in CALL_NODES:
            yield from _drop_call(part)


def _drop_call(part: CodePart) -> Iterator[tuple[float, tuple[Edit, ...]]]:
    function, arguments = (part.node.child_by_field_name(name) for name in ("function", "arguments"))
    if function and arguments and arguments.named_child_count == 1 and function.type == "identifier":
        yield 0.5, (part.replace(CodePart(arguments.named_children[0], arguments, "").text),)
    if function and function.type in MEMBER_NODES:
        yield 1.0, (part.replace(CodePart(function.children[0], function, "").text),)
