"""Where a declaration is meant: files in which its name occurs are parsed when somebody asks, and each name that
`references.scm` finds there is looked up. See docs/adr/0011."""

from collections.abc import Iterator
from typing import NamedTuple

from lsp_harness.index.graph.name_resolution import Meaning, NameUse, SourceText, guess_members, resolve_certain
from lsp_harness.index.index_view import IndexView
from lsp_harness.store.database import Reader
from lsp_harness.syntax.symbols.declarations import qualified
from lsp_harness.syntax.symbols.name_uses import Kind, referred
from lsp_harness.syntax.tree import SyntaxTree

MAX_FILES = 500
"""That are parsed at most for one question."""

DeclarationKey = tuple[str, str]
"""The path of a declaration and its qualified name: offsets may be those of an older text."""


def find_files_with_name(reader: Reader, name: str, limit: int = MAX_FILES) -> list[tuple[str, int, str]]:
    """The files that may have this name in their code, by path, id and language; all of them where `most` is negative."""
    rows: list[tuple[str, int, str]] = reader.rows(
        "SELECT DISTINCT path, files.id, language FROM texts JOIN chunks ON chunks.id = texts.rowid "
        "JOIN files ON files.id = chunks.file WHERE texts MATCH ? AND language != '' LIMIT ?",
        ('text: "' + name.replace('"', "") + '"', limit),
    )
    return sorted(rows)


def declaration_key(text: SourceText, meaning: Meaning) -> DeclarationKey:
    """By which two meanings are known to be the same."""
    if meaning.symbol:
        return meaning.symbol.path, meaning.symbol.qualified
    return text.path, qualified(text.declarations, text.declarations[meaning.local_index])


class ReferencePlace(NamedTuple):
    """Where a declaration is meant, and how; `sure` where something leads from there to it, and not only its name."""

    start: int
    kind: Kind
    is_certain: bool


def find_places(
    view: IndexView, text: SourceText, tree: SyntaxTree, name: str, target: DeclarationKey
) -> Iterator[ReferencePlace]:
    """Where a text means the `target` by its name, the declaration included."""
    for reference in referred(tree, name):
        name_use = NameUse(reference.name, reference.start, reference.before, reference.own)
        certain = resolve_certain(view, text, name_use)
        meanings = certain or guess_members(view, name_use)
        if any(declaration_key(text, meaning) == target for meaning in meanings):
            yield ReferencePlace(reference.start, reference.kind, bool(certain))


def find_offsets(
    view: IndexView, text: SourceText, tree: SyntaxTree, name: str, target: DeclarationKey
) -> Iterator[int]:
    """The byte offsets of these places."""
    yield from (place.start for place in find_places(view, text, tree, name, target))
