"""Search for the references to a declaration.

Files that contain the name are parsed at the time of the question, and each name that `references.scm` finds is
resolved (docs/adr/0011).
"""

from collections.abc import Iterator
from typing import NamedTuple

from lsp_harness.index.graph.name_resolution import (
    NameUse,
    ResolvedDeclaration,
    SourceText,
    guess_members,
    resolve_certain,
)
from lsp_harness.index.index_view import IndexView
from lsp_harness.store.database import DatabaseReader
from lsp_harness.syntax.symbols.declarations import qualified_name
from lsp_harness.syntax.symbols.name_uses import UseKind, find_references
from lsp_harness.syntax.tree import SyntaxTree

MAX_FILES = 500
"""Largest number of files that are parsed for one question."""

DeclarationKey = tuple[str, str]
"""Path and qualified name of a declaration. Offsets may belong to an older text."""


def find_files_with_name(reader: DatabaseReader, name: str, limit: int = MAX_FILES) -> list[tuple[str, int, str]]:
    """Return the path, id and language of files that may contain a name in their code; all of them if `limit` is
    negative."""
    rows: list[tuple[str, int, str]] = reader.rows(
        "SELECT DISTINCT path, files.id, language FROM texts JOIN chunks ON chunks.id = texts.rowid "
        "JOIN files ON files.id = chunks.file WHERE texts MATCH ? AND language != '' LIMIT ?",
        ('text: "' + name.replace('"', "") + '"', limit),
    )
    return sorted(rows)


def make_declaration_key(text: SourceText, meaning: ResolvedDeclaration) -> DeclarationKey:
    """Return a key that is equal for meanings of the same declaration."""
    if meaning.symbol:
        return meaning.symbol.path, meaning.symbol.qualified
    return text.path, qualified_name(text.declarations, text.declarations[meaning.local_index])


class ReferencePlace(NamedTuple):
    """A reference to a declaration. It is certain if imports, scopes or types lead to the declaration, and not only
    its name."""

    start: int
    kind: UseKind
    is_certain: bool


def find_places(
    view: IndexView, text: SourceText, tree: SyntaxTree, name: str, target: DeclarationKey
) -> Iterator[ReferencePlace]:
    """Yield the references to `target` in a text, including the declaration itself.

    Args:
        view: The index.
        text: The text to search.
        tree: The syntax tree of the text.
        name: The name that the text uses for the target.
        target: The key of the declaration.
    """
    for reference in find_references(tree, name):
        name_use = NameUse(reference.name, reference.start, reference.receiver_chain, reference.local_scope_start)
        certain = resolve_certain(view, text, name_use)
        meanings = certain or guess_members(view, name_use)
        if any(make_declaration_key(text, meaning) == target for meaning in meanings):
            yield ReferencePlace(reference.start, reference.kind, bool(certain))


def find_offsets(
    view: IndexView, text: SourceText, tree: SyntaxTree, name: str, target: DeclarationKey
) -> Iterator[int]:
    """Yield the byte offsets of the references to `target` in a text."""
    yield from (place.start for place in find_places(view, text, tree, name, target))
