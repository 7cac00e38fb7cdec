"""Uses of a declaration in the index: the line, and the function that contains it.

Imports, scopes and written types link a use to the declaration (`lsp_harness.index.graph.symbol_graph`). A member of a
value of unknown type also counts as a use if its file imports the module of the declaration. Such uses come after the
others.
"""

from dataclasses import dataclass

from lsp_harness.index.declaration_shape import TEST_PATH
from lsp_harness.index.graph.indexed_source import Sources
from lsp_harness.index.graph.symbol_graph import SymbolUsage, find_usages
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.symbol_table import Symbol

MAX_USES = 6
MAX_USES_PER_FILE = 2
MAX_FILES = 12
"""Most files to parse: tests first, then the file of the declaration."""
SCAN_LIMIT_BYTES = 200_000
"""Most bytes to parse, which takes a few hundredths of a second."""
MAX_IMPORT_STEPS = 2
"""Imports to follow from a use to the declaration: packages often export what another module defines."""
MAX_LINE_CHARS = 160


@dataclass(frozen=True, slots=True)
class Use:
    """A line that uses the declaration.

    Attributes:
        path: The file of the use.
        enclosing: The head of the function or type around the use, with its parameters; empty at the top level.
        line: The text of the line.
        number: The number of the line, counted from 0.
    """

    path: str
    enclosing: str
    line: str
    number: int

    @property
    def is_in_test(self) -> bool:
        """Return whether the file contains tests, by its name."""
        return bool(TEST_PATH.search(self.path))


def find_uses(view: IndexView, symbol: Symbol) -> list[Use]:
    """Return uses of a declaration. Tests come first, because they state what is expected of it."""
    certain: list[Use] = []
    likely: list[Use] = []
    uses_by_file: dict[str, int] = {}
    functions: set[tuple[str, int]] = set()
    sources = Sources(view, SCAN_LIMIT_BYTES)
    for user in find_usages(
        sources, symbol, MAX_FILES, MAX_IMPORT_STEPS, lambda path: (not TEST_PATH.search(path), path != symbol.path)
    ):
        path, function = user.source.text.path, user.enclosing.n if user.enclosing else -1
        is_own = path == symbol.path and symbol.start <= user.place.start < symbol.end
        # one use of each function is enough
        if is_own or (path, function) in functions or uses_by_file.get(path, 0) == MAX_USES_PER_FILE:
            continue
        functions.add((path, function))
        uses_by_file[path] = uses_by_file.get(path, 0) + 1
        (certain if user.place.is_certain else likely).append(_to_use(view, user))
        if len(certain) == MAX_USES:
            break
    # the sort is stable: within tests and within other files, certain uses stay first
    return sorted([*certain, *likely][:MAX_USES], key=lambda use: not use.is_in_test)


def _to_use(view: IndexView, user: SymbolUsage) -> Use:
    function = user.enclosing
    head = (
        " ".join(view.texts.read_text(function, function.named, function.body).split()).rstrip("{: ")
        if function
        else ""
    )
    start = user.place.start
    line = user.source.read_line(start)[:MAX_LINE_CHARS]
    return Use(user.source.text.path, head[:MAX_LINE_CHARS], line, user.source.find_line(start))
