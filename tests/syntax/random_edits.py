"""Random edits of the fixtures: updated declarations must equal those of the whole text.

python -m tests.syntax.random_edits [--edits 3000] [--seed 1]      # of every language
"""

import argparse
import random
import re
from collections.abc import Iterator
from pathlib import Path

from lsp_harness.syntax.symbols.declarations import Declaration
from lsp_harness.syntax.symbols.incremental_declarations import IncrementalDeclarations
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit

FIXTURES = sorted((Path(__file__).parent / "declarations").glob("*.txt"))
SIGNS = [*"()[]{}:;,#\"'` \n=.<>", "\r\n", "🎉", "/*", "*/", '"""', "\t"]
GROWN = 4
"""Of how many times its size a text begins anew."""
ASKED = 0.85
"""Of the edits: after which it is asked what is declared; the others come together with the next."""


def list_sources() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of a file of every language; some languages have a second form."""
    for fixture in FIXTURES:
        name, text = fixture.read_text("utf-8").split("-- declarations --\n")[0].removeprefix("-- ").split(" --\n", 1)
        yield name, text
        if fixture.stem == "typescript":
            yield "a.tsx", text
        if fixture.stem in ("python", "ruby"):
            yield name, text.replace("\n", "\r\n")


def draw_edit(source: str, document: Document, rng: random.Random) -> tuple[Edit, Document]:
    """Draw an edit that inserts, removes or replaces a token, a bracket, lines or a block of `source`."""
    text = document.text
    at = rng.randrange(len(text) + 1)
    line = text.rfind("\n", 0, at) + 1
    tokens, lines = re.findall(r"\w+|[^\w\s]|\s+", source), source.splitlines(keepends=True)
    match rng.choice(("sign", "token", "word", "delete", "replace", "lines", "cut", "move", "block")):
        case "sign":
            start, end, new = at, at, rng.choice(SIGNS)
        case "token":
            start, end, new = at, at, rng.choice(tokens)
        case "word":
            start, end, new = at, at, f" {rng.choice(tokens)} "
        case "delete":
            start, end, new = at, at + rng.randrange(1, 9), ""
        case "replace":
            start, end, new = at, at + rng.randrange(1, 9), rng.choice(tokens)
        case "lines":
            start, end, new = line, line, "".join(rng.choices(lines, k=rng.randrange(1, 4)))
        case "cut":
            start, end, new = (
                line,
                line + sum(map(len, text[line:].splitlines(keepends=True)[: rng.randrange(1, 6)])),
                "",
            )
        case "move":
            start, end, new = line, line, "    "
        case _:
            first, last = sorted((rng.randrange(len(source)), rng.randrange(len(source))))
            start, end, new = at, at, source[first:last]
    edit = Edit(len(text[:start].encode()), len(text[:end].encode()), new.encode())
    return edit, document.apply_edit(edit, document.version + 1)


class EditRun:
    """A text that is edited and sometimes undone, and that begins again when it has grown."""

    def __init__(self, name: str, source: str, seed: int) -> None:
        self.name, self.source = name, source
        self._rng = random.Random(f"{seed} {name} {len(source)}")
        self._begin()

    def _begin(self) -> None:
        self.tree = _parse_tree(Document.from_text(f"file:///{self.name}", self.source))
        self._kept, self._undone = IncrementalDeclarations(self.tree), list[Edit]()

    def step(self) -> Edit:
        """Make one more edit, and return it."""
        document = self.tree.document
        if len(document.data) > GROWN * len(self.source):
            self._begin()
            document = self.tree.document
        if self._undone and self._rng.random() < 0.3:
            edit = self._undone.pop()
            after = document.apply_edit(edit, document.version + 1)
        else:
            edit, after = draw_edit(self.source, document, self._rng)
            self._undone.append(Edit(edit.start, edit.start + len(edit.new), document.data[edit.start : edit.end]))
        edited = self.tree.update(document, edit, after)
        assert edited is not None
        self.tree = edited
        self._kept.record_edit(document, edit, after)
        return edit

    def asked(self) -> bool:
        return self._rng.random() < ASKED

    def both(self) -> tuple[list[Declaration], list[Declaration]]:
        """Return the updated declarations, and those of the whole text."""
        return list(self._kept.list_declarations(self.tree)), list(
            IncrementalDeclarations(self.tree).list_declarations(self.tree)
        )


def _parse_tree(document: Document) -> SyntaxTree:
    tree = parse(document)
    assert tree is not None
    return tree


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--edits", type=int, default=3000)
    options.add_argument("--seed", type=int, default=1)
    args = options.parse_args()
    for name, source in list_sources():
        run, checked, wrong = EditRun(name, source, args.seed), 0, 0
        for _ in range(args.edits):
            run.step()
            if run.asked():
                result, whole = run.both()
                checked += 1
                wrong += result != whole
        print(f"{name:<8}{checked:>7} compared {wrong:>5} differ", flush=True)


if __name__ == "__main__":
    main()
