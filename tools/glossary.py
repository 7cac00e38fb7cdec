"""Generator of `docs/glossary.md`: `python -m tools.glossary`.

A term of the code is a public class or type. Its sentence is the first one of its docstring, so it exists only once.
The checks of edits are in `docs/checks.md` instead.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "lsp_harness"
PACKAGES = ("workspace", "completion", "coding", "kernel", "permission", "verify", "context")
"""Packages whose public classes are terms."""
CHECKS = PACKAGE / "verify" / "checks.py"
"""The module of the checks, each of which is a row of `docs/checks.md`."""
INTRODUCTION = """# Glossary

Generated from the docstrings of the public classes by `make docs`; do not edit the tables.

These terms are used everywhere:

| term | meaning |
| --- | --- |
| FIM, infill | fill-in-the-middle: the model gets the text around the cursor and writes what is between |
| ghost text | a suggestion that the editor shows at the cursor and that the user can accept |
| keystroke | one change of an open document by the user |
| finding | a report of a linter, a compiler or a check about a place in a text; the editor shows a diagnostic |
| candidate | one edit that a repair or the model proposes and that is not checked yet |
| proposal | an edit that passed its checks and that the user may apply |
| check, verdict | a question about a change, and the answers of all checks together |
| turn | one request of a user and everything that follows from it, as events in the log of the session |
| engine | the process with the model; any number of clients share it |
| KV cache | the evaluated tokens that the engine keeps, so that it evaluates only the new end of a prompt |
| prefetch | a completion that is generated before the user asks for it |
| index | the database with the declarations, names and texts of a workspace folder |
| private file | a file that no model may see, by the ignore rules or because it contains secrets |
| trusted workspace | a folder whose programs (linters, tests) lsp-harness may run |
"""


@dataclass(frozen=True, slots=True)
class Term:
    """A public class with the sentence that describes it and its module."""

    name: str
    sentence: str
    module: str


def find_terms(package: str) -> Iterator[Term]:
    """Yield the terms of a package in the order of their names."""
    terms = (
        Term(node.name, first_sentence(ast.get_docstring(node) or ""), str(file.relative_to(PACKAGE.parent)))
        for file in sorted((PACKAGE / package).rglob("*.py"))
        if file != CHECKS
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    yield from sorted(terms, key=lambda term: term.name.lower())


def first_sentence(docstring: str) -> str:
    """Return the first sentence of a docstring in one line."""
    paragraph = " ".join(docstring.split("\n\n")[0].split())
    return re.split(r"(?<=[.:;])\s+(?=[A-Z])", paragraph)[0].rstrip(":;")


def render() -> str:
    """Return docs/glossary.md: the terms with their meanings, as Markdown."""
    parts = [INTRODUCTION]
    for package in PACKAGES:
        if terms := list(find_terms(package)):
            parts.append(f"\n## `{package}`\n\n| term | meaning | home |\n| --- | --- | --- |\n")
            parts += [
                f"| `{term.name}` | {term.sentence.replace('|', chr(92) + '|')} | `{term.module}` |\n" for term in terms
            ]
    return "".join(parts)


if __name__ == "__main__":
    sys.stdout.write(render())
