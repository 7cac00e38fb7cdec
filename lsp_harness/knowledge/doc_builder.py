"""A declaration as a fragment: its signature, what makes one where it is a type, and what is said of it."""

import re

from lsp_harness.knowledge.declaration_text import documentation, of_module, signature
from lsp_harness.knowledge.doc_fragment import SELF, DocFragment
from lsp_harness.knowledge.js_exports import SCRIPTS
from lsp_harness.knowledge.package_lookup import HOPS, VALUES, Found, Result, Search, overloads
from lsp_harness.knowledge.package_module import Module, Rules
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS

MADE_OF_FIELDS = re.compile(rb"@[\w.]*\b(?:dataclass|define|frozen|mutable|attrs|attr\.s)\b")
FIELD_BASES = frozenset({"NamedTuple", "BaseModel"})
NO_FIELD = ("ClassVar", "typing.ClassVar")
FIELDS = 24
"""Of a class, in what it is made with."""


def described(rules: Rules, asked: Module, name: str, result: Result) -> DocFragment:
    """What was found for a `name` in the module `asked`."""
    package = asked.package
    language = result.text.language.id if isinstance(result, Found) else ""
    if isinstance(result, Module):
        text = result.texts[0] if result.texts else None
        said = of_module(text.language.id, text.data) if text else ""
        file = str(text.path.relative_to(result.package.place)) if text else ""
        return DocFragment(package.name, package.version, asked.name, name, "module", "", said, file)
    search = Search(rules)
    called = search.beyond(result, ["__call__"]) if result.one.kind in VALUES and language == "python" else None
    ways = overloads(search, called if isinstance(called, Found) else result)
    first, line = ways[0], _signature(ways[0])
    if called:
        # an object that is called as if it were a function
        line = SELF.sub("(", line.replace("__call__", result.one.name, 1), count=1)
    return DocFragment(
        *(package.name, package.version, asked.name, name, first.one.kind),
        line,
        _said(result, ways) or _said_in_source(rules, asked, name, result),
        str(first.text.path.relative_to(first.module.package.place)),
        _constructor(rules, result) if result.one.kind in TYPE_KINDS else "",
        len(ways),
    )


def _signature(found: Found) -> str:
    return signature(found.text.language.id, found.text.data, found.one)


def _said(found: Found, ways: list[Found]) -> str:
    language = found.text.language.id
    same = [one for one in found.text.declared if one.name == found.one.name and one.parent == found.one.parent]
    # of several signatures one is described, often the last
    for one in (found.one, *(way.one for way in ways), *same):
        if said := documentation(language, found.text.data, one):
            return said
    return ""


def _said_in_source(rules: Rules, asked: Module, name: str, found: Found) -> str:
    """A stub says next to nothing."""
    if found.text.path.suffix != ".pyi" or asked.plain:
        return ""
    plain = rules.module(asked.name, asked.near, plain=True)
    result = Search(rules).find(plain, name.split(".")) if plain else None
    return _said(result, [result]) if isinstance(result, Found) else ""


def _constructor(rules: Rules, found: Found) -> str:
    language, name = found.text.language.id, found.one.name
    if language == "python":
        if fields := _fields(rules, found):
            return fields
        names = ("__init__", "__new__")
    elif language in SCRIPTS:
        names = ("constructor",)
    elif language == "go":
        made = Search(rules).find(found.module, [f"New{name}"])
        return _signature(made) if isinstance(made, Found) else ""
    else:
        names = ("new",) if language == "rust" else ()
    for one in names:
        made = Search(rules).beyond(found, [one])
        if isinstance(made, Found):
            return _signature(overloads(Search(rules), made)[0])
    return ""


def _fields(rules: Rules, found: Found) -> str:
    """What a class is made with whose `__init__` is made from its fields; empty for others."""
    head = found.text.data[found.one.start : found.one.name_start]
    if not (
        MADE_OF_FIELDS.search(head) or FIELD_BASES.intersection(base.rpartition(".")[2] for base in found.one.bases)
    ):
        return ""
    search = Search(rules)
    if any(one.one.name == "__init__" for one in search.members(found)):
        return ""
    listed: dict[str, str] = {}
    for base in search.bases(found, HOPS)[:4]:
        listed |= _declared_fields(search, base)
    listed |= _declared_fields(search, found)
    fields = [*list(listed.values())[:FIELDS], *(["…"] if len(listed) > FIELDS else [])]
    return f"({', '.join(fields)})"


def _declared_fields(search: Search, found: Found) -> dict[str, str]:
    fields: dict[str, str] = {}
    for one in search.members(found):
        if one.one.kind != "field" or one.one.name.startswith("_"):
            continue
        name, colon, rest = _signature(one).partition(":")
        if not colon or rest.strip().startswith(NO_FIELD) or name.strip() != one.one.name:
            continue
        written, equals, value = rest.strip().partition(" = ")
        # a call says how the field is made, not what it is
        fields[one.one.name] = f"{name}: {written}" + (f" = {'...' if '(' in value else value}" if equals else "")
    return fields
