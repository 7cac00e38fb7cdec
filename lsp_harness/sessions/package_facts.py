"""The documentation of names that no file of a folder declares, because packages have them."""

import asyncio
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import indent

from lsp_harness.errors import UsageError
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.knowledge.doc_fragment import DocFragment
from lsp_harness.knowledge.installed_packages import InstalledPackages, package_languages
from lsp_harness.knowledge.name_search import search_name
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode

MAX_MODULES = 4
"""Most modules in which a name without a module is looked for."""
MAX_MENTIONS = 8
"""Most declarations whose text is searched for the module before a name."""


async def describe_package_name(
    installed: InstalledPackages | None,
    index: IndexQuery,
    root: Path,
    read_text: Callable[[str], Document | None],
    name: str,
) -> str:
    """Return the head and the documentation of a name in a package, or an empty text if no package is known to have it.

    Args:
        installed: The installed packages, or None if the settings switch them off.
        index: The indexes of the workspace folders, which know what the files of the folder import.
        root: The folder.
        read_text: Returns the present text of a file, or None if no model may see it.
        name: The name as code writes it, with its module (`requests.get`) or as a file imports it (`get`).

    Raises:
        HarnessError: The index cannot be read.
    """
    if installed is None:
        return ""
    languages = package_languages()
    names = [name] if "." in name else []
    for language in languages:
        first, _, rest = name.partition(".")
        imports = (await index.import_statements(root.as_uri(), "", language, first))[:MAX_MODULES]
        # a relative module is a file of the folder
        outside = [item for item in imports if not item.module.startswith(".")]
        names += [".".join(part for part in (item.module, item.name, rest) if part) for item in outside]
    if "." not in name:
        # code that uses the name with its module
        written = re.compile(rf"\b((?:[^\W\d]\w*\.)+){re.escape(name)}\b")
        for symbol in (await index.mentions(root.as_uri(), name))[:MAX_MENTIONS]:
            document = read_text(symbol.path)
            text = decode(document.data[symbol.start : symbol.end]) if document else ""
            names += [f"{match[1]}{name}" for match in written.finditer(text)]
    for one in dict.fromkeys(names):
        if fragment := await asyncio.to_thread(_search, installed, root, languages, one):
            return _describe(fragment)
    return ""


def _search(installed: InstalledPackages, root: Path, languages: Sequence[str], name: str) -> DocFragment | None:
    try:
        return search_name(installed, root, languages, name)
    except UsageError:
        return None


def _describe(fragment: DocFragment) -> str:
    several = f" (the first of {fragment.overloads} signatures)" if fragment.overloads > 1 else ""
    lines = [
        f"{fragment.release}: {fragment.signature or fragment.name or fragment.module}{several}",
        fragment.constructor and f"  {fragment.constructor}",
        f"  {fragment.documentation or 'It has no documentation.'}",
        fragment.details and f"\n{indent(fragment.details, '  ')}\n",
        fragment.file and f"  {fragment.file}",
    ]
    return "\n".join(line for line in lines if line)
