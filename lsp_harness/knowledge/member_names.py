"""Which names a module or class has, where all of them can be told from its text."""

import re

from lsp_harness.knowledge.js_exports import SCRIPTS
from lsp_harness.knowledge.package_lookup import HOPS, Found, Result, Search
from lsp_harness.knowledge.package_module import Module, Rules, local
from lsp_harness.knowledge.package_source import Text
from lsp_harness.text.position import decode, encode

UNTOLD = re.compile(rb"__getattr__|\bglobal_enum\b|\bglobals\(\)|sys\.modules|\bsetattr\(|\b__getattribute__")
"""What makes names that no text has."""
OWN = re.compile(rb"\bself\.(\w+)")
MODULES = 400
"""That hand on their names to one."""
FEW = 4
"""Bases of a class; of one that has more nothing is said."""
ALL_HAVE = frozenset({"object", "ABC", "Generic", "Protocol"})


def names_of(rules: Rules, holder: Result) -> set[str] | None:
    """All of its names; None where there may be more than the text says."""
    if isinstance(holder, Module):
        return _of_module(rules, holder, set())
    return _of_class(rules, holder, HOPS, set()) if holder.text.language.id == "python" else None


def mentions(holder: Result, name: str) -> bool:
    """Whether the name is anywhere in the files: there are more ways to make a name than to declare it."""
    texts = holder.texts if isinstance(holder, Module) else (holder.text,)
    word = re.compile(rb"\b%s\b" % re.escape(encode(name)))
    return any(word.search(text.data) for text in texts)


def _of_module(rules: Rules, module: Module, seen: set[str]) -> set[str] | None:
    if not module.texts or len(seen) > MODULES or not all(_is_told(text) for text in module.texts):
        return None
    seen.add(module.name)
    found: set[str] = set()
    for text in module.texts:
        found.update(text.top, text.exports)
        # `import * as all` and the default
        for one in text.imports if text.language.id != "go" else ():
            if one.name != "*":
                found.add(local(text.language.id, one))
                continue
            to = rules.target(module, text, one)
            if to and to[0].name in seen:
                continue
            inner = _of_module(rules, to[0], seen) if to else None
            if inner is None:
                return None
            found |= inner
    if module.texts[0].language.id == "go":
        return {name for name in found if name[:1].isupper()}
    return found


def _of_class(rules: Rules, found: Found, hops: int, seen: set[str]) -> set[str] | None:
    one = found.one
    body = found.text.data[one.start : one.end]
    if (
        one.kind != "class"
        or hops <= 0
        or len(one.bases) > FEW
        or UNTOLD.search(body)
        or found.text.data[one.start : one.start + 1] == b"@"
    ):
        return None
    seen.add(f"{found.text.path}:{found.n}")
    names = {member.one.name for member in Search(rules).members(found)} | {decode(own) for own in OWN.findall(body)}
    bases = [base for base in one.bases if base.split("[")[0].rpartition(".")[2] not in ALL_HAVE]
    held = Search(rules).bases(found, hops)
    if len(held) < len(bases):
        return None
    for base in held:
        if f"{base.text.path}:{base.n}" in seen:
            continue
        inner = _of_class(rules, base, hops - 1, seen)
        if inner is None:
            return None
        names |= inner
    return names


def _is_told(text: Text) -> bool:
    """Whether this kind of file says all that is in it."""
    if text.language.id == "python":
        return not UNTOLD.search(text.data)
    if text.language.id in SCRIPTS:
        # a value that is the whole module has what its type has
        return text.path.suffix in (".ts", ".mts", ".cts") and "=" not in text.exports
    return text.language.id == "go"
