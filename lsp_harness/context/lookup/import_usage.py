"""The imports by which other files of the workspace know a name."""

import posixpath
from collections import Counter

from lsp_harness.index.index_query import IndexQuery
from lsp_harness.languages.language_table import find_language

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
