"""The types of parameters and arguments, as far as a text itself declares them."""

from collections import Counter
from dataclasses import dataclass

from benchmarks.one_fault.code import Code, Item
from benchmarks.one_fault.mutations.uses import find_declared_type, find_grammar

LITERALS = {
    "string_literal": "String",
    "decimal_integer_literal": "int",
    "true": "boolean",
    "false": "boolean",
    "character_literal": "char",
}
"""Of Java."""


def find_argument_types(code: Code, name: Item) -> str | None:
    """Return the types of the arguments of a Java call as jdtls lists them, or None if one is unknown."""
    listed = name.parent.child("arguments") if name.parent else None
    found: list[str] = []
    for argument in listed.named() if listed else []:
        kind = LITERALS.get(argument.type) or find_declared_type(name, argument.text, find_grammar(code))
        if not kind:
            return None
        found.append(kind)
    return ", ".join(found)


@dataclass(frozen=True)
class Signature:
    """A function that the text declares once, with the types of its parameters."""

    name: str
    types: tuple[str, ...]
    owner: Item


def find_signatures(code: Code) -> dict[str, Signature]:
    known = find_grammar(code)
    found: list[Signature] = []
    for item in code.items:
        name, parameters = item.child("name"), item.child("parameters")
        if item.type in known.functions and name and parameters:
            kinds = _read_types(parameters, known.typed)
            if kinds is not None:
                found.append(Signature(name.text, kinds, item))
    count = Counter(one.name for one in found)
    return {one.name: one for one in found if count[one.name] == 1}


def _read_types(parameters: Item, typed: dict[str, tuple[str, str]]) -> tuple[str, ...] | None:
    found: list[str] = []
    for each in parameters.named():
        if each.type == "self_parameter":
            continue
        fields = typed.get(each.type)
        kind = each.child(fields[1]) if fields else None
        if fields is None or kind is None or each.type == "optional_parameter":
            return None
        names = sum(child.field == fields[0] for child in each.children)
        shown = " ".join(kind.text.removeprefix(":").split()).removeprefix("| ")
        found += [shown] * names
    return tuple(found)
