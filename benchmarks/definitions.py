"""Python's functions and classes as the index has them, beside those of Python's own parser.

    python -m benchmarks.definitions FOLDER

Every `def`, `async def` and `class` of every file that Python can parse, by qualified name and line. What only one side
has is printed, with its line.
"""

import argparse
import ast
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from lsp_harness.files.walk import WalkedFile as File
from lsp_harness.index.builder.file_extract import extract_file

KINDS = frozenset({"function", "method", "constructor", "class"})
DefinitionCounts = Counter[tuple[str, int]]
"""Qualified names and lines, counted from 1."""


def count_by_ast(source: str) -> DefinitionCounts:
    return Counter(_walk_functions(ast.parse(source), ""))


def _walk_functions(node: ast.AST, around: str) -> Iterator[tuple[str, int]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{around}{child.name}"
            yield name, child.lineno
            yield from _walk_functions(child, f"{name}.")
        else:
            yield from _walk_functions(child, around)


def count_by_index(path: Path, data: bytes) -> DefinitionCounts:
    symbols = extract_file(File(path.name, 0, len(data)), data).symbols
    # as `Extract.symbols` says
    return Counter((str(name), int(line) + 1) for _, _, kind, _, name, *_, line, _ in symbols if kind in KINDS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder.resolve()
    warnings.simplefilter("ignore")
    files = same = 0
    unread = list[str]()
    for path in sorted(folder.rglob("*.py")):
        try:
            with tokenize.open(path) as file:
                theirs = count_by_ast(file.read())
        except (SyntaxError, ValueError) as error:
            unread.append(f"{path.relative_to(folder)}: {type(error).__name__}")
            continue
        ours = count_by_index(path, path.read_bytes())
        files += 1
        same += (ours & theirs).total()
        for who, more in (("ast", theirs - ours), ("index", ours - theirs)):
            for (name, line), count in sorted(more.items()):
                print(f"only {who}: {path.relative_to(folder)}:{line}: {name}" + f" ×{count}" * (count > 1))
    print(
        f"{files} files, {same} definitions in both; {len(unread)} files that Python does not parse: "
        f"{', '.join(unread)}"
    )


if __name__ == "__main__":
    main()
