"""The statements by which files of the index import a name."""

import re
from dataclasses import dataclass

from lsp_harness.index.index_view import IndexView
from lsp_harness.languages.language_table import find_language, shipped_languages
from lsp_harness.store.database import placeholders

MODULE_SEPARATOR = re.compile(r"[./\\\\:]")
SELECT_IMPORTS = """
SELECT module, name, alias, path FROM imports JOIN files ON files.id = imports.file
WHERE language IN ({languages}) AND path != ?
  AND (alias = ? OR (alias = '' AND (name = ? OR (name IN ('', '*') AND (module = ? OR module LIKE ?)))))
"""


@dataclass(frozen=True, slots=True)
class ImportStatement:
    """An import in a file of the index.

    Attributes:
        module: The module, as the statement names it.
        name: The name in the module; empty for the module itself, `*` for all its names.
        alias: The name that the file uses instead; empty for none.
        importer: The file of the statement.
    """

    module: str
    name: str
    alias: str
    importer: str


def find_import_statements(view: IndexView, path: str, language: str, name: str) -> list[ImportStatement]:
    """Return the imports after which a file knows a name.

    Args:
        view: The index.
        path: A file whose own imports are left out.
        language: The language of the file. Only files of the same language count.
        name: The name.
    """
    languages = [language]
    if find_language(language).imports.has_module_imports:
        languages = [spec.id for spec in shipped_languages() if spec.imports.has_module_imports]
    statement = SELECT_IMPORTS.format(languages=placeholders(len(languages)))
    rows = view.reader.rows(statement, (*languages, path, name, name, name, f"%{name}"))
    statements = [ImportStatement(*row) for row in rows]
    return [item for item in statements if item.alias or item.name or MODULE_SEPARATOR.split(item.module)[-1] == name]
