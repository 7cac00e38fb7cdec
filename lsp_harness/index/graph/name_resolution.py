"""What a name at a place of a text means, and where else that is meant: as well as imports and declarations tell.

No types are inferred. A name behind a dot is looked for in what is before the dot where that is a module, a type or the object
itself, or has a type that is written; behind anything else it is one of the few members of that name in the workspace, or nothing
is said.
"""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from lsp_harness.index.graph.declared_types import SHORT, given, written
from lsp_harness.index.index_view import Symbol, View
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS, Declaration
from lsp_harness.syntax.symbols.name_uses import MAX_LINE_BYTES
from lsp_harness.text.position import decode, encode

OPEN = frozenset({"java", "csharp", "cpp", "ruby"})
"""Languages in which members of a type are seen in its functions without saying of what."""
FAR = 8
"""Types that a member is looked for in, each extending the next."""
SELF = frozenset({"self", "cls", "this", "Self"})
SUPER = frozenset({"super", "super()"})
MEMBERS = frozenset({"method", "field", "property", "member", "constructor"})
FIELDS = frozenset({"field", "property", "variable", "constant"})
FEW = 8
"""Members of the same name behind an unknown thing, above which nothing is said of which it is."""
WORD = re.compile(r"[^\W\d]\w*")
BEFORE = re.compile(r"((?:[^\W\d]\w*(?:\(\))?\s*(?:\.|::|->)\s*)+)\Z")
PART = re.compile(r"[^\W\d]\w*(?:\(\))?")


@dataclass(frozen=True, slots=True)
class Name:
    """A name at byte `start` of a text, and what is before it with dots between. What is meant is declared from the byte `own` on."""

    text: str
    start: int
    before: tuple[str, ...] = ()
    own: int = -1


@dataclass(frozen=True, slots=True)
class Meant:
    """A declaration: by its place in the text that was asked about, or a symbol of another file."""

    here: int = -1
    there: Symbol | None = None


def name_at(data: bytes, offset: int) -> Name | None:
    """The name that a cursor is in or right behind."""
    begin = data.rfind(b"\n", max(0, offset - MAX_LINE_BYTES), offset) + 1 or max(0, offset - MAX_LINE_BYTES)
    end = data.find(b"\n", offset, offset + MAX_LINE_BYTES)
    line, column = decode(data[begin : end if end >= 0 else offset + MAX_LINE_BYTES]), len(decode(data[begin:offset]))
    found = next((word for word in WORD.finditer(line) if word.start() <= column <= word.end()), None)
    if found is None:
        return None
    before = BEFORE.search(line[: found.start()])
    parts = tuple(PART.findall(before[1])) if before else ()
    return Name(found[0], begin + len(encode(line[: found.start()])), parts)


@dataclass(frozen=True, slots=True)
class Text:
    """A text of the workspace: its path there, its language, and what it declares as it is now. Without `data` no types are read."""

    path: str
    language: str
    declared: Sequence[Declaration]
    data: bytes = b""


def meant(view: View, text: Text, name: Name, far: int = FAR) -> list[Meant]:
    """The declarations that a name in a text means; none where that cannot be told."""
    return told(view, text, name, far) or guessed(view, name)


def told(view: View, text: Text, name: Name, far: int = FAR) -> list[Meant]:
    """Those that imports, declarations and written types lead to, over `far` types: nothing is said of an equal name."""
    if not name.before:
        found = _visible(text, name)
        if name.own >= 0:
            return [one for one in found if text.declared[one.here].start >= name.own]
        return (
            found or _of_self(view, text, name, far) or [Meant(there=one) for one in view.defined(text.path, name.text)]
        )
    return _behind(view, text, name, far)


