"""The imports by which other files of the workspace know a name."""

import posixpath
import re
from collections import Counter

from lsp_harness.index.index_query import IndexQuery
from lsp_harness.store.database import Reader

MAX_IMPORTS = 2
"""Most imports to return, as each is tried."""
IMPORTS_OF_NAME = """
SELECT module, name, alias, path FROM imports JOIN files ON files.id = imports.file
WHERE language IN (?, ?, ?) AND path != ?
  AND (alias = ? OR (alias = '' AND (name = ? OR (name IN ('', '*') AND (module = ? OR module LIKE ?)))))
"""
SCRIPT_LANGUAGES = ("javascript", "typescript", "tsx")
MODULE_SEPARATOR = re.compile(r"[./\\\\:]")


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

    def read(reader: Reader) -> list[tuple[str, str, str]]:
        languages = SCRIPT_LANGUAGES if language in SCRIPT_LANGUAGES else (language,) * 3
        counts: Counter[tuple[str, str, str]] = Counter()
        parameters = (*languages, path, name, name, name, f"%{name}")
        for module, imported, alias, importer in reader.rows(IMPORTS_OF_NAME, parameters):
            if not (alias or imported) and MODULE_SEPARATOR.split(module)[-1] != name:
                continue
            if (own_module := _module_seen_from(path, module, importer, language)) is not None:
                counts[own_module, "" if imported == "*" else imported, alias] += 1
        return sorted(counts, key=lambda item: (-counts[item], item))

    return (await index.ask(uri, read, list[tuple[str, str, str]](), slow=True))[:MAX_IMPORTS]


def _module_seen_from(path: str, module: str, importer: str, language: str) -> str | None:
    """Return the name that the file at `path` must use for a module that `importer` imports, or None if it is unknown.

    Only relative names differ, and only those of scripts can be translated: they are paths.
    """
    importer_folder, folder = posixpath.dirname(importer), posixpath.dirname(path)
    if module[:1] != "." or importer_folder == folder:
        return module
    if language not in SCRIPT_LANGUAGES:
        return None
    target = posixpath.normpath(posixpath.join("/", importer_folder, module))
    relative = posixpath.relpath(target, posixpath.join("/", folder))
    return relative if relative.startswith(".") else f"./{relative}"
