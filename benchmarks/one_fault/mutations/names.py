"""Misspelt variables, functions, types and keyword arguments, and names in the wrong case."""

from collections.abc import Callable, Iterator
from random import Random

from benchmarks.one_fault.code import Code, Item
from benchmarks.one_fault.mutations.signatures import find_argument_types
from benchmarks.one_fault.mutations.uses import (
    Respell,
    describe_change,
    find_functions,
    find_grammar,
    find_owner,
    find_types,
    find_variables,
    misspell_item,
    replace_name,
)
from benchmarks.one_fault.registry import LANGUAGES, Candidate, register_mutation
from benchmarks.one_fault.typos import misspell, recase
from benchmarks.one_fault.wording import (
    FUNCTION,
    JAVA_QUALIFIER,
    RUST_PATH,
    RUST_TRAIT,
    TYPE,
    VARIABLE,
    Name,
    Say,
    Wording,
)
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode

OTHERS = tuple(language for language in LANGUAGES if language != "python")
Find = Callable[[Code], list[Item]]


def _misspell_python(code: Code, find: Find, respell: Respell, rng: Random) -> Iterator[Candidate]:
    for item in _shuffle_items(find(code), rng):
        if new := misspell_item(code, item, respell, rng):
            edit = Edit(item.start, item.end, encode(new))
            yield Candidate(edit, "ruff", expected=("F821",), facts=describe_change(code, item, new))


def _misspell_other(code: Code, find: Find, say: Say, respell: Respell, rng: Random) -> Iterator[Candidate]:
    known, language = find_grammar(code), code.language.id
    for item in _shuffle_items(find(code), rng):
        if new := misspell_item(code, item, respell, rng):
            called = find is find_functions
            arguments = find_argument_types(code, item) if called and language == "java" else ""
            if arguments is None:
                continue
            around = _find_namespace(code) if find is find_types and language == "php" else find_owner(item, known)
            yield replace_name(
                code, item, new, _choose_message(item, say)(Name(new, item.text, around, "", arguments, called), rng)
            )


def _choose_message(item: Item, say: Say) -> Say:
    parent = item.parent
    if item.field == "trait" or (parent and parent.type == "trait_bounds"):
        return RUST_TRAIT
    if parent and parent.type in ("method_invocation", "field_access") and item.field == "object":
        return JAVA_QUALIFIER
    return RUST_PATH if parent and parent.type == "scoped_identifier" else say


def _find_namespace(code: Code) -> str:
    space = next((item for item in code.items if item.type == "namespace_definition"), None)
    name = space.child("name") if space else None
    return f"{name.text}\\" if name else ""


def _shuffle_items(items: list[Item], rng: Random) -> list[Item]:
    return rng.sample(items, len(items))


@register_mutation("misspelt_variable", "python")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    return _misspell_python(code, find_variables, misspell, rng)


@register_mutation("misspelt_variable", *OTHERS)
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    return _misspell_other(code, find_variables, VARIABLE[code.language.id], misspell, rng)


@register_mutation("misspelt_function", "python")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    return _misspell_python(code, find_functions, misspell, rng)


@register_mutation("misspelt_function", *OTHERS)
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    return _misspell_other(code, find_functions, FUNCTION[code.language.id], misspell, rng)


@register_mutation("misspelt_type", "python")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    return _misspell_python(code, find_types, misspell, rng)


@register_mutation("misspelt_type", *OTHERS)
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    return _misspell_other(code, find_types, TYPE[code.language.id], misspell, rng)


@register_mutation("misspelt_only_use", "python")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    """The only use of an import or a local variable: that it is unused now is reported as well."""
    for candidate in _misspell_python(code, lambda code: find_variables(code) + find_functions(code), misspell, rng):
        if code.words[str(candidate.facts["name"])] == 2:
            yield Candidate(candidate.edit, "ruff", expected=("F821", "F401|F841"), facts=candidate.facts)


@register_mutation("misspelt_argument", "python")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    names = [
        item for item in code.items if item.field == "name" and item.parent and item.parent.type == "keyword_argument"
    ]
    for item in _shuffle_items(names, rng):
        if new := misspell_item(code, item, misspell, rng):
            edit = Edit(item.start, item.end, encode(new))
            yield Candidate(edit, "pyright", expected=("reportCallIssue",), facts=describe_change(code, item, new))


@register_mutation("wrong_case", "python")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    constants = [item for item in code.leaves if item.text in ("None", "True", "False") and item.type != "comment"]
    if constants and rng.random() < 0.2:
        item = rng.choice(constants)
        new = item.text.lower()
        edit = Edit(item.start, item.end, encode(new))
        yield Candidate(edit, "ruff", expected=("F821",), facts=describe_change(code, item, new))
    yield from _misspell_python(code, lambda code: find_variables(code) + find_functions(code), recase, rng)


@register_mutation("wrong_case", *OTHERS)
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    language = code.language.id
    finds: list[tuple[Find, dict[str, Say]]] = [
        (find_variables, VARIABLE),
        (find_functions, FUNCTION),
        (find_types, TYPE),
    ]
    if language == "php":
        # names of functions and types may be written in any case there
        finds = finds[:1]
    rng.shuffle(finds)
    for find, words in finds:
        yield from _misspell_other(code, find, words[language], recase, rng)


@register_mutation("misspelt_argument", "csharp", "php")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    names = [item for item in code.items if item.field == "name" and item.parent and item.parent.type == "argument"]
    for item in _shuffle_items(names, rng):
        if (new := misspell_item(code, item, misspell, rng)) and item.parent and item.parent.parent:
            call = item.parent.parent.parent
            function = call.child("function") if call else None
            if code.language.id == "csharp" and function:
                last = function.child("name") or function
                said = f"The best overload for '{last.text}' does not have a parameter named '{new}'"
                yield replace_name(code, item, new, Wording("csharp", "CS1739", said))
            elif code.language.id == "php":
                yield replace_name(
                    code, item, new, Wording("intelephense", "P1076", f"Unknown named argument '${new}'.")
                )
