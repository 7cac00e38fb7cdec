"""Queries over syntax trees, read from `grammars/queries/<folder>/<name>.scm`.

A Query is built once and never freed: tree-sitter 0.26.1 crashes when a query with text predicates is freed. For the
same reason the query files never use `#is?` or `#is-not?`.
"""

import re
from collections.abc import Iterator
from threading import Lock

from tree_sitter import Node, Query, QueryCursor

from lsp_harness.config.resources import find_resource
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.grammars import grammar

_queries: dict[tuple[str, str], Query | None] = {}
_build_lock = Lock()


def load_query(language: LanguageSpec, name: str) -> Query | None:
    """Return a query of a language, built at its first use.

    Args:
        language: The language whose query files are read.
        name: The name of a query file (`symbols`), or of several that are combined (`symbols+imports`). With `@` and
            the type of a node (`symbols@module`) only the patterns for children of such a node are taken: those written
            `(module (…))` on one line.

    Returns:
        The query, or None if the language has none of that name.
    """
    key = (language.id, name)
    if key not in _queries:
        # Without the lock two threads could build the same query, and one of the two would be freed.
        with _build_lock:
            if key not in _queries:
                source = read_query_source(language, name)
                _queries[key] = Query(grammar(language), source) if source else None
    return _queries[key]


def read_query_source(language: LanguageSpec, name: str) -> str:
    """Return the text of a query: first that of the parent language of a dialect, then that of the dialect itself."""
    names, _, parent = name.partition("@")
    files = [
        find_resource("queries", folder, f"{part}.scm") for part in names.split("+") for folder in language.queries
    ]
    source = "\n".join(file.read_text("utf-8") for file in files if file.is_file())
    return "\n".join(re.findall(rf"^\({parent} (\(.+)\)$", source, re.MULTILINE)) if parent else source


def captures(
    language: LanguageSpec,
    name: str,
    node: Node,
    byte_range: tuple[int, int] | None = None,
    *,
    depth: int | None = None,
) -> dict[str, list[Node]]:
    """Run a query and return the captured nodes by the name of the capture.

    Args:
        language: The language of the tree.
        name: The name of the query, see `load_query`.
        node: The node to search.
        byte_range: If given, only patterns that touch these bytes match.
        depth: If given, only patterns that start at most so many levels below `node` match.
    """
    query = load_query(language, name)
    return _make_cursor(query, byte_range, depth).captures(node) if query else {}


def matches(
    language: LanguageSpec,
    name: str,
    node: Node,
    byte_range: tuple[int, int] | None = None,
    *,
    depth: int | None = None,
) -> Iterator[dict[str, list[Node]]]:
    """Run a query and yield the captures of each match. The arguments are those of `captures`."""
    if query := load_query(language, name):
        yield from (nodes for _, nodes in _make_cursor(query, byte_range, depth).matches(node))


def _make_cursor(query: Query, byte_range: tuple[int, int] | None, depth: int | None) -> QueryCursor:
    cursor = QueryCursor(query)
    if byte_range:
        cursor.set_byte_range(*byte_range)
    if depth is not None:
        cursor.set_max_start_depth(depth)
    return cursor
