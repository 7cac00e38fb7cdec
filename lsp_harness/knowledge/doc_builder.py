"""Creation of documentation fragments: the signature of a declaration, the constructor of a type, and its
documentation."""

import re

from lsp_harness.knowledge.declaration_text import read_documentation, read_module_documentation, read_signature
from lsp_harness.knowledge.doc_fragment import SELF_PARAMETER, DocFragment
from lsp_harness.knowledge.js_exports import SCRIPT_LANGUAGES
from lsp_harness.knowledge.package_lookup import (
    MAX_HOPS,
    VALUE_KINDS,
    FoundDeclaration,
    PackageSearch,
    Result,
    find_overloads,
)
from lsp_harness.knowledge.package_module import Module, PackageRules
from lsp_harness.syntax.symbols.declarations import TYPES

FIELD_DECORATOR = re.compile(rb"@[\w.]*\b(?:dataclass|define|frozen|mutable|attrs|attr\.s)\b")
FIELD_BASES = frozenset({"NamedTuple", "BaseModel"})
CLASS_VARIABLE_TYPES = ("ClassVar", "typing.ClassVar")
MAX_FIELDS = 24
"""Largest number of fields in a generated constructor."""


def build_fragment(rules: PackageRules, module: Module, name: str, result: Result) -> DocFragment:
    """Return the documentation fragment of a lookup result.

    Args:
        rules: The packages of the workspace folder.
        module: The module in which the name was looked up.
        name: The name in the module; empty for the module itself.
        result: The declaration or module that the name means.
    """
    package = module.package
    language = result.text.language.id if isinstance(result, FoundDeclaration) else ""
    if isinstance(result, Module):
        text = result.texts[0] if result.texts else None
        documentation = read_module_documentation(text.language.id, text.data) if text else ""
        file = str(text.path.relative_to(result.package.folder)) if text else ""
        return DocFragment(package.name, package.version, module.name, name, "module", "", documentation, file)
    search = PackageSearch(rules)
    call_method = (
        search.find_member(result, ["__call__"])
        if result.declaration.kind in VALUE_KINDS and language == "python"
        else None
    )
    overloads = find_overloads(search, call_method if isinstance(call_method, FoundDeclaration) else result)
    first, line = overloads[0], _signature(overloads[0])
    if call_method:
        # The value is an object with `__call__`, so it is shown as a function.
        line = SELF_PARAMETER.sub("(", line.replace("__call__", result.declaration.name, 1), count=1)
    return DocFragment(
        *(package.name, package.version, module.name, name, first.declaration.kind),
        line,
        _find_documentation(result, overloads) or _find_source_documentation(rules, module, name, result),
        str(first.text.path.relative_to(first.module.package.folder)),
        _find_constructor(rules, result) if result.declaration.kind in TYPES else "",
        len(overloads),
    )


def _signature(found: FoundDeclaration) -> str:
    return read_signature(found.text.language.id, found.text.data, found.declaration)


def _find_documentation(found: FoundDeclaration, overloads: list[FoundDeclaration]) -> str:
    language = found.text.language.id
    namesakes = [
        declaration
        for declaration in found.text.declarations
        if declaration.name == found.declaration.name and declaration.parent == found.declaration.parent
    ]
    # Only one of several overloads has documentation, often the last one.
    for declaration in (found.declaration, *(overload.declaration for overload in overloads), *namesakes):
        if documentation := read_documentation(language, found.text.data, declaration):
            return documentation
    return ""


def _find_source_documentation(rules: PackageRules, module: Module, name: str, found: FoundDeclaration) -> str:
    """Return documentation from the source of a declaration in a stub, as stubs have almost none."""
    if found.text.path.suffix != ".pyi" or module.without_stubs:
        return ""
    source = rules.find_module(module.name, module.importer_folder, without_stubs=True)
    result = PackageSearch(rules).find(source, name.split(".")) if source else None
    return _find_documentation(result, [result]) if isinstance(result, FoundDeclaration) else ""


def _find_constructor(rules: PackageRules, found: FoundDeclaration) -> str:
    language, type_name = found.text.language.id, found.declaration.name
    if language == "python":
        if fields := _generated_constructor(rules, found):
            return fields
        names = ("__init__", "__new__")
    elif language in SCRIPT_LANGUAGES:
        names = ("constructor",)
    elif language == "go":
        constructor = PackageSearch(rules).find(found.module, [f"New{type_name}"])
        return _signature(constructor) if isinstance(constructor, FoundDeclaration) else ""
    else:
        names = ("new",) if language == "rust" else ()
    for name in names:
        constructor = PackageSearch(rules).find_member(found, [name])
        if isinstance(constructor, FoundDeclaration):
            return _signature(find_overloads(PackageSearch(rules), constructor)[0])
    return ""


def _generated_constructor(rules: PackageRules, found: FoundDeclaration) -> str:
    """Return the parameters of a constructor that is generated from the fields of a class; empty for other classes."""
    head = found.text.data[found.declaration.start : found.declaration.named]
    if not (
        FIELD_DECORATOR.search(head)
        or FIELD_BASES.intersection(base.rpartition(".")[2] for base in found.declaration.bases)
    ):
        return ""
    search = PackageSearch(rules)
    if any(member.declaration.name == "__init__" for member in search.find_members(found)):
        return ""
    fields_by_name: dict[str, str] = {}
    for base in search.find_bases(found, MAX_HOPS)[:4]:
        fields_by_name |= _declared_fields(search, base)
    fields_by_name |= _declared_fields(search, found)
    fields = [*list(fields_by_name.values())[:MAX_FIELDS], *(["…"] if len(fields_by_name) > MAX_FIELDS else [])]
    return f"({', '.join(fields)})"


def _declared_fields(search: PackageSearch, found: FoundDeclaration) -> dict[str, str]:
    fields: dict[str, str] = {}
    for member in search.find_members(found):
        if member.declaration.kind != "field" or member.declaration.name.startswith("_"):
            continue
        name, colon, after_colon = _signature(member).partition(":")
        if not colon or after_colon.strip().startswith(CLASS_VARIABLE_TYPES) or name.strip() != member.declaration.name:
            continue
        type_text, equals, value = after_colon.strip().partition(" = ")
        # A call such as `field(default=1)` describes the field and is not its value.
        fields[member.declaration.name] = f"{name}: {type_text}" + (
            f" = {'...' if '(' in value else value}" if equals else ""
        )
    return fields
