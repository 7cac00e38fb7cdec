"""Misspelt attributes and methods, where the text itself tells the type they are looked up in."""

from collections.abc import Iterator
from random import Random

from benchmarks.one_fault.code import Code, Item
from benchmarks.one_fault.mutations.signatures import find_argument_types
from benchmarks.one_fault.mutations.uses import (
    describe_change,
    find_declared_type,
    find_grammar,
    find_members,
    find_owner,
    misspell_item,
    replace_name,
)
from benchmarks.one_fault.registry import LANGUAGES, Candidate, register_mutation
from benchmarks.one_fault.typos import misspell
from benchmarks.one_fault.wording import MEMBER, PACKAGE, Name
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode

SELF = ("self", "this", "$this")
TELLING: dict[str, dict[str, str]] = {
    "javascript": {
        "any[]": "push forEach concat splice unshift",
        "string": "toLowerCase toUpperCase startsWith endsWith charCodeAt substring",
    },
    "rust": {
        "struct `String`": "as_str push_str as_bytes",
        "enum `Option<T>`": "is_some is_none unwrap_or_else map_or",
    },
    "java": {"String": "length substring", "StringBuilder": "append", "Map<String,Object>": "containsKey"},
    "csharp": {"string": "Substring StartsWith", "StringBuilder": "AppendLine"},
    "ruby": {
        "String": "start_with? gsub downcase upcase strip",
        "Array": "each push flatten compact join",
        "Hash": "each_pair merge fetch delete",
    },
}
"""Names of members that belong to one type, whatever the receiver is called."""
TELLING["typescript"] = TELLING["javascript"]
WELL_KNOWN = {
    language: {name: kind for kind, names in kinds.items() for name in names.split()}
    for language, kinds in TELLING.items()
}
GLOBALS = {
    "Object": "ObjectConstructor",
    "Math": "Math",
    "JSON": "JSON",
    "Array": "ArrayConstructor",
    "Promise": "PromiseConstructor",
    "console": "Console",
    "process": "Process",
}
"""Of JavaScript, with the types that tsserver gives them."""


@register_mutation("misspelt_member", "python")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    found = [name for name, _, _ in find_members(code)]
    for item in rng.sample(found, len(found)):
        if new := misspell_item(code, item, misspell, rng):
            edit = Edit(item.start, item.end, encode(new))
            yield Candidate(
                edit, "pyright", expected=("reportAttributeAccessIssue",), facts=describe_change(code, item, new)
            )


@register_mutation("misspelt_member", *(language for language in LANGUAGES if language != "python"))
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    language = code.language.id
    found = list(find_members(code))
    for item, receiver, called in rng.sample(found, len(found)):
        new = misspell_item(code, item, misspell, rng)
        if not new:
            continue
        arguments = find_argument_types(code, item) if called and language == "java" else ""
        if language == "go" and receiver.text in _find_packages(code):
            name = Name(new, item.text, "", receiver.text)
            yield replace_name(code, item, new, PACKAGE["go"](name, rng))
        elif arguments is not None and (kind := _type_of(code, item, receiver)):
            name = Name(new, item.text, kind, receiver.text, arguments, called)
            yield replace_name(code, item, new, MEMBER[language](name, rng))


def _type_of(code: Code, item: Item, receiver: Item) -> str:
    """Return the type of a receiver as the language server writes it, or an empty text if it is unknown."""
    language, known = code.language.id, find_grammar(code)
    if receiver.text in SELF:
        around = find_owner(item, known)
        if language == "rust":
            return around and _name_rust_self(item, around)
        return around
    if language in ("javascript", "typescript") and receiver.text in GLOBALS:
        return GLOBALS[receiver.text]
    if kind := find_declared_type(item, receiver.text, known):
        # of a type parameter other words are used
        plain = kind.replace("*", "").isidentifier() and len(kind.strip("*")) > 1
        if language == "rust":
            return f"struct `{kind}`" if plain else ""
        return kind if plain and kind not in ("var", "any", "dynamic", "interface") else ""
    return "" if receiver.type == "constant" else WELL_KNOWN.get(language, {}).get(item.text, "")


def _name_rust_self(item: Item, around: str) -> str:
    """Return the type that rustc reports for `self` in the enclosing method."""
    implemented, function = item.ancestor("impl_item"), item.ancestor("function_item")
    kind = implemented.child("type") if implemented else None
    shown = " ".join(kind.text.split()) if kind else around
    given = next((one.text for one in function.walk() if one.type == "self_parameter"), "") if function else ""
    if "mut" in given and "&" in given:
        return f"mutable reference `&mut {shown}`"
    return f"reference `&{shown}`" if "&" in given else f"struct `{shown}`"


def _find_packages(code: Code) -> set[str]:
    """Return the names of the packages that a Go file imports."""
    paths = [item.child("path") for item in code.items if item.type == "import_spec" and not item.child("name")]
    return {path.text.strip('"').rpartition("/")[2] for path in paths if path}