def _of_self(view: View, text: Text, name: Name, far: int) -> list[Meant]:
    """What the types around a place inherit, in languages that need not say of what."""
    around = [n for n, one in enumerate(text.declared) if one.kind in TYPE_KINDS and one.start <= name.start < one.end]
    # where a type itself is named, what it extends is not asked
    inner = [n for n in around if text.declared[n].body_start <= name.start] if text.language in OPEN else []
    for n in reversed(inner):
        found = _inherited(view, text, n, name.text, far)
        # a type is not inherited with what makes it
        if found := [one for one in found if _kind(text, one) != "constructor"]:
            return found
    return []


def guessed(view: View, name: Name) -> list[Meant]:
    """The members of a name that is behind something nobody knows, where they are few."""
    named = view.named(name.text, FEW + 1, MEMBERS) if name.before else []
    return [Meant(there=one) for one in named] if len(named) <= FEW else []


def _visible(text: Text, name: Name) -> list[Meant]:
    """Declarations of the text by that name: in the innermost scope around the place that has one."""
    best, found = -2, list[Meant]()
    for n, one in enumerate(text.declared):
        around = text.declared[one.parent] if one.parent >= 0 else None
        seen = around is None or (
            around.start <= name.start < around.end and (around.kind not in TYPE_KINDS or text.language in OPEN)
        )
        if one.name != name.text or not (seen or one.name_start == name.start):
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
        around = [
            n for n, one in enumerate(text.declared) if one.kind in TYPE_KINDS and one.start <= name.start < one.end
        ]
        look = _inside if last in SELF else _inherited
        return look(view, text, around[-1], name.text, far) if around else []
    found = [Meant(there=one) for one in view.of_module(text.path, last, name.text)]
    if not found and not outer:
        for type_ in _visible(text, Name(last, name.start)) or map(_there, view.defined(text.path, last)):
            found += _members(view, text, type_, name.text, far)
    if not found and text.data and far:
        for type_ in _types(view, text, name.before, name.start, far - 1):
            found += _members(view, text, type_, name.text, far - 1)
    return [*dict.fromkeys(found)]


def _types(view: View, text: Text, chain: Sequence[str], start: int, far: int) -> list[Meant]:
    """The types that a chain of names at a place may have, as far as they are written."""
    *outer, last = chain
    if far == 0:
        return []
    name = Name(last.removesuffix("()"), start, tuple(outer))
    if not last.endswith("()"):
        said = [one for each, called in _said(text, name) for one in written(each, called, text.language)]
        if not said:
            return [type_ for one, at in _handed(text, name) for type_ in _types(view, text, (one,), at, far - 1)]
    elif outer and name.text == "new":
        said = [tuple(outer)]
    else:
        meant = told(view, text, name, far - 1)
        made = [one for one in meant if _kind(text, one) in TYPE_KINDS]
        return made or [one for each in meant for one in _given(view, text, each, far - 1)]
    return [type_ for one in said if one != tuple(chain) for type_ in _of_written(view, text, one, start, far - 1)]


def _of_written(view: View, text: Text, chain: Sequence[str], start: int, far: int) -> list[Meant]:
    """The types that are called so, or those of what such a call gives."""
    if chain[-1].endswith("()"):
        return _types(view, text, chain, start, far)
    *outer, last = chain
    name = Name(last, start, tuple(outer))
    found = told(view, text, name, far)
    return [one for one in found if _kind(text, one) in TYPE_KINDS]


def _given(view: View, text: Text, one: Meant, far: int) -> list[Meant]:
    """The types of what a function gives, as they are seen where it is declared."""
    if one.there:
        chains = given(view.signature(one.there), one.there.name, one.there.language)
        return [_there(it) for chain in chains for it in view.seen(one.there.file, chain[-1]) if it.kind in TYPE_KINDS]
    it = text.declared[one.here]
    chains = given(decode(text.data[it.start : it.body_start]), it.name, text.language)
    return [type_ for chain in chains for type_ in _of_written(view, text, chain, it.start, far)]


