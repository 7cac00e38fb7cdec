"""The names of a module or class, if its text tells all of them."""

import re

from lsp_harness.knowledge.package_lookup import MAX_HOPS, DeclarationRef, PackageSearch, Result
from lsp_harness.knowledge.package_source import Module, PackageRules, PackageText, local_name
from lsp_harness.languages.traits import Ecosystem
from lsp_harness.text.position import decode, encode

DYNAMIC_NAMES = re.compile(rb"__getattr__|\bglobal_enum\b|\bglobals\(\)|sys\.modules|\bsetattr\(|\b__getattribute__")
"""Matches code that creates names at run time."""
SELF_ATTRIBUTE = re.compile(rb"\bself\.(\w+)")
MAX_MODULES = 400
"""Largest number of modules that a module may import all names from."""
MAX_BASES = 4
"""Largest number of bases of a class whose names are listed."""
UNIVERSAL_BASES = frozenset({"object", "ABC", "Generic", "Protocol"})
"""Bases without members that matter here."""


def find_names(rules: PackageRules, holder: Result) -> set[str] | None:
    """Return all names of a module or class, or None if it may have more names than the text tells."""
    if isinstance(holder, Module):
        return _find_module_names(rules, holder, set())
    return (
        _find_class_names(rules, holder, MAX_HOPS, set())
        if holder.text.language.packages.ecosystem is Ecosystem.PYPI
        else None
    )


def mentions_name(holder: Result, name: str) -> bool:
    """Return whether a name is anywhere in the files: code can create names without a declaration."""
    texts = holder.texts if isinstance(holder, Module) else (holder.text,)
    word = re.compile(rb"\b%s\b" % re.escape(encode(name)))
    return any(word.search(text.data) for text in texts)


def _find_module_names(rules: PackageRules, module: Module, visited: set[str]) -> set[str] | None:
    if not module.texts or len(visited) > MAX_MODULES or not all(_lists_all_names(text) for text in module.texts):
        return None
    visited.add(module.name)
    names: set[str] = set()
    for text in module.texts:
        names.update(text.top_level, text.exports)
        # This includes `import * as all` and the default import.
        for imported in text.imports if text.language.packages.ecosystem is not Ecosystem.GO_MODULES else ():
            if imported.name != "*":
                names.add(local_name(text.language, imported))
                continue
            target = rules.find_target(module, text, imported)
            if target and target[0].name in visited:
                continue
            target_names = _find_module_names(rules, target[0], visited) if target else None
            if target_names is None:
                return None
            names |= target_names
    if module.texts[0].language.packages.ecosystem is Ecosystem.GO_MODULES:
        return {name for name in names if name[:1].isupper()}
    return names


def _find_class_names(rules: PackageRules, ref: DeclarationRef, hops: int, visited: set[str]) -> set[str] | None:
    declaration = ref.declaration
    body = ref.text.data[declaration.start : declaration.end]
    if (
        declaration.kind != "class"
        or hops <= 0
        or len(declaration.bases) > MAX_BASES
        or DYNAMIC_NAMES.search(body)
        or ref.text.data[declaration.start : declaration.start + 1] == b"@"
    ):
        return None
    visited.add(f"{ref.text.path}:{ref.index}")
    names = {member.declaration.name for member in PackageSearch(rules).find_members(ref)} | {
        decode(attribute) for attribute in SELF_ATTRIBUTE.findall(body)
    }
    bases = [base for base in declaration.bases if base.split("[")[0].rpartition(".")[2] not in UNIVERSAL_BASES]
    found_bases = PackageSearch(rules).find_bases(ref, hops)
    if len(found_bases) < len(bases):
        return None
    for base in found_bases:
        if f"{base.text.path}:{base.index}" in visited:
            continue
        base_names = _find_class_names(rules, base, hops - 1, visited)
        if base_names is None:
            return None
        names |= base_names
    return names


def _lists_all_names(text: PackageText) -> bool:
    """Return whether this kind of file declares all its names."""
    match text.language.packages.ecosystem:
        case Ecosystem.PYPI:
            return not DYNAMIC_NAMES.search(text.data)
        case Ecosystem.NPM:
            # A value that is the whole module has the members of its type.
            return text.path.suffix in (".ts", ".mts", ".cts") and "=" not in text.exports
        case ecosystem:
            return ecosystem is Ecosystem.GO_MODULES
