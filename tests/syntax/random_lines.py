"""Random changes of lines of Python files: both readers of declarations must agree.

python -m tests.syntax.random_lines FOLDER [--rounds 20000] [--seed 1]

What Python itself does not parse is left out: of a wrong text nobody can say what it declares. tree-sitter takes some
of it for right.
"""

import argparse
import ast
import random
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from lsp_harness.index.builder.file_extract import replace_invalid_utf8
from lsp_harness.syntax.symbols.declarations import find_declarations
from lsp_harness.syntax.symbols.python_lines import read_python_lines
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document

LINE_ENDS = (";", "; x = 1", " # c", "\\", " = (", ")", '"', "; import a.b as c", ": int", ", y", " ", '"""')
LINES = (
    *("# comment", "x = 1", "x, y = 1, (2,", "@dec", "class A(B[int], metaclass=C): pass", "class A(B, # b\n  C,):"),
    *(
        "def f(a: int = (1, [2])) -> 'x': return 1",
        "from . import (a as b, # c",
        ")",
        "from .a.b import *",
        "import a, b.c as d",
    ),
    *(
        "type Name[T] = int",
        "a = b = 1; c: int = 2",
        "async def f(): ...",
        "if a: b = 1",
        "else:",
        "try:",
        "x: int",
        '"""text',
    ),
    *(
        "a.b, c = 1, 2",
        "(a, b), c = 1",
        "class A: x = 1; y = 2",
        'f"{a["b"]}"',
        "match x:",
        "case A(b=1):",
        "lambda: x",
        "type = 1",
    ),
    *(
        "print >>a, b",
        "del a, b",
        "*a, b = c",
        "a = b, c = d, e",
        "x = ((((((1))))))",
        "def f(a=((((((1)))))))):",
        "a += b, c",
    ),
)


def change_lines(text: str, rng: random.Random) -> str:
    """Change, move, indent, repeat or remove one to three lines."""
    lines = text.split("\n")
    for _ in range(rng.randrange(1, 4)):
        n, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        match rng.choice(("delete", "repeat", "in", "out", "end", "insert", "swap", "cut")):
            case "delete":
                lines[n : n + 1] = [] if len(lines) > 1 else [""]
            case "repeat":
                lines.insert(other, lines[n])
            case "in":
                lines[n] = " " * rng.choice((1, 2, 4)) + lines[n]
            case "out":
                lines[n] = lines[n][rng.choice((1, 4)) :]
            case "end":
                lines[n] += rng.choice(LINE_ENDS)
            case "insert":
                lines.insert(n, " " * rng.choice((0, 4, 8, 12)) + rng.choice(LINES))
            case "swap":
                lines[n], lines[other] = lines[other], lines[n]
            case "cut":
                lines[n] = lines[n].rstrip()[:-1]
    return "\n".join(lines)


def compare_readers(text: str) -> str:
    """Return how both readers agree: `same`, `other`, `parser` if lines are not enough, `wrong` if it is no Python."""
    data = replace_invalid_utf8(text.encode("utf-8", "replace"))
    python_lines = read_python_lines(data)
    if python_lines is None:
        return "parser"
    try:
        ast.parse(data)
    except (SyntaxError, ValueError):
        return "wrong"
    tree = parse(Document.from_text("file:///a.py", data))
    if tree is None or tree.root.has_error:
        return "wrong"
    return "same" if python_lines == find_declarations(tree.language, data, tree.root) else "other"


def compare_changed_texts(texts: list[str], count: int, rng: random.Random) -> Iterator[tuple[str, str]]:
    """Yield changed texts, and how both readers agree on them."""
    warnings.simplefilter("ignore")
    for _ in range(count):
        text = change_lines(rng.choice(texts), rng)
        yield text, compare_readers(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    files = [path for path in sorted(args.folder.rglob("*.py")) if path.stat().st_size < 15_000]
    texts = [path.read_text("utf-8", "replace") for path in files]
    counter: Counter[str] = Counter()
    for text, how in compare_changed_texts(texts, args.rounds, random.Random(args.seed)):
        counter[how] += 1
        if how == "other":
            print(f"--- they differ ---\n{text}")
    print(dict(counter))


if __name__ == "__main__":
    main()
