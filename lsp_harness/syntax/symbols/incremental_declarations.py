"""The declarations of a text that is edited, updated at the cost of the changed part.

Rows of the previous tree are kept and moved if neither an edit nor a change of the tree touches them. The query runs
only on the rest. The result is the same as for the whole new tree: a pattern depends only on the content of a node, its
neighbours and the types of the nodes around it, and tree-sitter reports where those change (`Tree.changed_ranges`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, overload

from tree_sitter import Node

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.symbols.declarations import (
    Declaration,
    SymbolRow,
    collect_rows,
    find_symbol_rows,
    is_more_specific,
    nest_rows,
    row_order,
)
from lsp_harness.syntax.tree import SyntaxTree, shift_nodes
from lsp_harness.syntax.tree_query import load_query, matches
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.shifted_offsets import ShiftedOffsets

QUERY = "symbols"
MAX_PARTIAL_BYTES = 20_000
"""If a change is longer than this and longer than half of the text, the whole text is queried again."""


class _Change(NamedTuple):
    """A changed part of the text: the bytes from `start` to `old_end` became those from `start` to `new_end`."""

    start: int
    old_end: int
    new_end: int

    def merge(self, start: int, old_end: int, new_end: int) -> "_Change":
        """Return this change and a later one as a single change."""
        end = max(self.new_end, old_end)
        return _Change(min(self.start, start), self.old_end + end - self.new_end, end + new_end - old_end)


class _Unit:
    """Overlapping rows, with their offsets at the time of the query."""

    __slots__ = ("_moved", "_nested", "_position", "end", "rows", "start")

    def __init__(self, rows: Sequence[SymbolRow]) -> None:
        self.rows = rows
        self.start, self.end = rows[0].start, max(row.end for row in rows)
        self._nested: list[Declaration] | None = None
        self._position = 0, 0, 0
        self._moved: list[Declaration] = []

    def declarations(self, shift: int, lines: int, first: int) -> list[Declaration]:
        """Return the declarations of the unit at their current place.

        Args:
            shift: By how many bytes the unit has moved.
            lines: By how many lines the unit has moved.
            first: The index of its first declaration in the list of all declarations.
        """
        if self._nested is None:
            self._nested = self._moved = nest_rows(self.rows)
        if self._position != (shift, lines, first):
            self._position = shift, lines, first
            self._moved = [
                Declaration(
                    kind,
                    name,
                    start + shift,
                    end + shift,
                    name_start + shift,
                    body_start + shift,
                    line + lines,
                    parent + first if parent >= 0 else -1,
                    owner,
                    bases,
                )
                for kind, name, start, end, name_start, body_start, line, parent, owner, bases in self._nested
            ]
        return self._moved


def _units(rows: Sequence[SymbolRow]) -> Iterator[_Unit]:
    first = end = 0
    for index, row in enumerate(rows):
        if row.start >= end and index > first:
            yield _Unit(rows[first:index])
            first = index
        end = max(end, row.end)
    if rows:
        yield _Unit(rows[first:])


class _DeclarationList(Sequence[Declaration]):
    """A list of declarations that is computed when its first element is read."""

    def __init__(self, units: list[_Unit], starts: ShiftedOffsets, lines: ShiftedOffsets) -> None:
        self._sources = units, starts, lines

    @cached_property
    def _declarations(self) -> list[Declaration]:
        declarations: list[Declaration] = []
        for unit, start, lines in zip(*self._sources, strict=True):
            declarations += unit.declarations(start - unit.start, lines, len(declarations))
        return declarations

    @overload
    def __getitem__(self, index: int) -> Declaration: ...
    @overload
    def __getitem__(self, index: slice) -> list[Declaration]: ...
    def __getitem__(self, index: int | slice) -> Declaration | list[Declaration]:
        return self._declarations[index]

    def __len__(self) -> int:
        return len(self._declarations)

    def __iter__(self) -> Iterator[Declaration]:
        return iter(self._declarations)


class IncrementalDeclarations:
    """The declarations of a text that is edited. `record_edit` is called for each edit, in order."""

    def __init__(self, tree: SyntaxTree) -> None:
        self._query_again(tree)

    def record_edit(self, before: Document, edit: Edit, after: Document) -> None:
        """Record one edit, which leads from `before` to `after`."""
        if before.data is not self._text and before.data != self._text:
            self._text = None
            return
        start, end, new = edit
        span = start, end, start + len(new)
        self._text = after.data
        self._change = self._change.merge(*span) if self._change else _Change(*span)
        shift_nodes(self._old, before, edit, after)

    def list_declarations(self, tree: SyntaxTree) -> Sequence[Declaration]:
        """Return the declarations of the current tree in the order of the text, outer ones first.

        All edits since the last call must have been recorded. If they were not, the whole tree is queried again.
        """
        if tree.data is not self._text and tree.data != self._text:
            self._query_again(tree)
        elif self._change:
            self._update(tree, self._change)
        return _DeclarationList(self._units, self._starts, self._lines)

    def _query_again(self, tree: SyntaxTree) -> None:
        rows = find_symbol_rows(tree.language, tree.data, tree.root)
        self._units = list(_units(rows))
        self._starts = ShiftedOffsets([unit.start for unit in self._units])
        self._lines = ShiftedOffsets([0] * len(self._units))
        """By how many lines each unit has moved since its query."""
        self._remember_tree(tree)

    def _remember_tree(self, tree: SyntaxTree) -> None:
        self._data = tree.data
        self._text: bytes | None = tree.data
        """The text after all recorded edits; None if an edit of another text was recorded."""
        self._old = tree.tree.copy()
        self._change: _Change | None = None

    def _update(self, tree: SyntaxTree, change: _Change) -> None:
        for part in self._old.changed_ranges(tree.tree):
            # The range has offsets of the new text, as all nodes of the old tree were moved.
            change = change.merge(part.start_byte, part.end_byte, part.end_byte)
        change = _include_blanks(tree.data, change)
        is_large = change.new_end - change.start > max(MAX_PARTIAL_BYTES, len(tree.data) // 2)
        # A tag query must see the whole text, as the best of all its matches for a name is used.
        if is_large or not tree.language.queries:
            self._query_again(tree)
            return
        self._replace(tree, change)
        self._remember_tree(tree)

    def _replace(self, tree: SyntaxTree, change: _Change) -> None:
        """Query the changed part, and replace the units that it touches. Their untouched rows are kept."""
        shift = change.new_end - change.old_end
        lines = tree.data.count(b"\n", change.start, change.new_end)
        lines -= self._data.count(b"\n", change.start, change.old_end)
        new_rows = list(_find_rows(tree, change))
        # A new row may enclose units that the change itself does not touch.
        start = min([change.start, *(row.start + 1 for row in new_rows)])
        end = max([change.old_end, *(row.end - shift - 1 for row in new_rows)])
        first, last = self._starts.count_up_to(start - 1), self._starts.count_up_to(end)
        while first and self._units[first - 1].end + self._starts[first - 1] - self._units[first - 1].start >= start:
            first -= 1
        old_rows = [row for index in range(first, last) for row in self._untouched_rows(index, change, shift, lines)]
        units = list(_units(sorted(_merge_rows(old_rows, new_rows), key=row_order)))
        # A new list is made, because lists that were returned before still use the old one.
        self._units = [*self._units[:first], *units, *self._units[last:]]
        self._starts = self._starts.replace_range(first, last, [unit.start for unit in units], shift)
        self._lines = self._lines.replace_range(first, last, [0] * len(units), lines)

    def _untouched_rows(self, index: int, change: _Change, shift: int, lines: int) -> Iterator[SymbolRow]:
        """Yield the rows of a unit that the change does not touch, at their current place."""
        unit, unit_lines = self._units[index], self._lines[index]
        unit_shift = self._starts[index] - unit.start
        for row in unit.rows:
            if row.end + unit_shift < change.start:
                yield _shift_row(row, unit_shift, unit_lines)
            elif row.start + unit_shift > change.old_end:
                yield _shift_row(row, unit_shift + shift, unit_lines + lines)


def _merge_rows(old: Sequence[SymbolRow], new: Sequence[SymbolRow]) -> list[SymbolRow]:
    """Return the old and the new rows, with one row for each name."""
    old_kinds = {row.name_start: row.kind for row in old if row.name_start >= 0}
    new = [
        row
        for row in new
        if row.name_start not in old_kinds or not is_more_specific(old_kinds[row.name_start], row.kind)
    ]
    new_names = {row.name_start for row in new if row.name_start >= 0}
    return [*(row for row in old if row.name_start not in new_names), *new]


def _find_rows(tree: SyntaxTree, change: _Change) -> Iterator[SymbolRow]:
    """Yield the rows of the new tree that the change touches."""
    for row in collect_rows(tree.data, _matches(tree.language, tree.root, change), _line_of(tree.document)):
        if row.start <= change.new_end and row.end >= change.start:
            yield row


def _line_of(document: Document) -> Callable[[int], int]:
    return document.line_of if b"\r" not in document.data else lambda offset: document.point(offset)[0]


def _matches(language: LanguageSpec, node: Node, change: _Change) -> Iterator[Mapping[str, Sequence[Node]]]:
    """Yield the matches around and inside of a change, below a node whose patterns concern only its children.

    The time of a query on a node grows with the number of its children. The root, and the node between the include
    guards of a C header, may have thousands. So only their children near the change are queried.
    """
    levels = [_match_children(language, node, change)]
    while levels:
        match next(levels[-1], None):
            case None:
                levels.pop()
            case Node() as child:
                levels.append(_match_children(language, child, change))
            case match:
                yield match


def _match_children(
    language: LanguageSpec, node: Node, change: _Change
) -> Iterator[Mapping[str, Sequence[Node]] | Node]:
    """Yield the matches in the touched children of a node, and the children that must be handled in the same way."""
    byte_range = max(0, change.start - 1), change.new_end + 1
    if node.is_error:
        yield from matches(language, QUERY, node, byte_range)
        return
    cursor = node.walk()
    has_child = cursor.goto_first_child_for_byte(byte_range[0]) is not None
    while has_child and (child := cursor.node) and child.start_byte <= change.new_end:
        if load_query(language, f"{QUERY}@{child.type}"):
            yield child
        else:
            yield from matches(language, QUERY, child, byte_range)
        yield from matches(language, f"{QUERY}@{node.type}", child, depth=0)
        has_child = cursor.goto_next_sibling()


def _include_blanks(data: bytes, change: _Change) -> _Change:
    """Return a change with the blanks around it, as a pattern may depend on the neighbours of a node."""
    start, new_end = change.start, change.new_end
    while start and data[start - 1 : start].isspace():
        start -= 1
    while data[new_end : new_end + 1].isspace():
        new_end += 1
    return _Change(start, change.old_end + new_end - change.new_end, new_end)


def _shift_row(row: SymbolRow, shift: int, lines: int) -> SymbolRow:
    if not shift and not lines:
        return row
    start, end, name_start, kind, name, trimmed_end, body_start, line, owner = row
    name_start += shift if name_start >= 0 else 0
    return SymbolRow(
        start + shift,
        end + shift,
        name_start,
        kind,
        name,
        trimmed_end + shift,
        body_start + shift,
        line + lines,
        owner,
    )
