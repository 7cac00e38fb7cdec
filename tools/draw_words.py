"""A draw of docstrings, names, error messages and commit subjects, for a reader who has not seen the code.

`python -m tools.draw_words --seed 7` prints 60 texts with their places, a fourth of each kind. The reader says of each
text whether one reading was enough.
"""

import argparse
import ast
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("lsp_harness", "tests", "benchmarks", "tools")
SENTENCE_WORDS = 4
"""An error with fewer words is a name or a code and no sentence."""
NODES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def read_nodes() -> Iterator[tuple[str, ast.AST]]:
    """Yield every node of the Python files with its file and line."""
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                yield f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}", node


def find_docstring(place: str, node: ast.AST) -> str:
    """Return the docstring of a module, a class or a function with its place and its name, or an empty text."""
    text = ast.get_docstring(node) if isinstance(node, (ast.Module, *NODES)) else None
    return f"{place} {getattr(node, 'name', '')}\n{text}" if text else ""


def find_name(place: str, node: ast.AST) -> str:
    """Return the name of a function, a class, or a bool parameter or field with its place, or an empty text."""
    if isinstance(node, NODES):
        return f"{place} {node.name}"
    if isinstance(node, ast.arg | ast.AnnAssign) and isinstance(node.annotation, ast.Name):
        target = node.arg if isinstance(node, ast.arg) else ast.unparse(node.target)
        return f"{place} {target}: bool" if node.annotation.id == "bool" else ""
    return ""


def find_error(place: str, node: ast.AST) -> str:
    """Return the sentence that a statement of the package raises with its place, or an empty text."""
    if not isinstance(node, ast.Raise) or not place.startswith("lsp_harness"):
        return ""
    texts = (part for part in ast.walk(node) if isinstance(part, ast.JoinedStr | ast.Constant))
    sentence = ast.unparse(text) if (text := next(texts, None)) else ""
    return f"{place} {sentence}" if len(sentence.split()) >= SENTENCE_WORDS else ""


FINDERS = {"docstrings": find_docstring, "names": find_name, "errors": find_error}
"""Kind of text → the function that finds the text of a node."""


def collect_subjects(since: str) -> list[str]:
    """Return the subjects of the commits after a revision, or of all commits."""
    command = ("git", "log", "--no-merges", "--format=%h %s", *([f"{since}.."] if since else []))
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()


def main() -> None:
    """Print the draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="number that decides the draw (1)")
    parser.add_argument("--count", type=int, default=60, help="number of texts (60)")
    parser.add_argument("--since", default="", metavar="REVISION", help="draw subjects of later commits only")
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    texts: dict[str, list[str]] = {kind: [] for kind in FINDERS}
    for place, node in read_nodes():
        for kind, find in FINDERS.items():
            if text := find(place, node):
                texts[kind].append(text)
    texts["subjects"] = collect_subjects(arguments.since)
    for kind, found in texts.items():
        print(f"## {kind}\n")
        for number, text in enumerate(chance.sample(found, arguments.count // len(texts)), 1):
            print(f"{number}. {text}\n")


if __name__ == "__main__":
    main()
