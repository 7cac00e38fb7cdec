"""Lookup of a name in an installed package: from an import to the declaration, through all modules that hand the name
on.

Only written types are known: members of a value are searched in its annotation or in the class that is called.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.knowledge.package_source import Module, PackageRules, PackageText, local_name
from lsp_harness.languages.traits import Ecosystem
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS, Declaration, Import
from lsp_harness.text.position import decode

MAX_HOPS = 12
"""Number of modules, types and values through which a name is followed."""
MAX_STEPS = 1_000
"""Number of modules that are searched for one name."""
HOLDER_KINDS = TYPE_KINDS | {"module", "type"}
WORD = re.compile(r"[^\W\d]\w*")
PYTHON_VALUE = re.compile(
    r"[^=\n]*?(?::\s*(?P<type>[^=\n]+?)\s*)?=\s*(?:\w+\s*=\s*)*(?P<value>[^\W\d][\w.]*)\s*(?P<call>\()?"
)
PYTHON_TYPE = re.compile(r"[^=:\n]*:\s*(?:Final\[|ClassVar\[|type\[)?\s*[\"']?(?P<type>[\w.]+)")
SCRIPT_TYPEOF = re.compile(r"[\w$]+\s*[?!]?:\s*typeof\s+(?P<of>[\w.$]+)\s*(?:;|\Z)")
SCRIPT_TYPE = re.compile(r"[^:=(]*?[?!]?:\s*(?:typeof\s+)?(?P<type>[\w.$]+)")
VALUE_KINDS = frozenset({"variable", "field", "constant"})


@dataclass(frozen=True, slots=True)
class DeclarationRef:
    """A declaration, by its index in a text of a module."""

    module: Module
    text: PackageText
    index: int

    @property
    def declaration(self) -> Declaration:
        """The declaration itself."""
        return self.text.declarations[self.index]


Result = DeclarationRef | Module
"""A name means a declaration or a module."""


@dataclass(slots=True)
class StepBudget:
    """The number of steps that one lookup may take, as packages may import each other in cycles."""

    steps_left: int = MAX_STEPS

    def spend_step(self) -> bool:
        """Count one step and return whether the budget is spent."""
        self.steps_left -= 1
        return self.steps_left < 0


class PackageSearch:
    """One lookup of a name in installed packages. It follows no import twice."""

    def __init__(self, rules: PackageRules, budget: StepBudget | None = None) -> None:
        self._rules = rules
        self._budget = budget or StepBudget()
        self._visited_chains: set[tuple[str, tuple[str, ...]]] = set()
        self._visited_members: set[tuple[Path, int, tuple[str, ...]]] = set()

    def find(self, module: Module, chain: Sequence[str], hops: int = MAX_HOPS) -> Result | None:
        """Return what a chain of names means in a module, or None."""
        if not chain:
            return module
        if self._budget.spend_step():
            return None
        first, *rest = chain
        was_visited = (module.name, tuple(chain)) in self._visited_chains
        self._visited_chains.add((module.name, tuple(chain)))
        if hops > 0 and not was_visited:
            for result in self._find_candidates(module, first, rest, hops):
                if result:
                    return result
        submodule = self._rules.find_submodule(module, first)
        return self.find(submodule, rest, hops - 1) if submodule and hops > 0 else None

    def _find_candidates(self, module: Module, first: str, rest: list[str], hops: int) -> Iterator[Result | None]:
        """Yield possible results, the most likely first."""
        for text in module.texts:
            declared_name = text.exports.get(first, first)
            if declared_name != first and declared_name not in ("", "default"):
                yield self.find(module, [*declared_name.split("."), *rest], hops - 1)
            for index in text.top_level.get(declared_name, ()):
                ref = DeclarationRef(module, text, index)
                yield self.find_member(ref, rest, hops) if rest else self._follow_alias(ref, hops)
        for text, imported in _list_imports(module):
            if (
                imported.name != "*"
                and local_name(text.language, imported) == first
                and (target := self._rules.find_target(module, text, imported))
            ):
                yield self.find(target[0], [*([target[1]] if target[1] else []), *rest], hops - 1)
        for text in module.texts:
            if exported_value := text.exports.get("="):
                yield self._find_in_exported_value(module, text, exported_value, first, rest, hops)
        for text, imported in _list_imports(module):
            if imported.name == "*" and (target := self._rules.find_target(module, text, imported)):
                yield self.find(target[0], [first, *rest], hops - 1)

    def _find_in_exported_value(
        self, module: Module, text: PackageText, exported_value: str, first: str, rest: list[str], hops: int
    ) -> Result | None:
        """Return a name of a module that consists of one value (`export = x`)."""
        if exported_value.startswith("require:"):
            target = self._rules.find_target(module, text, Import(exported_value[8:], "", "", 0))
            return self.find(target[0], [first, *rest], hops - 1) if target else None
        chain = exported_value.split(".")
        return self.find(module, chain if first == "default" and not rest else [*chain, first, *rest], hops - 1)

    def _follow_alias(self, ref: DeclarationRef, hops: int) -> Result | None:
        """Return the declaration that a value is an alias of, or else the value itself."""
        if ref.text.language.packages.ecosystem is Ecosystem.PYPI and ref.declaration.kind in ("variable", "field"):
            match = PYTHON_VALUE.match(_declaration_text(ref))
            if match and match["value"] and not match["call"] and not match["type"]:
                aliased = self.find(ref.module, match["value"].split("."), hops - 1)
                if isinstance(aliased, DeclarationRef) and aliased.declaration.kind not in VALUE_KINDS:
                    return aliased
        if (
            ref.text.language.packages.ecosystem is Ecosystem.NPM
            and ref.declaration.kind in VALUE_KINDS
            and (match := SCRIPT_TYPEOF.match(_declaration_text(ref)))
        ):
            return self.find(ref.module, match["of"].split("."), hops - 1) or ref
        return ref

    def find_member(self, ref: DeclarationRef, chain: list[str], hops: int = MAX_HOPS) -> Result | None:
        """Return what a chain of names means after a declaration, or None."""
        visit = (ref.text.path, ref.index, tuple(chain))
        if hops <= 0 or visit in self._visited_members:
            return None
        self._visited_members.add(visit)
        if ref.declaration.kind not in HOLDER_KINDS:
            value_type = self._find_value_type(ref, hops) if ref.declaration.kind in VALUE_KINDS else None
            if isinstance(value_type, Module):
                return self.find(value_type, chain, hops - 1)
            return self.find_member(value_type, chain, hops - 1) if value_type and value_type != ref else None
        first, *rest = chain
        for member in self.find_members(ref, first):
            # Members of the same name may be values or types. The first one that leads on is used.
            if result := (self.find_member(member, rest, hops - 1) if rest else self._follow_alias(member, hops)):
                return result
        for base in self.find_bases(ref, hops):
            if result := self.find_member(base, chain, hops - 1):
                return result
        return None

    def find_members(self, ref: DeclarationRef, name: str = "") -> list[DeclarationRef]:
        """Return the members of a type or namespace with this name, or all, wherever the module declares them."""
        holders: list[DeclarationRef] = []
        members: list[DeclarationRef] = []
        for text in ref.module.texts:
            for index, declaration in enumerate(text.declarations):
                is_found = text is ref.text and index == ref.index
                if is_found or (
                    declaration.name == ref.declaration.name
                    and declaration.kind in HOLDER_KINDS
                    and _is_part_of_same_type(ref, text, index)
                ):
                    holders.append(DeclarationRef(ref.module, text, index))
                elif declaration.owner == ref.declaration.name and name in ("", declaration.name):
                    members.append(DeclarationRef(ref.module, text, index))
        for holder in sorted(holders, key=lambda declaration: declaration != ref):
            members += (
                DeclarationRef(ref.module, holder.text, child)
                for child in holder.text.find_children(holder.index)
                if name in ("", holder.text.declarations[child].name)
            )
        return members

    def find_bases(self, ref: DeclarationRef, hops: int) -> list[DeclarationRef]:
        """Return the base types of a type that can be found."""
        parts = [ref.text.declarations[ref.index]]
        if ref.text.language.packages.ecosystem is Ecosystem.NPM:
            parts = [
                declaration
                for text in ref.module.texts
                for declaration in text.declarations
                if declaration.name == ref.declaration.name and declaration.kind in TYPE_KINDS
            ]
        base_names = dict.fromkeys(base for declaration in parts for base in declaration.bases)
        types = (self._find_type(ref.module, base, hops) for base in base_names)
        return [declaration for declaration in types if declaration and declaration != ref]

    def _find_value_type(self, ref: DeclarationRef, hops: int) -> Result | None:
        """Return the annotated type of a value, or the class that creates it."""
        text = _declaration_text(ref)
        if ref.text.language.packages.ecosystem is Ecosystem.PYPI:
            match = PYTHON_VALUE.match(text)
            if match and match["value"] and not match["type"]:
                return self.find(ref.module, match["value"].split("."), hops - 1)
            match = PYTHON_TYPE.match(text)
            return self._find_type(ref.module, match["type"], hops) if match else None
        if ref.text.language.packages.ecosystem is Ecosystem.NPM:
            match = SCRIPT_TYPE.match(text)
            return self._find_type(ref.module, match["type"], hops) if match else None
        return None

    def _find_type(self, module: Module, type_text: str, hops: int) -> DeclarationRef | None:
        """Return a type by its written name: `Base` of `other` for `other.Base[int]`."""
        chain = WORD.findall(re.split(r"[\[<(]", type_text)[0])
        if not chain or hops <= 0:
            return None
        result = PackageSearch(self._rules, self._budget).find(module, chain, hops - 1)
        if isinstance(result, DeclarationRef):
            return result
        for text in module.texts:
            for index, declaration in enumerate(text.declarations):
                if declaration.name == chain[-1] and declaration.kind in TYPE_KINDS:
                    return DeclarationRef(module, text, index)
        return None


def find_overloads(search: PackageSearch, ref: DeclarationRef) -> list[DeclarationRef]:
    """Return the overloads of a function in order, or the declaration itself if there are none."""
    indexes = [
        index
        for index, declaration in enumerate(ref.text.declarations)
        if declaration.name == ref.declaration.name and _are_siblings(declaration, ref.declaration)
    ]
    siblings = [DeclarationRef(ref.module, ref.text, index) for index in indexes]
    if ref.text.language.packages.ecosystem is Ecosystem.PYPI:
        decorated = [
            declaration
            for declaration in siblings
            if b"overload" in ref.text.data[declaration.declaration.start : declaration.declaration.name_start]
        ]
        return decorated or [ref]
    return (
        siblings
        if ref.text.language.packages.ecosystem is Ecosystem.NPM and ref.declaration.kind in ("function", "method")
        else [ref]
    )


def _are_siblings(declaration: Declaration, other: Declaration) -> bool:
    return (declaration.parent, declaration.kind, declaration.owner) == (other.parent, other.kind, other.owner)


def _is_part_of_same_type(ref: DeclarationRef, text: PackageText, index: int) -> bool:
    """Return whether a type of the same name is the same type: TypeScript and Rust declare types in parts."""
    declaration = text.declarations[index]
    if ref.text.language.packages.ecosystem is Ecosystem.NPM:
        return index in text.top_level.get(declaration.name, ()) or declaration.parent == ref.declaration.parent
    return ref.text.language.packages.ecosystem is Ecosystem.CRATES


def _list_imports(module: Module) -> Iterable[tuple[PackageText, Import]]:
    return [(text, imported) for text in module.texts for imported in text.imports]


def _declaration_text(ref: DeclarationRef) -> str:
    return decode(
        ref.text.data[ref.declaration.name_start : min(ref.declaration.end, ref.declaration.name_start + 500)]
    )
