"""Where a declaration is used, as the index has it: the line, and the function it is in.

That is no proof: a file counts that imports what it is about, or that has it itself, and of a member one that imports its type or
its module. What is shown in vain costs only its tokens.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lsp_harness.index.shape import TESTS
from lsp_harness.index.view import Symbol, View

MOST = 6
"""Uses that are shown, no more than `EACH` of one file."""
EACH = 2
WIDTH = 160
DECLARES = "def|class|fn|func|function|struct|interface|enum|trait|type|module|mod"
BRINGS = ("import ", "from ", "use ", "using ", "#include", "require", "export {", "} from")


@dataclass(frozen=True, slots=True)
class Use:
    """A `line` of a file where the declaration is used, in the function or type `around`, with its parameters; empty where it is
    in none."""

    path: str
    around: str
    line: str

    @property
    def test(self) -> bool:
        """Whether the file is one of tests, by its name."""
        return bool(TESTS.search(self.path))


def uses(view: View, symbol: Symbol) -> list[Use]:
    """Of a declaration, those in tests first, as they say what is expected of it."""
    found = sorted(_uses(view, symbol), key=lambda one: (not one.test, one.path != symbol.path))
    seen: dict[str, int] = {}
    kept: list[Use] = []
    for one in found:
        seen[one.path] = seen.get(one.path, 0) + 1
        if seen[one.path] <= EACH:
            kept.append(one)
    return kept[:MOST]


def _uses(view: View, symbol: Symbol) -> Iterator[Use]:
    word = re.compile(rf"(?<!\w){re.escape(symbol.name)}(?!\w)")
    own = re.compile(rf"\b(?:{DECLARES})\s+{re.escape(symbol.name)}(?!\w)")
    knows: dict[str, bool] = {}
    for path, around, text in view.mentions(symbol.name):
        if path not in knows:
            knows[path] = path == symbol.path or _knows(view, path, symbol)
        inside = path == symbol.path and around and symbol.start <= around.start < symbol.end
        if not knows[path] or inside:
            continue
        lines = (line.strip() for line in text.splitlines() if word.search(line))
        # of a function one is enough
        used = next((line for line in lines if not own.search(line) and not line.startswith(BRINGS)), "")
        if used:
            head = " ".join(view.text(around, around.named, around.body).split()).rstrip("{: ") if around else ""
            yield Use(path, head[:WIDTH], used[:WIDTH])


def _knows(view: View, path: str, symbol: Symbol) -> bool:
    """Whether a file imports the declaration, what it is in, or its module."""
    here = view.file(path)
    if here is None:
        return False
    top = symbol.qualified.partition(".")[0]
    same = any(one.path == symbol.path for name in {top, symbol.name} for one in view.defined(path, name))
    return same or any(symbol.file in one.targets for one in view.imports(here[0]))
