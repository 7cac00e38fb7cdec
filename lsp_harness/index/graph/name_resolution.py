"""Resolution of names by imports and declarations.

Types are not inferred. A name after a dot is searched in the module, type or object before the dot, or in the type that
the text writes for it. After anything else it may be one of the few members of that name in the workspace; if there are
many, it stays unresolved.
"""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from lsp_harness.index.graph.declared_types import MAX_GAP_CHARS, find_return_types, find_written_types
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.symbol_table import Symbol
from lsp_harness.languages.language_table import find_language
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS, Declaration
from lsp_harness.syntax.symbols.name_uses import MAX_LINE_BYTES
from lsp_harness.text.position import decode, encode

MAX_TYPE_HOPS = 8
"""Number of base types through which a member is searched."""
SELF_NAMES = frozenset({"self", "cls", "this", "Self"})
SUPER_NAMES = frozenset({"super", "super()"})
MEMBER_KINDS = frozenset({"method", "field", "property", "member", "constructor"})
FIELD_KINDS = frozenset({"field", "property", "variable", "constant"})
MAX_GUESSES = 8
"""Largest number of members of a name after an unknown object that are returned."""
WORD = re.compile(r"[^\W\d]\w*")
QUALIFIER = re.compile(r"((?:[^\W\d]\w*(?:\(\))?\s*(?:\.|::|->)\s*)+)\Z")
QUALIFIER_PART = re.compile(r"[^\W\d]\w*(?:\(\))?")


@dataclass(frozen=True, slots=True)
class NameUse:
    """A name at byte `start` of a text, with the names before it and their dots as `qualifier`.

    Only local declarations that begin at or after the byte `scope_start` count; -1 for no such limit.
    """

    text: str
    start: int
    qualifier: tuple[str, ...] = ()
    scope_start: int = -1


@dataclass(frozen=True, slots=True)
class ResolvedDeclaration:
    """A declaration: either an index into the declarations of the text in question, or a symbol of another file."""

    local_index: int = -1
    symbol: Symbol | None = None


