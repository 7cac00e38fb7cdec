"""A draw of docstrings, names, error messages and commit subjects, for a reader who has not seen the code.

`python -m tools.draw_words --seed 7` prints 60 texts with their places, a fourth of each kind. The reader says of each
text whether one reading was enough.
"""

import argparse
import ast
import random
import subprocess
from collections.abc import Iterable, Iterator
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


def collect_docstrings() -> Iterator[str]:
    """Yield each docstring of a module, a class or a function with its place and its name."""
    for place, node in read_nodes():
        if isinstance(node, (ast.Module, *NODES)) and (text := ast.get_docstring(node)):
            yield f"{place} {getattr(node, 'name', '')}\n{text}"


def collect_names() -> Iterator[str]:
    """Yield the name of each function and class, and of each bool among the parameters and fields."""
    for place, node in read_nodes():
        if isinstance(node, NODES):
            yield f"{place} {node.name}"
        elif isinstance(node, ast.arg | ast.AnnAssign) and isinstance(node.annotation, ast.Name):
            target = node.arg if isinstance(node, ast.arg) else ast.unparse(node.target)
            if node.annotation.id == "bool":
                yield f"{place} {target}: bool"


def collect_errors() -> Iterator[str]:
    """Yield each sentence that the package raises."""
    for place, node in read_nodes():
        if not isinstance(node, ast.Raise) or not place.startswith("lsp_harness"):
            continue
        texts = [part for part in ast.walk(node) if isinstance(part, ast.JoinedStr | ast.Constant)]
        sentences = [text for text in texts[:1] if len(ast.unparse(text).split()) >= SENTENCE_WORDS]
        yield from (f"{place} {ast.unparse(text)}" for text in sentences)


def collect_subjects(since: str) -> Iterable[str]:
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
    texts = {
        "docstrings": collect_docstrings(),
        "names": collect_names(),
        "errors": collect_errors(),
        "subjects": collect_subjects(arguments.since),
    }
    for kind, found in texts.items():
        print(f"## {kind}\n")
        for number, text in enumerate(chance.sample(list(found), arguments.count // len(texts)), 1):
            print(f"{number}. {text}\n")


if __name__ == "__main__":
    main()
