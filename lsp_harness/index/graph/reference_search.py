"""Where a declaration is meant: files in which its name occurs are parsed when somebody asks, and each name that
`references.scm` finds there is looked up. See docs/adr/0011."""

from collections.abc import Iterator
from typing import NamedTuple

from lsp_harness.index.graph.name_resolution import Meant, Name, Text, guessed, told
from lsp_harness.index.index_view import View
from lsp_harness.store.database import Reader
from lsp_harness.syntax.symbols.declarations import qualified_name
from lsp_harness.syntax.symbols.name_uses import UseKind, find_references
from lsp_harness.syntax.tree import SyntaxTree

FILES = 500
"""That are parsed at most for one question."""

Key = tuple[str, str]
"""The path of a declaration and its qualified name: offsets may be those of an older text."""


def occurring(reader: Reader, name: str, most: int = FILES) -> list[tuple[str, int, str]]:
    """The files that may have this name in their code, by path, id and language; all of them where `most` is negative."""
    rows: list[tuple[str, int, str]] = reader.rows(
        "SELECT DISTINCT path, files.id, language FROM texts JOIN chunks ON chunks.id = texts.rowid "
        "JOIN files ON files.id = chunks.file WHERE texts MATCH ? AND language != '' LIMIT ?",
        ('text: "' + name.replace('"', "") + '"', most),
    )
    return sorted(rows)


def key(text: Text, one: Meant) -> Key:
    """By which two meanings are known to be the same."""
    if one.there:
        return one.there.path, one.there.qualified
    return text.path, qualified_name(text.declared, text.declared[one.here])


class Place(NamedTuple):
    """Where a declaration is meant, and how; `sure` where something leads from there to it, and not only its name."""

    start: int
    kind: UseKind
    sure: bool


def places(view: View, text: Text, tree: SyntaxTree, name: str, target: Key) -> Iterator[Place]:
    """Where a text means the `target` by its name, the declaration included."""
    for one in find_references(tree, name):
        asked = Name(one.name, one.start, one.receiver_chain, one.local_scope_start)
        found = told(view, text, asked)
        meant = found or guessed(view, asked)
        if any(key(text, each) == target for each in meant):
            yield Place(one.start, one.kind, bool(found))


def referring(view: View, text: Text, tree: SyntaxTree, name: str, target: Key) -> Iterator[int]:
    """The byte offsets of these places."""
    yield from (place.start for place in places(view, text, tree, name, target))
