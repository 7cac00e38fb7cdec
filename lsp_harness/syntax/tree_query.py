"""Queries over syntax trees, read from `grammars/queries/<folder>/<name>.scm`.

A Query is built once and never dropped: tree-sitter 0.26.1 crashes when queries with text predicates are freed. For the
same reason our files never use `#is?` or `#is-not?`.
"""

import re
from collections.abc import Iterator
from threading import Lock

from tree_sitter import Node, Query, QueryCursor

from lsp_harness.config.resources import resource_path
from lsp_harness.syntax.languages import Language, grammar

_built: dict[tuple[str, str], Query | None] = {}
_building = Lock()


def query(language: Language, name: str) -> Query | None:
    """The query of that name, or of several in one (`symbols+imports`), or what one says of each child of a kind of node
    (`symbols@module`: its patterns `(module (…))`, each on one line); None where the language has none."""
    key = (language.id, name)
    if key not in _built:
        # Two threads building the same query would drop one of the two.
        with _building:
            if key not in _built:
                source = source_of(language, name)
                _built[key] = Query(grammar(language), source) if source else None
    return _built[key]


def source_of(language: Language, name: str) -> str:
    """The text of the query: that of the language it is a dialect of, then its own."""
    names, _, parent = name.partition("@")
    files = [
        resource_path("queries", folder, f"{part}.scm") for part in names.split("+") for folder in language.queries
    ]
    source = "\n".join(file.read_text("utf-8") for file in files if file.is_file())
    return "\n".join(re.findall(rf"^\({parent} (\(.+)\)$", source, re.MULTILINE)) if parent else source


def captures(
    language: Language, name: str, node: Node, within: tuple[int, int] | None = None, *, depth: int | None = None
) -> dict[str, list[Node]]:
    """Nodes by capture name: of patterns that touch the bytes `within`, and start no deeper than `depth`."""
    found = query(language, name)
    if found is None:
        return {}
    cursor = QueryCursor(found)
    if within:
        cursor.set_byte_range(*within)
    if depth is not None:
        cursor.set_max_start_depth(depth)
    return cursor.captures(node)


def matches(
    language: Language, name: str, node: Node, within: tuple[int, int] | None = None, *, depth: int | None = None
) -> Iterator[dict[str, list[Node]]]:
    """The captures of every match, or of those that touch the bytes `within`, or start no deeper than `depth`."""
    if found := query(language, name):
        cursor = QueryCursor(found)
        if within:
            cursor.set_byte_range(*within)
        if depth is not None:
            cursor.set_max_start_depth(depth)
        yield from (nodes for _, nodes in cursor.matches(node))
