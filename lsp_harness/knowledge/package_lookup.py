"""From a name as a file imports it to its declaration in an installed package, whoever hands it on.

No types are known beyond those that are written: what a value has is looked for in the type that is written of it, or in the
class that it is made of.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.knowledge.js_exports import SCRIPTS
from lsp_harness.knowledge.package_module import Module, Rules, local
from lsp_harness.knowledge.package_source import Text
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS, Declaration, Import
from lsp_harness.text.position import decode

HOPS = 12
"""Modules, types and values that a name is followed through."""
STEPS = 1_000
"""Modules that are asked for one name."""
HOLDERS = TYPE_KINDS | {"module", "type"}
WORD = re.compile(r"[^\W\d]\w*")
PYTHON_VALUE = re.compile(
    r"[^=\n]*?(?::\s*(?P<type>[^=\n]+?)\s*)?=\s*(?:\w+\s*=\s*)*(?P<value>[^\W\d][\w.]*)\s*(?P<call>\()?"
)
PYTHON_TYPE = re.compile(r"[^=:\n]*:\s*(?:Final\[|ClassVar\[|type\[)?\s*[\"']?(?P<type>[\w.]+)")
SCRIPT_TYPEOF = re.compile(r"[\w$]+\s*[?!]?:\s*typeof\s+(?P<of>[\w.$]+)\s*(?:;|\Z)")
SCRIPT_TYPE = re.compile(r"[^:=(]*?[?!]?:\s*(?:typeof\s+)?(?P<type>[\w.$]+)")
VALUES = frozenset({"variable", "field", "constant"})


@dataclass(frozen=True, slots=True)
class Found:
    """A declaration, by its place in a text of a module."""

    module: Module
    text: Text
    n: int

    @property
    def one(self) -> Declaration:
        return self.text.declared[self.n]


Result = Found | Module
"""A name may be a module's."""


@dataclass(slots=True)
class Patience:
    """With one question and all that is asked for it: packages may lead in circles."""

    left: int = STEPS

    def ends(self) -> bool:
        """Counts one step."""
        self.left -= 1
        return self.left < 0


