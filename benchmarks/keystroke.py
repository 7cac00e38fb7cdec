"""Cost of a key in a file of 5,000 lines: the document, the parse, and the declarations.

    python -m benchmarks.keystroke [FILE ...] [--keys 1000] [--seed 1] [--each]

What the text declares is asked for in pauses, where `rhythm` has them, as editors do that wait for a while of quiet; or
with `--each` after every key.

The lines before a random place in the middle half of the file are typed once more below it, then the cursor jumps.
Without files: modules of Python's own tests, and a file of each language made of the fixtures in `tests/syntax`. Times
are the processor's. The parse alone is tree-sitter's own edit and parse of the same keys in the same run.
"""

import argparse
import random
import re
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from time import process_time_ns
from typing import Any, NamedTuple

from tree_sitter import Parser

from benchmarks.rhythm import Rhythm
from lsp_harness.syntax.grammars import grammar
from lsp_harness.syntax.symbols import incremental_declarations
from lsp_harness.syntax.symbols.declarations import SymbolRow
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.workspace.document_syntax import DocumentSyntax, SyntaxService

LINES = 5_000
FIXTURES = Path(__file__).parents[1] / "tests" / "syntax" / "declarations"
PYTHON = "test/test_ssl.py", "test/test_socket.py", "test/test_argparse.py"
ROWS_BEFORE = 3
"""Lines that are typed before the cursor jumps."""
KEY = re.compile(rb"\n[ \t]*|.", re.DOTALL)
"""What a key types: a new line with its indentation, as editors have it, or one character."""
WRONG = 0.05
"""Of the keys: typed and deleted."""
CHECKED = 10
"""Answers from one comparison with a rebuild to the next, in which all must be equal."""


class KeyTimes(NamedTuple):
    """The times of one key in milliseconds."""

    parse: float
    """Tree-sitter's own."""
    ours: float
    """The document, its tree and, if that was asked for, what it declares."""
    walk: float
    """To read all of that, if it was asked for."""
    whole: bool
    """Whether all of the text was asked about."""


def find_files() -> Iterator[Document]:
    library = Path(sysconfig.get_paths()["stdlib"])
    for file in (library / name for name in PYTHON):
        if file.is_file():
            yield Document.from_text(file.as_uri(), file.read_bytes())
    for fixture in sorted(FIXTURES.glob("*.txt")):
        name, source = fixture.read_text("utf-8").split("-- declarations --\n")[0].removeprefix("-- ").split(" --\n", 1)
        yield Document.from_text(f"file:///{name}", source * (LINES // source.count("\n") + 1))


class TypedText:
    """A text that is typed, and the measurements of every key."""

    def __init__(self, document: Document, rng: random.Random, *, each: bool) -> None:
        self.document, self.keys, self._each = document, list[KeyTimes](), each
        self._asked, self._rhythm = 0, Rhythm(8, rng.randrange(1000))
        self._rng, self._parsed = rng, DocumentSyntax(SyntaxService())
        list(self._parsed.declarations(document))

    def jump(self) -> None:
        """Type some lines somewhere else."""
        starts = self.document.line_starts
        row = self._rng.randrange(len(starts) // 4, len(starts) * 3 // 4)
        at = starts[row] - 1
        written = ""
        for text in KEY.findall(self.document.data[starts[row - ROWS_BEFORE] - 1 : at]):
            if self._rng.random() < WRONG:
                self._key(Edit(at, at, b"x"), pause=False)
                self._key(Edit(at, at + 1, b""), pause=False)
            written += text.decode("utf-8", "replace")
            self._key(Edit(at, at, text), pause=self._rhythm.pause(written) > 0)
            at += len(text)

    def _key(self, edit: Edit, *, pause: bool) -> None:
        before, wholes = self.document, len(_wholes)
        tree = self._parsed.tree(before)
        assert tree is not None
        parsing = self._own(tree, edit) if len(self.keys) % 2 else 0
        start = process_time_ns()
        self.document = before.apply_edit(edit, before.version + 1)
        self._parsed.follow(before, edit, self.document)
        asks = self._each or pause
        asked = self._parsed.declarations(self.document) if asks else ()
        end = process_time_ns()
        listed = list(asked)
        walked = process_time_ns()
        # by turns: who comes second finds the text in the processor's cache
        parsing = parsing or self._own(tree, edit)
        self.keys.append(KeyTimes(parsing / 1e6, (end - start) / 1e6, (walked - end) / 1e6, len(_wholes) > wholes))
        self._asked += asks
        if asks and self._asked % CHECKED == 0 and (tree := self._parsed.tree(self.document)):
            assert listed == list(incremental_declarations.IncrementalDeclarations(tree).list_declarations(tree))

    def _own(self, tree: SyntaxTree, edit: Edit) -> int:
        """Return the nanoseconds of the edit and the parse of tree-sitter itself."""
        before, after = tree.document, tree.document.apply_edit(edit, 0)
        end = edit.start + len(edit.new)
        points = before.point(edit.start), before.point(edit.end), after.point(end)
        start = process_time_ns()
        old = tree.tree.copy()
        old.edit(edit.start, edit.end, end, *points)
        Parser(grammar(tree.language)).parse(after.data, old)
        return process_time_ns() - start


_wholes: list[None] = []


def _count_calls(asked: Callable[..., list[SymbolRow]]) -> Callable[..., list[SymbolRow]]:
    def counting(*given: Any) -> list[SymbolRow]:
        _wholes.append(None)
        return asked(*given)

    return counting


def format_row(name: str, keys: Sequence[KeyTimes]) -> str:
    def at(part: float, times: Iterable[float]) -> float:
        return (ordered := sorted(times))[int(part * len(ordered))]

    said = f"{name:<18}{len(keys):>6}"
    for part in (0.5, 0.95):
        own, ours = at(part, (key.parse for key in keys)), at(part, (key.ours for key in keys))
        read = at(part, (key.ours + key.walk for key in keys))
        said += f" | {own:7.2f} {ours:7.2f} {ours / own:6.2f} {read:7.2f} {read / own:6.2f}"
    return f"{said} | {sum(key.whole for key in keys):>5}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", nargs="*", type=Path)
    options.add_argument("--keys", type=int, default=1000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--each", action="store_true", help="ask what the text declares after every key")
    args = options.parse_args()
    incremental_declarations.find_symbol_rows = _count_calls(incremental_declarations.find_symbol_rows)
    print(f"{'':<24} | {'p50: parse':>7}    ours  ratio  +walk  ratio | p95: parse   ours  ratio  +walk  ratio | whole")
    for document in [
        Document.from_text(file.absolute().as_uri(), file.read_bytes()) for file in args.files
    ] or find_files():
        typing = TypedText(document, random.Random(args.seed), each=args.each)
        while len(typing.keys) < args.keys:
            typing.jump()
        print(format_row(document.uri.rpartition("/")[2], typing.keys), flush=True)


if __name__ == "__main__":
    main()
