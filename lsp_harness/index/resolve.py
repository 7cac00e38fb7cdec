"""What a name at a place of a text means, and where else that is meant: as well as imports and declarations tell.

No types are known. A name behind a dot is looked for in what is before the dot where that is a module, a type or the object
itself; behind anything else it is one of the few members of that name in the workspace, or nothing is said.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lsp_harness.index.view import Symbol, View
from lsp_harness.syntax.declarations import TYPES, Declaration
from lsp_harness.text.position import decode, encode

OPEN = frozenset({"java", "csharp", "cpp", "ruby"})
"""Languages in which members of a type are seen in its functions without saying of what."""
FAR = 8
"""Types that a member is looked for in, each extending the next."""
SELF = frozenset({"self", "cls", "this", "Self"})
SUPER = frozenset({"super", "super()"})
MEMBERS = frozenset({"method", "field", "property", "member", "constructor"})
WIDE = 400
"""Bytes of a line on either side of a place that are looked at: a minified file is one line."""
FEW = 8
"""Members of the same name behind an unknown thing, above which nothing is said of which it is."""
WORD = re.compile(r"[^\W\d]\w*")
BEFORE = re.compile(r"((?:[^\W\d]\w*(?:\(\))?\s*(?:\.|::|->)\s*)+)\Z")
PART = re.compile(r"[^\W\d]\w*(?:\(\))?")


@dataclass(frozen=True, slots=True)
class Name:
    """A name at byte `start` of a text, and what is before it with dots between."""

    text: str
    start: int
    before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Meant:
    """A declaration: by its place in the text that was asked about, or a symbol of another file."""

    here: int = -1
    there: Symbol | None = None


def name_at(data: bytes, offset: int) -> Name | None:
    """The name that a cursor is in or right behind."""
    begin = data.rfind(b"\n", max(0, offset - WIDE), offset) + 1 or max(0, offset - WIDE)
    end = data.find(b"\n", offset, offset + WIDE)
    line, column = decode(data[begin : end if end >= 0 else offset + WIDE]), len(decode(data[begin:offset]))
    found = next((word for word in WORD.finditer(line) if word.start() <= column <= word.end()), None)
    if found is None:
        return None
    before = BEFORE.search(line[: found.start()])
    parts = tuple(PART.findall(before[1])) if before else ()
    return Name(found[0], begin + len(encode(line[: found.start()])), parts)


@dataclass(frozen=True, slots=True)
class Text:
    """A text of the workspace: its path there, its language, and what it declares as it is now."""

    path: str
    language: str
    declared: Sequence[Declaration]


def meant(view: View, text: Text, name: Name) -> list[Meant]:
    """The declarations that a name in a text means; none where that cannot be told."""
    if not name.before:
        return _visible(text, name) or [Meant(there=one) for one in view.defined(text.path, name.text)]
    if found := _behind(view, text, name, FAR):
        return found
    named = [one for one in view.named(name.text, FEW + 1) if one.kind in MEMBERS]
    return [Meant(there=one) for one in named] if len(named) <= FEW else []


def _visible(text: Text, name: Name) -> list[Meant]:
    """Declarations of the text by that name: in the innermost scope around the place that has one."""
    best, found = -2, list[Meant]()
    for n, one in enumerate(text.declared):
        around = text.declared[one.parent] if one.parent >= 0 else None
        seen = around is None or (
            around.start <= name.start < around.end and (around.kind not in TYPES or text.language in OPEN)
        )
        if one.name != name.text or not (seen or one.named == name.start):
            continue
        if one.parent > best:
            best, found = one.parent, []
        if one.parent == best:
            found.append(Meant(n))
    return found


def _behind(view: View, text: Text, name: Name, far: int) -> list[Meant]:
    """What a name behind a dot means, where what is before the dot is the object itself, a module or a type."""
    *outer, last = name.before
    if last in SELF | SUPER:
        around = [n for n, one in enumerate(text.declared) if one.kind in TYPES and one.start <= name.start < one.end]
        look = _inside if last in SELF else _inherited
        return look(view, text, around[-1], name.text, far) if around else []
    found = [Meant(there=one) for one in view.of_module(text.path, last, name.text)]
    if not found and not outer:
        for type_ in _visible(text, Name(last, name.start)) or map(_there, view.defined(text.path, last)):
            found += _members(view, text, type_, name.text, far)
    return found


def _there(symbol: Symbol) -> Meant:
    return Meant(there=symbol)


def _inside(view: View, text: Text, type_: int, name: str, far: int) -> list[Meant]:
    """The members of a type of the text, or of what it extends."""
    own = [Meant(n) for n, one in enumerate(text.declared) if one.parent == type_ and one.name == name]
    return own or _inherited(view, text, type_, name, far)


def _inherited(view: View, text: Text, type_: int, name: str, far: int) -> list[Meant]:
    """The members of what a type of the text extends."""
    found: list[Meant] = []
    for base in text.declared[type_].bases if far else ():
        *before, last = _type(base)
        word = Name(last, text.declared[type_].start, tuple(before))
        for one in meant(view, text, word) if not before else _behind(view, text, word, far - 1):
            if one.here != type_:
                found += _members(view, text, one, name, far - 1)
    return found


def _members(view: View, text: Text, type_: Meant, name: str, far: int) -> list[Meant]:
    if type_.here >= 0:
        return _inside(view, text, type_.here, name, far) if text.declared[type_.here].kind in TYPES else []
    symbol = type_.there
    if symbol is None or symbol.kind not in TYPES:
        return []
    found = [Meant(there=one) for one in view.members(symbol) if one.name == name]
    if found or far == 0:
        return found
    bases = [base for written in symbol.bases for base in view.seen(symbol.file, _type(written)[-1])]
    return [one for base in bases for one in _members(view, text, Meant(there=base), name, far - 1)]


def _type(written: str) -> list[str]:
    """The names of a type that is extended: `other.Base[int]` is `other` and `Base`."""
    return WORD.findall(re.split(r"[\[<(]", written)[0]) or [written]
