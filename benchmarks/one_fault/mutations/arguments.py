"""Two arguments of different types in each other's place."""

import re
from collections.abc import Iterator
from random import Random

from benchmarks.one_fault.case import Diagnostic
from benchmarks.one_fault.code import Code, Item
from benchmarks.one_fault.mutations.signatures import Signature, find_signatures
from benchmarks.one_fault.mutations.uses import find_grammar, find_owner
from benchmarks.one_fault.registry import Candidate, register_mutation
from benchmarks.one_fault.wording import ARGUMENT
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode

ANY = ("any", "unknown", "interface{}", "object", "Object", "mixed", "T", "dynamic", "var")
"""Types that take every argument."""

UNTYPED = {
    "int_literal": "untyped int constant",
    "float_literal": "untyped float constant",
    "interpreted_string_literal": "untyped string constant",
    "true": "untyped bool constant",
    "false": "untyped bool constant",
}
"""What gopls calls literals."""


def _swap_items(code: Code, one: Item, other: Item) -> Edit:
    between = code.data[one.end : other.start]
    new = encode(other.text) + between + encode(one.text)
    return Edit(one.start, other.end, new)


@register_mutation("swapped_arguments", "python")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    calls = [item for item in code.items if item.type == "call"]
    for call in rng.sample(calls, len(calls)):
        listed, function = call.child("arguments"), call.child("function")
        given = [one for one in listed.named() if one.type != "comment"] if listed else []
        plain = [one for one in given if one.type not in ("keyword_argument", "list_splat", "dictionary_splat")]
        if function and len(plain) > 1 and len(plain) <= 4 and plain[0].text != plain[1].text and "\n" not in call.text:
            edit = _swap_items(code, plain[0], plain[1])
            yield Candidate(edit, "pyright", expected=("reportArgumentType",), facts={"call": call.text})


@register_mutation("swapped_arguments", "typescript", "go", "rust", "java", "csharp", "php")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    known = find_signatures(code)
    for item in rng.sample(code.items, len(code.items)):
        listed = item.child("arguments")
        name = (item.child("function") or item.child("name")) if listed else None
        if listed is None or name is None or "\n" in listed.text:
            continue
        receiver, _, called = re.sub(r"::|->", ".", name.text).rpartition(".")
        before = item.child("object") or item.child("scope")
        given, signature = listed.named(), known.get(called)
        # a method of another object may be another one of the same name
        own = (before.text if before else receiver) in ("", "this", "self", "Self", "$this", "static")
        if signature is None or not own or len(given) != len(signature.types) or not all(map(_is_plain, given)):
            continue
        for at in range(len(given) - 1):
            wanted = signature.types[at : at + 2]
            if _differ(wanted, code) and given[at].text != given[at + 1].text:
                yield _make_candidate(code, given, at, signature)


def _is_plain(argument: Item) -> bool:
    """Return whether an argument is a plain value without a word before it."""
    calls = ("call_expression", "func_literal", "composite_literal")
    return not argument.text.startswith(("out ", "ref ", "in ", "...", "&$")) and argument.type not in calls


def _differ(types: tuple[str, ...], code: Code) -> bool:
    """Return whether neither type accepts a value of the other."""
    generic = any(len(one.strip("&*[]?")) < 2 or one.strip("&*[]?.") in ANY for one in types)
    numbers = {"int", "long", "double", "float", "byte", "short", "char", "number", "Integer", "Long"}
    return types[0].strip("?") != types[1].strip("?") and not generic and not set(types) <= numbers


def _make_candidate(code: Code, given: list[Item], at: int, signature: Signature) -> Candidate:
    language = code.language.id
    one, other = given[at], given[at + 1]
    edit = _swap_items(code, one, other)
    kinds = [kind.removeprefix("?") if language == "php" else kind for kind in signature.types]
    kinds[at], kinds[at + 1] = kinds[at + 1], kinds[at]
    wording = ARGUMENT[language]
    kind = UNTYPED.get(other.type, f"variable of type {kinds[at]}")
    literal = other.text if other.type == "string" and language == "typescript" else ""
    message = wording.message.format(
        given=f'"{literal[1:-1]}"' if literal else kinds[at],
        wanted=signature.types[at].removeprefix("?") if language == "php" else signature.types[at],
        text=other.text,
        kind=kind,
        position=at + 1,
        function=signature.name,
        owner=find_owner(signature.owner, find_grammar(code)),
        parameters=", ".join(signature.types),
        arguments=", ".join(kinds),
    )
    call = one.ancestor("call_expression", "method_invocation") if language in ("rust", "java") else None
    name = (call.child("function") or call.child("name")) if call else None
    if name:
        start, end = name.start, name.end
    else:
        start, end = one.start, one.start + len(encode(other.text))
    diagnostic = Diagnostic(start, end, message, wording.source, wording.code, wording.severity)
    facts = {"call": f"{signature.name}({', '.join(item.text for item in given)})"}
    return Candidate(edit, "parses", diagnostic, facts=facts)
