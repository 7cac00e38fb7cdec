"""The imports of a file that some of its code needs."""

import re
from collections.abc import Iterator, Sequence

from lsp_harness.syntax import scope
from lsp_harness.syntax.symbols.declarations import Import, declared
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import Span, decode

WORD = re.compile(r"[^\W\d]\w*")
LAST = re.compile(r"[^\W\d]\w*(?=\W*\Z)")


def find_required_imports(tree: SyntaxTree, span: Span) -> list[str]:
    """Import statements that bring names of this code in, in the order of the text: of a Python statement, and of one that has a
    name a line, only these names; those that bring in everything (`*`, `#include`) whole."""
    used = set(WORD.findall(decode(tree.data[slice(*span)])))
    brought = declared(tree.language, tree.data, tree.root)[1]
    found: list[str] = []
    for statement in scope.imports(tree):
        inside = [one for one in brought if statement.start <= one.start < statement.end]
        kept = [
            one for one in inside if local_name(one, tree.language.id) in used or _everything(one, tree.language.id)
        ]
        if kept:
            found += _python(kept) if tree.language.id == "python" else [_lines(tree, statement, inside, kept)]
    return found


def local_name(one: Import, language: str) -> str:
    """What the file calls it."""
    if language == "python" and not one.name and not one.alias:
        return one.module.partition(".")[0]
    last = LAST.search(one.module)
    return one.alias or one.name or (last[0] if last else "")


def _everything(one: Import, language: str) -> bool:
    return one.name == "*" or language in ("c", "cpp", "csharp", "ruby")


def _python(kept: Sequence[Import]) -> Iterator[str]:
    modules = dict.fromkeys(one.module for one in kept if one.name)
    yield from (f"import {_as(one.module, one.alias)}" for one in kept if not one.name)
    for module in modules:
        names = (_as(one.name, one.alias) for one in kept if one.name and one.module == module)
        yield f"from {module} import {', '.join(names)}"


def _as(name: str, alias: str) -> str:
    return f"{name} as {alias}" if alias else name


def _lines(tree: SyntaxTree, statement: Span, inside: Sequence[Import], kept: Sequence[Import]) -> str:
    document = tree.document
    first, last = document.line_of(statement.start), document.line_of(statement.end)
    mine = {document.line_of(one.start) for one in kept}
    others = {document.line_of(one.start) for one in inside} - mine - {first, last}
    return "\n".join(decode(document.line(n)).rstrip("\r\n") for n in range(first, last + 1) if n not in others).strip()