def find_name_at(data: bytes, offset: int) -> NameUse | None:
    """Return the name at a byte offset or directly before it."""
    line_start = data.rfind(b"\n", max(0, offset - MAX_LINE_BYTES), offset) + 1 or max(0, offset - MAX_LINE_BYTES)
    end = data.find(b"\n", offset, offset + MAX_LINE_BYTES)
    line, column = (
        decode(data[line_start : end if end >= 0 else offset + MAX_LINE_BYTES]),
        len(decode(data[line_start:offset])),
    )
    match = next((word for word in WORD.finditer(line) if word.start() <= column <= word.end()), None)
    if match is None:
        return None
    qualifier = QUALIFIER.search(line[: match.start()])
    parts = tuple(QUALIFIER_PART.findall(qualifier[1])) if qualifier else ()
    return NameUse(match[0], line_start + len(encode(line[: match.start()])), parts)


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text of the workspace with its current declarations. `path` is relative to the folder. Without `data` no
    written types are read."""

    path: str
    language: str
    declarations: Sequence[Declaration]
    data: bytes = b""


def resolve_name(
    view: IndexView, text: SourceText, name: NameUse, max_hops: int = MAX_TYPE_HOPS
) -> list[ResolvedDeclaration]:
    """Return the declarations that a name may mean; empty if it cannot be resolved.

    Args:
        view: The index.
        text: The text that contains the name.
        name: The name to resolve.
        max_hops: Number of types to follow.
    """
    return resolve_certain(view, text, name, max_hops) or guess_members(view, name)


def resolve_certain(
    view: IndexView, text: SourceText, name: NameUse, max_hops: int = MAX_TYPE_HOPS
) -> list[ResolvedDeclaration]:
    """Return the declarations that imports, scopes and written types lead to. Equal names alone are not enough."""
    if not name.qualifier:
        visible = _find_visible(text, name)
        if name.scope_start >= 0:
            return [meaning for meaning in visible if text.declarations[meaning.local_index].start >= name.scope_start]
        return (
            visible
            or _find_implicit_members(view, text, name, max_hops)
            or [ResolvedDeclaration(symbol=symbol) for symbol in view.find_definitions(text.path, name.text)]
        )
    return _resolve_qualified(view, text, name, max_hops)


def _find_implicit_members(
    view: IndexView, text: SourceText, name: NameUse, max_hops: int
) -> list[ResolvedDeclaration]:
    """Return inherited members of the types around a name, in languages where they need no qualifier."""
    if not find_language(text.language).declarations.has_implicit_members:
        return []
    # In the head of a type, its bases are not searched.
    types = [n for n in _enclosing_types(text, name) if text.declarations[n].body_start <= name.start]
    for n in reversed(types):
        members = _find_inherited(view, text, n, name.text, max_hops)
        # Constructors are not inherited under the name of the base.
        if members := [member for member in members if _guess_kind(text, member) != "constructor"]:
            return members
    return []


def _enclosing_types(text: SourceText, name: NameUse) -> list[int]:
    """Return the indexes of the types around a name, the outermost first."""
    return [
        n
        for n, declaration in enumerate(text.declarations)
        if declaration.kind in TYPE_KINDS and declaration.start <= name.start < declaration.end
    ]


def guess_members(view: IndexView, name: NameUse) -> list[ResolvedDeclaration]:
    """Return the members of this name in the workspace if they are few. Only names with a qualifier are guessed."""
    members = view.symbols.find_by_name(name.text, MAX_GUESSES + 1, MEMBER_KINDS) if name.qualifier else []
    return [ResolvedDeclaration(symbol=member) for member in members] if len(members) <= MAX_GUESSES else []


def _find_visible(text: SourceText, name: NameUse) -> list[ResolvedDeclaration]:
    """Return the declarations of this name in the innermost scope that has one."""
    best_parent, meanings = -2, list[ResolvedDeclaration]()
    has_implicit_members = find_language(text.language).declarations.has_implicit_members
    for n, declaration in enumerate(text.declarations):
        parent = text.declarations[declaration.parent] if declaration.parent >= 0 else None
        is_visible = parent is None or (
            parent.start <= name.start < parent.end and (parent.kind not in TYPE_KINDS or has_implicit_members)
        )
        if declaration.name != name.text or not (is_visible or declaration.name_start == name.start):
            continue
        if declaration.parent > best_parent:
            best_parent, meanings = declaration.parent, []
        if declaration.parent == best_parent:
            meanings.append(ResolvedDeclaration(n))
    return meanings


def _resolve_qualified(view: IndexView, text: SourceText, name: NameUse, max_hops: int) -> list[ResolvedDeclaration]:
    """Return the meanings of a name after a dot, if the object itself, a module or a type is before the dot."""
    *outer, last = name.qualifier
    if last in SELF_NAMES | SUPER_NAMES:
        enclosing = _enclosing_types(text, name)
        find = _find_in_type if last in SELF_NAMES else _find_inherited
        return find(view, text, enclosing[-1], name.text, max_hops) if enclosing else []
    meanings = [ResolvedDeclaration(symbol=symbol) for symbol in view.find_module_member(text.path, last, name.text)]
    if not meanings and not outer:
        for type_ in _find_visible(text, NameUse(last, name.start)) or map(
            _from_symbol, view.find_definitions(text.path, last)
        ):
            meanings += _find_members(view, text, type_, name.text, max_hops)
    if not meanings and text.data and max_hops:
        for type_ in _find_types(view, text, name.qualifier, name.start, max_hops - 1):
            meanings += _find_members(view, text, type_, name.text, max_hops - 1)
    return [*dict.fromkeys(meanings)]


def _find_types(
    view: IndexView, text: SourceText, chain: Sequence[str], start: int, max_hops: int
) -> list[ResolvedDeclaration]:
    """Return the types of the object that a chain of names means, as far as they are written."""
    *outer, last = chain
    if max_hops == 0:
        return []
    name = NameUse(last.removesuffix("()"), start, tuple(outer))
    if not last.endswith("()"):
        chains = [
            written_type
            for passage, passage_name in _typed_passages(text, name)
            for written_type in find_written_types(passage, passage_name, text.language)
        ]
        if not chains:
            return [
                type_
                for assigned_name, offset in _find_assigned_names(text, name)
                for type_ in _find_types(view, text, (assigned_name,), offset, max_hops - 1)
            ]
    elif outer and name.text == "new":
        chains = [tuple(outer)]
    else:
        meanings = resolve_certain(view, text, name, max_hops - 1)
        constructed = [meaning for meaning in meanings if _guess_kind(text, meaning) in TYPE_KINDS]
        return constructed or [
            type_ for meaning in meanings for type_ in _find_returned_types(view, text, meaning, max_hops - 1)
        ]
    return [
        type_
        for type_chain in chains
        if type_chain != tuple(chain)
        for type_ in _resolve_types(view, text, type_chain, start, max_hops - 1)
    ]


def _resolve_types(
    view: IndexView, text: SourceText, chain: Sequence[str], start: int, max_hops: int
) -> list[ResolvedDeclaration]:
    """Return the types that a written chain means. The last name is a type or a call."""
    if chain[-1].endswith("()"):
        return _find_types(view, text, chain, start, max_hops)
    *outer, last = chain
    name = NameUse(last, start, tuple(outer))
    meanings = resolve_certain(view, text, name, max_hops)
    return [meaning for meaning in meanings if _guess_kind(text, meaning) in TYPE_KINDS]


def _find_returned_types(
    view: IndexView, text: SourceText, function: ResolvedDeclaration, max_hops: int
) -> list[ResolvedDeclaration]:
    """Return the types that a function returns, resolved where it is declared."""
    if function.symbol:
        chains = find_return_types(
            view.texts.read_signature(function.symbol), function.symbol.name, function.symbol.language
        )
        return [
            ResolvedDeclaration(symbol=symbol)
            for chain in chains
            for symbol in view.find_visible(function.symbol.file, chain[-1])
            if symbol.kind in TYPE_KINDS
        ]
    declaration = text.declarations[function.local_index]
    chains = find_return_types(
        decode(text.data[declaration.start : declaration.body_start]), declaration.name, text.language
    )
    return [type_ for chain in chains for type_ in _resolve_types(view, text, chain, declaration.start, max_hops)]


def _typed_passages(text: SourceText, name: NameUse) -> Iterator[tuple[str, str]]:
    """Yield passages that write the type of a name, the nearest first, with the name as it stands there."""
    types = _find_enclosing(text, name, TYPE_KINDS)
    if name.qualifier and not (_is_own_member(name) and types):
        return
    if name.qualifier:
        placeholder = f"own {name.text}".replace(" ", "_")
        type_text = decode(text.data[types[-1].start : types[-1].end])
        yield re.sub(rf"\b(?:self|this)(?:\.|->){re.escape(name.text)}\b", placeholder, type_text), placeholder
    elif functions := [
        declaration for declaration in _find_enclosing(text, name) if declaration.kind not in TYPE_KINDS | FIELD_KINDS
    ]:
        yield decode(text.data[functions[-1].start : functions[-1].end]), name.text
    else:
        yield _top_level_text(text, name.start), name.text
    type_members = [
        declaration
        for declaration in text.declarations
        if types and declaration.parent >= 0 and text.declarations[declaration.parent] == types[-1]
    ]
    meanings = [] if name.qualifier else _find_visible(text, name)
    visible = [text.declarations[meaning.local_index] for meaning in meanings]
    for declaration in (*type_members, *visible):
        if declaration.name.lstrip("$") == name.text and declaration.kind in FIELD_KINDS:
            yield _declaration_lines(text.data, declaration), name.text
        elif name.qualifier and declaration.name in ("constructor", "__construct"):
            # A parameter of a constructor may declare a field.
            yield decode(text.data[declaration.start : declaration.body_start]), name.text


def _find_assigned_names(text: SourceText, name: NameUse) -> Iterator[tuple[str, int]]:
    """Yield the names that are assigned to a name, with their byte offsets. Other values are left out."""
    enclosing = _find_enclosing(text, name, TYPE_KINDS) if name.qualifier else _find_enclosing(text, name)
    if not enclosing or (name.qualifier and not _is_own_member(name)):
        return
    scope_text = decode(text.data[enclosing[-1].start : enclosing[-1].end])
    prefix = r"\b(?:self|this)(?:\.|->)" if name.qualifier else r"(?<![\w.])"
    assignment = (
        rf"{prefix}{re.escape(name.text)}\s*(?::[^=\n]{{0,{MAX_GAP_CHARS}}})?:?=\s*([^\W\d]\w*)[^\S\n]*+;?[^\S\n]*+$"
    )
    for match in re.finditer(assignment, scope_text, re.MULTILINE):
        if match[1] != name.text or name.qualifier:
            yield match[1], enclosing[-1].start + len(encode(scope_text[: match.start(1)]))


def _find_enclosing(text: SourceText, name: NameUse, kinds: AbstractSet[str] | None = None) -> list[Declaration]:
    return [
        declaration
        for declaration in text.declarations
        if declaration.start <= name.start < declaration.end and (kinds is None or declaration.kind in kinds)
    ]


def _is_own_member(name: NameUse) -> bool:
    return len(name.qualifier) == 1 and name.qualifier[0] in SELF_NAMES


def _top_level_text(text: SourceText, end: int) -> str:
    """Return the text before an offset that is in no function or type."""
    start, parts = 0, list[str]()
    for declaration in text.declarations:
        if declaration.parent < 0 and declaration.kind not in FIELD_KINDS and start <= declaration.start < end:
            parts.append(decode(text.data[start : declaration.start]))
            start = declaration.end
    return "\n".join([*parts, decode(text.data[start:end])])


def _declaration_lines(data: bytes, declaration: Declaration) -> str:
    """Return the whole lines of a declaration, as its span may be its name alone."""
    end = data.find(b"\n", declaration.end)
    return decode(data[data.rfind(b"\n", 0, declaration.start) + 1 : end if end >= 0 else len(data)])


def _guess_kind(text: SourceText, meaning: ResolvedDeclaration) -> str:
    return meaning.symbol.kind if meaning.symbol else text.declarations[meaning.local_index].kind


def _from_symbol(symbol: Symbol) -> ResolvedDeclaration:
    return ResolvedDeclaration(symbol=symbol)


def _find_in_type(view: IndexView, text: SourceText, type_: int, name: str, max_hops: int) -> list[ResolvedDeclaration]:
    """Return the members of a type in the text, or else of its bases."""
    own = [
        ResolvedDeclaration(n)
        for n, declaration in enumerate(text.declarations)
        if declaration.parent == type_ and declaration.name == name
    ]
    return own or _find_inherited(view, text, type_, name, max_hops)


def _find_inherited(
    view: IndexView, text: SourceText, type_: int, name: str, max_hops: int
) -> list[ResolvedDeclaration]:
    """Return the members of the bases of a type in the text."""
    members: list[ResolvedDeclaration] = []
    for base in text.declarations[type_].bases if max_hops else ():
        *qualifier, last = _parse_base(base)
        base_name = NameUse(last, text.declarations[type_].start, tuple(qualifier))
        resolve = _resolve_qualified if qualifier else resolve_name
        for meaning in resolve(view, text, base_name, max_hops - 1):
            if meaning.local_index != type_:
                members += _find_members(view, text, meaning, name, max_hops - 1)
    return members


def _find_members(
    view: IndexView, text: SourceText, type_: ResolvedDeclaration, name: str, max_hops: int
) -> list[ResolvedDeclaration]:
    if type_.local_index >= 0:
        return (
            _find_in_type(view, text, type_.local_index, name, max_hops)
            if text.declarations[type_.local_index].kind in TYPE_KINDS
            else []
        )
    symbol = type_.symbol
    if symbol is None or symbol.kind not in TYPE_KINDS:
        return []
    members = [
        ResolvedDeclaration(symbol=member) for member in view.symbols.find_members(symbol) if member.name == name
    ]
    if members or max_hops == 0:
        return members
    bases = [base for base_text in symbol.bases for base in view.find_visible(symbol.file, _parse_base(base_text)[-1])]
    return [
        member
        for base in bases
        for member in _find_members(view, text, ResolvedDeclaration(symbol=base), name, max_hops - 1)
    ]


def _parse_base(base: str) -> list[str]:
    """Return the names of a base type: `other` and `Base` for `other.Base[int]`."""
    return WORD.findall(re.split(r"[\[<(]", base)[0]) or [base]
