"""Creation of documentation fragments: the signature of a declaration, the constructor of a type, and its
documentation."""

import re

from lsp_harness.knowledge.declaration_text import read_documentation, read_module_documentation, read_signature
from lsp_harness.knowledge.doc_fragment import SELF_PARAMETER, DocFragment
from lsp_harness.knowledge.package_lookup import (
    MAX_HOPS,
    VALUE_KINDS,
    DeclarationRef,
    PackageSearch,
    Result,
    find_overloads,
)
from lsp_harness.knowledge.package_module import Module, PackageRules
from lsp_harness.languages.traits import Ecosystem
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS

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
    call_method_name = result.text.language.packages.call_method if isinstance(result, DeclarationRef) else ""
    if isinstance(result, Module):
        text = result.texts[0] if result.texts else None
        documentation = read_module_documentation(text.language, text.data) if text else ""
        file = str(text.path.relative_to(result.package.folder)) if text else ""
        return DocFragment(package.name, package.version, module.name, name, "module", "", documentation, file)
    search = PackageSearch(rules)
    call_method = (
        search.find_member(result, [call_method_name])
        if result.declaration.kind in VALUE_KINDS and call_method_name
        else None
    )
    overloads = find_overloads(search, call_method if isinstance(call_method, DeclarationRef) else result)
    first, line = overloads[0], _signature(overloads[0])
    if call_method:
        # The value is an object with `__call__`, so it is shown as a function.
        line = SELF_PARAMETER.sub("(", line.replace("__call__", result.declaration.name, 1), count=1)
    return DocFragment(
        *(package.name, package.version, module.name, name, first.declaration.kind),
        line,
        _find_documentation(result, overloads) or _find_source_documentation(rules, module, name, result),
        str(first.text.path.relative_to(first.module.package.folder)),
        _find_constructor(rules, result) if result.declaration.kind in TYPE_KINDS else "",
        len(overloads),
    )


def _signature(ref: DeclarationRef) -> str:
    return read_signature(ref.text.language, ref.text.data, ref.declaration)


def _find_documentation(ref: DeclarationRef, overloads: list[DeclarationRef]) -> str:
    language = ref.text.language
    namesakes = [
        declaration
        for declaration in ref.text.declarations
        if declaration.name == ref.declaration.name and declaration.parent == ref.declaration.parent
    ]
    # Only one of several overloads has documentation, often the last one.
    for declaration in (ref.declaration, *(overload.declaration for overload in overloads), *namesakes):
        if documentation := read_documentation(language, ref.text.data, declaration):
            return documentation
    return ""


def _find_source_documentation(rules: PackageRules, module: Module, name: str, ref: DeclarationRef) -> str:
    """Return documentation from the source of a declaration in a stub, as stubs have almost none."""
    if ref.text.path.suffix != ".pyi" or module.without_stubs:
        return ""
    source = rules.find_module(module.name, module.importer_folder, without_stubs=True)
    result = PackageSearch(rules).find(source, name.split(".")) if source else None
    return _find_documentation(result, [result]) if isinstance(result, DeclarationRef) else ""


def _find_constructor(rules: PackageRules, ref: DeclarationRef) -> str:
    traits, type_name = ref.text.language.packages, ref.declaration.name
    if fields := _generated_constructor(rules, ref) if traits.ecosystem is Ecosystem.PYPI else "":
        return fields
    if traits.constructor_prefix:
        constructor = PackageSearch(rules).find(ref.module, [f"{traits.constructor_prefix}{type_name}"])
        return _signature(constructor) if isinstance(constructor, DeclarationRef) else ""
    for name in traits.constructor_names:
        constructor = PackageSearch(rules).find_member(ref, [name])
        if isinstance(constructor, DeclarationRef):
            return _signature(find_overloads(PackageSearch(rules), constructor)[0])
    return ""


def _generated_constructor(rules: PackageRules, ref: DeclarationRef) -> str:
    """Return the parameters of a constructor that is generated from the fields of a class; empty for other classes."""
    head = ref.text.data[ref.declaration.start : ref.declaration.name_start]
    if not (
        FIELD_DECORATOR.search(head)
        or FIELD_BASES.intersection(base.rpartition(".")[2] for base in ref.declaration.bases)
    ):
        return ""
    search = PackageSearch(rules)
    if any(member.declaration.name == "__init__" for member in search.find_members(ref)):
        return ""
    fields_by_name: dict[str, str] = {}
    for base in search.find_bases(ref, MAX_HOPS)[:4]:
        fields_by_name |= _declared_fields(search, base)
    fields_by_name |= _declared_fields(search, ref)
    fields = [*list(fields_by_name.values())[:MAX_FIELDS], *(["…"] if len(fields_by_name) > MAX_FIELDS else [])]
    return f"({', '.join(fields)})"


def _declared_fields(search: PackageSearch, ref: DeclarationRef) -> dict[str, str]:
    fields: dict[str, str] = {}
    for member in search.find_members(ref):
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
