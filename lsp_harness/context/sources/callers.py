"""Where a declaration is used, as the index has it: the line, and the function it is in.

Imports, scopes and written types lead from there to the declaration (`lsp_harness.index.graph.symbol_graph`). Where they do not suffice, a member
behind something unknown counts in files that import what it is of, after the others.
"""

from dataclasses import dataclass

from lsp_harness.index.declaration_shape import TESTS
from lsp_harness.index.graph.indexed_source import Sources
from lsp_harness.index.graph.symbol_graph import User, users
from lsp_harness.index.index_view import Symbol, View

MOST = 6
"""Uses that are shown, no more than `EACH` of one file."""
EACH = 2
FILES = 12
"""That are parsed at most, and of `BYTES` together, which takes a few hundredths of a second: tests first, then the file itself."""
BYTES = 200_000
FAR = 2
"""Imports over which a file is looked at: packages hand on what others define."""
WIDTH = 160


@dataclass(frozen=True, slots=True)
class Use:
    """A `line` of a file where the declaration is used, its number counted from 0, in the function or type `around`, with its
    parameters; empty where it is in none."""

    path: str
    around: str
    line: str
    number: int

    @property
    def test(self) -> bool:
        """Whether the file is one of tests, by its name."""
        return bool(TESTS.search(self.path))


def find_uses(view: View, symbol: Symbol) -> list[Use]:
    """Of a declaration, those in tests first, as they say what is expected of it."""
    sure: list[Use] = []
    likely: list[Use] = []
    seen: dict[str, int] = {}
    functions: set[tuple[str, int]] = set()
    sources = Sources(view, BYTES)
    for one in users(sources, symbol, FILES, FAR, lambda path: (not TESTS.search(path), path != symbol.path)):
        path, around = one.source.text.path, one.around.n if one.around else -1
        inside = path == symbol.path and symbol.start <= one.place.start < symbol.end
        # of a function one is enough
        if inside or (path, around) in functions or seen.get(path, 0) == EACH:
            continue
        functions.add((path, around))
        seen[path] = seen.get(path, 0) + 1
        (sure if one.place.sure else likely).append(_use(view, one))
        if len(sure) == MOST:
            break
    # they are in order by themselves
    return sorted([*sure, *likely][:MOST], key=lambda use: not use.test)


def _use(view: View, user: User) -> Use:
    around = user.around
    head = " ".join(view.text(around, around.named, around.body).split()).rstrip("{: ") if around else ""
    start = user.place.start
    return Use(user.source.text.path, head[:WIDTH], user.source.line(start)[:WIDTH], user.source.line_of(start))
