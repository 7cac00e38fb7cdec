"""The imports of a file that a part of its code needs."""

import re
from collections.abc import Iterator, Sequence

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax import scope
from lsp_harness.syntax.symbols.declarations import Import, find_declarations
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import Span, decode

IDENTIFIER = re.compile(r"[^\W\d]\w*")
LAST_IDENTIFIER = re.compile(r"[^\W\d]\w*(?=\W*\Z)")


def find_required_imports(tree: SyntaxTree, span: Span) -> list[str]:
    """Return the import statements that the code in a span needs, in the order of the text.

    A statement is reduced to the names that the code uses, if the language allows that. Statements that import
    everything (`*`, `#include`) are always returned.
    """
    used_names = set(IDENTIFIER.findall(decode(tree.data[slice(*span)])))
    all_imports = find_declarations(tree.language, tree.data, tree.root)[1]
    language = tree.language
    lines: list[str] = []
    for statement in scope.find_imports(tree):
        items = [item for item in all_imports if statement.start <= item.start < statement.end]
        required = [
            item for item in items if local_name(item, language) in used_names or _imports_everything(item, language)
        ]
        if required:
            lines += (
                _write_from_imports(required)
                if language.imports.form == "from-import"
                else [_cut(tree, statement, items, required)]
            )
    return lines


def local_name(item: Import, language: LanguageSpec) -> str:
    """Return the name by which the importing file calls what it imports."""
    if language.imports.binds_first_part and not item.name and not item.alias:
        return item.module.partition(".")[0]
    last = LAST_IDENTIFIER.search(item.module)
    return item.alias or item.name or (last[0] if last else "")


def _imports_everything(item: Import, language: LanguageSpec) -> bool:
    return item.name == "*" or language.imports.imports_everything


def _write_from_imports(items: Sequence[Import]) -> Iterator[str]:
    """Yield Python import statements for these imports alone."""
    modules = dict.fromkeys(item.module for item in items if item.name)
    yield from (f"import {_with_alias(item.module, item.alias)}" for item in items if not item.name)
    for module in modules:
        names = (_with_alias(item.name, item.alias) for item in items if item.name and item.module == module)
        yield f"from {module} import {', '.join(names)}"


def _with_alias(name: str, alias: str) -> str:
    return f"{name} as {alias}" if alias else name


def _cut(tree: SyntaxTree, statement: Span, items: Sequence[Import], required: Sequence[Import]) -> str:
    """Return the lines of a statement without the lines that hold only imports that are not required."""
    document = tree.document
    first, last = document.line_of(statement.start), document.line_of(statement.end)
    required_lines = {document.line_of(item.start) for item in required}
    dropped_lines = {document.line_of(item.start) for item in items} - required_lines - {first, last}
    kept_lines = (n for n in range(first, last + 1) if n not in dropped_lines)
    return "\n".join(decode(document.line(n)).rstrip("\r\n") for n in kept_lines).strip()