class Search:
    """One question; what was already followed is not followed again."""

    def __init__(self, rules: Rules, patience: Patience | None = None) -> None:
        self._rules = rules
        self._patience = patience or Patience()
        self._seen: set[tuple[str, tuple[str, ...]]] = set()
        self._tried: set[tuple[Path, int, tuple[str, ...]]] = set()

    def find(self, module: Module, chain: Sequence[str], hops: int = HOPS) -> Result | None:
        """What a chain of names means in a module."""
        if not chain:
            return module
        if self._patience.ends():
            return None
        first, *rest = chain
        again = (module.name, tuple(chain)) in self._seen
        self._seen.add((module.name, tuple(chain)))
        if hops > 0 and not again:
            for found in self._ways(module, first, rest, hops):
                if found:
                    return found
        inner = self._rules.inner(module, first)
        return self.find(inner, rest, hops - 1) if inner and hops > 0 else None

    def _ways(self, module: Module, first: str, rest: list[str], hops: int) -> Iterator[Result | None]:
        """What it may be, the likeliest first."""
        for text in module.texts:
            called = text.exports.get(first, first)
            if called != first and called not in ("", "default"):
                yield self.find(module, [*called.split("."), *rest], hops - 1)
            for n in text.top.get(called, ()):
                found = Found(module, text, n)
                yield self.beyond(found, rest, hops) if rest else self._itself(found, hops)
        for text, one in _imports(module):
            if (
                one.name != "*"
                and local(text.language.id, one) == first
                and (to := self._rules.target(module, text, one))
            ):
                yield self.find(to[0], [*([to[1]] if to[1] else []), *rest], hops - 1)
        for text in module.texts:
            if whole := text.exports.get("="):
                yield self._of_whole(module, text, whole, first, rest, hops)
        for text, one in _imports(module):
            if one.name == "*" and (to := self._rules.target(module, text, one)):
                yield self.find(to[0], [first, *rest], hops - 1)

    def _of_whole(
        self, module: Module, text: Text, whole: str, first: str, rest: list[str], hops: int
    ) -> Result | None:
        """A name of a module that is one value (`export = x`)."""
        if whole.startswith("require:"):
            to = self._rules.target(module, text, Import(whole[8:], "", "", 0))
            return self.find(to[0], [first, *rest], hops - 1) if to else None
        chain = whole.split(".")
        return self.find(module, chain if first == "default" and not rest else [*chain, first, *rest], hops - 1)

    def _itself(self, found: Found, hops: int) -> Result | None:
        """A declaration, or what it is another name of."""
        if found.text.language.id == "python" and found.one.kind in ("variable", "field"):
            match = PYTHON_VALUE.match(_text(found))
            if match and match["value"] and not match["call"] and not match["type"]:
                other = self.find(found.module, match["value"].split("."), hops - 1)
                if isinstance(other, Found) and other.one.kind not in VALUES:
                    return other
        if (
            found.text.language.id in SCRIPTS
            and found.one.kind in VALUES
            and (match := SCRIPT_TYPEOF.match(_text(found)))
        ):
            return self.find(found.module, match["of"].split("."), hops - 1) or found
        return found

    def beyond(self, found: Found, rest: list[str], hops: int = HOPS) -> Result | None:
        """A chain of names from a declaration on."""
        this = (found.text.path, found.n, tuple(rest))
        if hops <= 0 or this in self._tried:
            return None
        self._tried.add(this)
        if found.one.kind not in HOLDERS:
            held = self._held(found, hops) if found.one.kind in VALUES else None
            if isinstance(held, Module):
                return self.find(held, rest, hops - 1)
            return self.beyond(held, rest, hops - 1) if held and held != found else None
        first, *more = rest
        for member in self.members(found, first):
            # what has the same name may be a value or a type: one of them leads on
            if result := (self.beyond(member, more, hops - 1) if more else self._itself(member, hops)):
                return result
        for base in self.bases(found, hops):
            if result := self.beyond(base, rest, hops - 1):
                return result
        return None

    def members(self, found: Found, name: str = "") -> list[Found]:
        """What is declared of a type or namespace by that name, or at all, wherever in the module that is."""
        holders: list[Found] = []
        inside: list[Found] = []
        for text in found.module.texts:
            for n, one in enumerate(text.declared):
                same = text is found.text and n == found.n
                if same or (one.name == found.one.name and one.kind in HOLDERS and _merges(found, text, n)):
                    holders.append(Found(found.module, text, n))
                elif one.owner == found.one.name and name in ("", one.name):
                    inside.append(Found(found.module, text, n))
        for holder in sorted(holders, key=lambda one: one != found):
            inside += (
                Found(found.module, holder.text, m)
                for m in holder.text.within(holder.n)
                if name in ("", holder.text.declared[m].name)
            )
        return inside

    def bases(self, found: Found, hops: int) -> list[Found]:
        """The types that a type extends, as far as they are found."""
        own = [found.text.declared[found.n]]
        if found.text.language.id in SCRIPTS:
            own = [
                one
                for text in found.module.texts
                for one in text.declared
                if one.name == found.one.name and one.kind in TYPE_KINDS
            ]
        written = dict.fromkeys(base for one in own for base in one.bases)
        types = (self._type(found.module, base, hops) for base in written)
        return [one for one in types if one and one != found]

    def _held(self, found: Found, hops: int) -> Result | None:
        """The type of a value, as it is written, or the class it is made of."""
        text = _text(found)
        if found.text.language.id == "python":
            match = PYTHON_VALUE.match(text)
            if match and match["value"] and not match["type"]:
                return self.find(found.module, match["value"].split("."), hops - 1)
            match = PYTHON_TYPE.match(text)
            return self._type(found.module, match["type"], hops) if match else None
        if found.text.language.id in SCRIPTS:
            match = SCRIPT_TYPE.match(text)
            return self._type(found.module, match["type"], hops) if match else None
        return None

    def _type(self, module: Module, written: str, hops: int) -> Found | None:
        """A type by the name that is written of it: `other.Base[int]` is `Base` of `other`."""
        chain = WORD.findall(re.split(r"[\[<(]", written)[0])
        if not chain or hops <= 0:
            return None
        found = Search(self._rules, self._patience).find(module, chain, hops - 1)
        if isinstance(found, Found):
            return found
        for text in module.texts:
            for n, one in enumerate(text.declared):
                if one.name == chain[-1] and one.kind in TYPE_KINDS:
                    return Found(module, text, n)
        return None


def overloads(search: Search, found: Found) -> list[Found]:
    """The signatures that one name has, in order; the declaration itself where there is one."""
    same = [n for n, one in enumerate(found.text.declared) if one.name == found.one.name and _beside(one, found.one)]
    listed = [Found(found.module, found.text, n) for n in same]
    if found.text.language.id == "python":
        marked = [one for one in listed if b"overload" in found.text.data[one.one.start : one.one.name_start]]
        return marked or [found]
    return listed if found.text.language.id in SCRIPTS and found.one.kind in ("function", "method") else [found]


def _beside(one: Declaration, other: Declaration) -> bool:
    return (one.parent, one.kind, one.owner) == (other.parent, other.kind, other.owner)


def _merges(found: Found, text: Text, n: int) -> bool:
    """Whether a type of the same name is the same: in TypeScript and Rust they are declared in parts."""
    one = text.declared[n]
    if found.text.language.id in SCRIPTS:
        return n in text.top.get(one.name, ()) or one.parent == found.one.parent
    return found.text.language.id == "rust"


def _imports(module: Module) -> Iterable[tuple[Text, Import]]:
    return [(text, one) for text in module.texts for one in text.imports]


def _text(found: Found) -> str:
    return decode(found.text.data[found.one.name_start : min(found.one.end, found.one.name_start + 500)])
