"""Misspelt variables, functions, types and keyword arguments, and names in the wrong case."""

from collections.abc import Callable, Iterator
from random import Random

from benchmarks.one_fault.code import Code, Item
from benchmarks.one_fault.mutations.signatures import argument_types
from benchmarks.one_fault.mutations.uses import (
    Respell,
    facts,
    functions,
    grammar,
    owner,
    replaced,
    respelt,
    types,
    variables,
)
from benchmarks.one_fault.registry import LANGUAGES, Candidate, mutation
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


def _python(code: Code, find: Find, respell: Respell, rng: Random) -> Iterator[Candidate]:
    for item in _shuffled(find(code), rng):
        if new := respelt(code, item, respell, rng):
            edit = Edit(item.start, item.end, encode(new))
            yield Candidate(edit, "ruff", expected=("F821",), facts=facts(code, item, new))


def _other(code: Code, find: Find, say: Say, respell: Respell, rng: Random) -> Iterator[Candidate]:
    known, language = grammar(code), code.language.id
    for item in _shuffled(find(code), rng):
        if new := respelt(code, item, respell, rng):
            called = find is functions
            arguments = argument_types(code, item) if called and language == "java" else ""
            if arguments is None:
                continue
            around = _namespace(code) if find is types and language == "php" else owner(item, known)
            yield replaced(
                code, item, new, _word_message(item, say)(Name(new, item.text, around, "", arguments, called), rng)
            )


def _word_message(item: Item, say: Say) -> Say:
    parent = item.parent
    if item.field == "trait" or (parent and parent.type == "trait_bounds"):
        return RUST_TRAIT
    if parent and parent.type in ("method_invocation", "field_access") and item.field == "object":
        return JAVA_QUALIFIER
    return RUST_PATH if parent and parent.type == "scoped_identifier" else say


def _namespace(code: Code) -> str:
    space = next((item for item in code.items if item.type == "namespace_definition"), None)
    name = space.child("name") if space else None
    return f"{name.text}\\" if name else ""


def _shuffled(items: list[Item], rng: Random) -> list[Item]:
    return rng.sample(items, len(items))


@mutation("misspelt_variable", "python")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    return _python(code, variables, misspell, rng)


@mutation("misspelt_variable", *OTHERS)
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    return _other(code, variables, VARIABLE[code.language.id], misspell, rng)


@mutation("misspelt_function", "python")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    return _python(code, functions, misspell, rng)


@mutation("misspelt_function", *OTHERS)
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    return _other(code, functions, FUNCTION[code.language.id], misspell, rng)


@mutation("misspelt_type", "python")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    return _python(code, types, misspell, rng)


@mutation("misspelt_type", *OTHERS)
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    return _other(code, types, TYPE[code.language.id], misspell, rng)


@mutation("misspelt_only_use", "python")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    """The only use of an import or a local variable: that it is unused now is reported as well."""
    for candidate in _python(code, lambda code: variables(code) + functions(code), misspell, rng):
        if code.words[str(candidate.facts["name"])] == 2:
            yield Candidate(candidate.edit, "ruff", expected=("F821", "F401|F841"), facts=candidate.facts)


@mutation("misspelt_argument", "python")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    names = [
        item for item in code.items if item.field == "name" and item.parent and item.parent.type == "keyword_argument"
    ]
    for item in _shuffled(names, rng):
        if new := respelt(code, item, misspell, rng):
            edit = Edit(item.start, item.end, encode(new))
            yield Candidate(edit, "pyright", expected=("reportCallIssue",), facts=facts(code, item, new))


@mutation("wrong_case", "python")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    constants = [item for item in code.leaves if item.text in ("None", "True", "False") and item.type != "comment"]
    if constants and rng.random() < 0.2:
        item = rng.choice(constants)
        new = item.text.lower()
        edit = Edit(item.start, item.end, encode(new))
        yield Candidate(edit, "ruff", expected=("F821",), facts=facts(code, item, new))
    yield from _python(code, lambda code: variables(code) + functions(code), recase, rng)


@mutation("wrong_case", *OTHERS)
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    language = code.language.id
    finds: list[tuple[Find, dict[str, Say]]] = [(variables, VARIABLE), (functions, FUNCTION), (types, TYPE)]
    if language == "php":
        # names of functions and types may be written in any case there
        finds = finds[:1]
    rng.shuffle(finds)
    for find, words in finds:
        yield from _other(code, find, words[language], recase, rng)


@mutation("misspelt_argument", "csharp", "php")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    names = [item for item in code.items if item.field == "name" and item.parent and item.parent.type == "argument"]
    for item in _shuffled(names, rng):
        if (new := respelt(code, item, misspell, rng)) and item.parent and item.parent.parent:
            call = item.parent.parent.parent
            function = call.child("function") if call else None
            if code.language.id == "csharp" and function:
                last = function.child("name") or function
                said = f"The best overload for '{last.text}' does not have a parameter named '{new}'"
                yield replaced(code, item, new, Wording("csharp", "CS1739", said))
            elif code.language.id == "php":
                yield replaced(code, item, new, Wording("intelephense", "P1076", f"Unknown named argument '${new}'."))
