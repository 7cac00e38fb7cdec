"""The imports that a part of a file needs, and the declarations of a name with the imports that they need."""

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsp_harness.index.index_query import IndexQuery
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.language_table import find_language
from lsp_harness.syntax import scope
from lsp_harness.syntax.symbols.declarations import Import, find_declarations, qualified_name
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import Span, decode

MAX_IMPORTS = 2
"""Most imports to return, as each is tried."""


async def find_imports(index: IndexQuery, uri: str, path: str, name: str, language: str) -> list[tuple[str, str, str]]:
    """Return the imports by which other files know a name, the most frequent first.

    Args:
        index: The indexes of the workspace folders.
        uri: The document that needs the name.
        path: The path of that document in its folder.
        name: The name.
        language: The language of the document.

    Returns:
        Triples of the module as this document must write it, the name in the module (empty for the module itself), and
        the alias (empty for none).
    """
    counts: Counter[tuple[str, str, str]] = Counter()
    for item in await index.import_statements(uri, path, language, name):
        if (own_module := _module_seen_from(path, item.module, item.importer, language)) is not None:
            counts[own_module, "" if item.name == "*" else item.name, item.alias] += 1
    return sorted(counts, key=lambda item: (-counts[item], item))[:MAX_IMPORTS]


def _module_seen_from(path: str, module: str, importer: str, language: str) -> str | None:
    """Return the name that the file at `path` must use for a module that `importer` imports, or None if it is unknown.

    Only relative names differ, and only those of scripts can be translated: they are paths.
    """
    importer_folder, folder = posixpath.dirname(importer), posixpath.dirname(path)
    if module[:1] != "." or importer_folder == folder:
        return module
    if not find_language(language).imports.has_module_imports:
        return None
    target = posixpath.normpath(posixpath.join("/", importer_folder, module))
    relative = posixpath.relpath(target, posixpath.join("/", folder))
    return relative if relative.startswith(".") else f"./{relative}"


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
            item for item in items if name_locally(item, language) in used_names or _imports_everything(item, language)
        ]
        if required:
            lines += (
                _write_from_imports(required)
                if language.imports.form == "from-import"
                else [_cut(tree, statement, items, required)]
            )
    return lines


def name_locally(item: Import, language: LanguageSpec) -> str:
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


@dataclass(frozen=True, slots=True)
class DeclarationExtract:
    """A declaration taken out of its file.

    Attributes:
        path: The file.
        qualified: The qualified name of the declaration.
        line: The line of its name, counted from 0.
        imports: The import statements that the declaration needs.
        text: The declaration as it stands in the file.
    """

    path: str
    qualified: str
    line: int
    imports: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return "\n".join([*self.imports, *["" for _ in self.imports[:1]], self.text])


def extract_declarations(tree: SyntaxTree, path: str, name: str) -> list[DeclarationExtract]:
    """Return the declarations with this qualified name: several if the name is declared again or overloaded."""
    declarations = find_declarations(tree.language, tree.data, tree.root)[0]
    return [
        DeclarationExtract(
            path,
            name,
            item.line,
            tuple(find_required_imports(tree, span)),
            decode(tree.data[slice(*span)]).rstrip(),
        )
        for item in declarations
        if qualified_name(declarations, item) == name and (span := _with_indentation(tree, item.start, item.end))
    ]


def _with_indentation(tree: SyntaxTree, start: int, end: int) -> Span:
    """Return the span with the indentation before it, if nothing else precedes it on its line."""
    line_start = tree.data.rfind(b"\n", 0, start) + 1
    return Span(start if tree.data[line_start:start].strip() else line_start, end)