def _said(text: Text, name: Name) -> Iterator[tuple[str, str]]:
    """The pieces of a text in which the type of a name is written, the nearest first, and what it is called there."""
    types = _around(text, name, TYPE_KINDS)
    if name.before and not (_of_object(name) and types):
        return
    if name.before:
        own = f"own {name.text}".replace(" ", "_")
        whole = decode(text.data[types[-1].start : types[-1].end])
        yield re.sub(rf"\b(?:self|this)(?:\.|->){re.escape(name.text)}\b", own, whole), own
    elif functions := [one for one in _around(text, name) if one.kind not in TYPE_KINDS | FIELDS]:
        yield decode(text.data[functions[-1].start : functions[-1].end]), name.text
    else:
        yield _outside(text, name.start), name.text
    inner = [one for one in text.declared if types and one.parent >= 0 and text.declared[one.parent] == types[-1]]
    seen = [] if name.before else [text.declared[one.here] for one in _visible(text, name)]
    for one in (*inner, *seen):
        if one.name.lstrip("$") == name.text and one.kind in FIELDS:
            yield _line(text.data, one), name.text
        elif name.before and one.name in ("constructor", "__construct"):
            # a parameter may be a field
            yield decode(text.data[one.start : one.body_start]), name.text


def _handed(text: Text, name: Name) -> Iterator[tuple[str, int]]:
    """The names that a name is set to, where it is set to nothing else, and where they are."""
    around = _around(text, name, TYPE_KINDS) if name.before else _around(text, name)
    if not around or (name.before and not _of_object(name)):
        return
    whole = decode(text.data[around[-1].start : around[-1].end])
    before = r"\b(?:self|this)(?:\.|->)" if name.before else r"(?<![\w.])"
    set_to = rf"{before}{re.escape(name.text)}\s*(?::[^=\n]{{0,{SHORT}}})?:?=\s*([^\W\d]\w*)[^\S\n]*+;?[^\S\n]*+$"
    for match in re.finditer(set_to, whole, re.MULTILINE):
        if match[1] != name.text or name.before:
            yield match[1], around[-1].start + len(encode(whole[: match.start(1)]))


def _around(text: Text, name: Name, kinds: AbstractSet[str] | None = None) -> list[Declaration]:
    return [one for one in text.declared if one.start <= name.start < one.end and (kinds is None or one.kind in kinds)]


def _of_object(name: Name) -> bool:
    return len(name.before) == 1 and name.before[0] in SELF


def _outside(text: Text, until: int) -> str:
    """What stands in no function or type before a place."""
    at, found = 0, list[str]()
    for one in text.declared:
        if one.parent < 0 and one.kind not in FIELDS and at <= one.start < until:
            found.append(decode(text.data[at : one.start]))
            at = one.end
    return "\n".join([*found, decode(text.data[at:until])])


def _line(data: bytes, one: Declaration) -> str:
    """A field may be declared by no more than its name."""
    end = data.find(b"\n", one.end)
    return decode(data[data.rfind(b"\n", 0, one.start) + 1 : end if end >= 0 else len(data)])


def _kind(text: Text, one: Meant) -> str:
    return one.there.kind if one.there else text.declared[one.here].kind


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
        for one in meant(view, text, word, far - 1) if not before else _behind(view, text, word, far - 1):
            if one.here != type_:
                found += _members(view, text, one, name, far - 1)
    return found


def _members(view: View, text: Text, type_: Meant, name: str, far: int) -> list[Meant]:
    if type_.here >= 0:
        return _inside(view, text, type_.here, name, far) if text.declared[type_.here].kind in TYPE_KINDS else []
    symbol = type_.there
    if symbol is None or symbol.kind not in TYPE_KINDS:
        return []
    found = [Meant(there=one) for one in view.members(symbol) if one.name == name]
    if found or far == 0:
        return found
    bases = [base for written in symbol.bases for base in view.seen(symbol.file, _type(written)[-1])]
    return [one for base in bases for one in _members(view, text, Meant(there=base), name, far - 1)]


def _type(written: str) -> list[str]:
    """The names of a type that is extended: `other.Base[int]` is `other` and `Base`."""
    return WORD.findall(re.split(r"[\[<(]", written)[0]) or [written]
