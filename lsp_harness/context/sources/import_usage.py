"""How a name that a file does not know is imported elsewhere in the workspace: import lines, the most usual first."""

import posixpath
import re
from collections import Counter

from lsp_harness.index.index_query import IndexQuery
from lsp_harness.store.database import Reader

MOST = 2
"""Lines that are worth a try."""
USED = """
SELECT module, name, alias, path FROM imports JOIN files ON files.id = imports.file
WHERE language = 'python' AND (alias = ? OR (alias = '' AND (name = ? OR (name = '' AND module = ?))))
"""
MODULES = """
SELECT module FROM symbols JOIN targets ON target = symbols.file JOIN imports ON imports.file = targets.file AND imports.n = targets.n
WHERE symbols.name = ? AND symbols.parent = -1 AND imports.name != '' AND module NOT LIKE '.%'
"""

ANY = """
SELECT module, name, alias, path FROM imports JOIN files ON files.id = imports.file
WHERE language IN (?, ?, ?) AND path != ?
  AND (alias = ? OR (alias = '' AND (name = ? OR (name IN ('', '*') AND (module = ? OR module LIKE ?)))))
"""
SCRIPTS = ("javascript", "typescript", "tsx")
ENDS = re.compile(r"[./\\\\:]")
"""What stands before the last part of a module's name."""


async def find_imports(known: IndexQuery, uri: str, path: str, name: str, language: str) -> list[tuple[str, str, str]]:
    """The module, the name in it and the alias of the imports by which other files know a name, the most usual first."""

    def read(reader: Reader) -> list[tuple[str, str, str]]:
        alike = SCRIPTS if language in SCRIPTS else (language,) * 3
        found: Counter[tuple[str, str, str]] = Counter()
        for module, what, alias, where in reader.rows(ANY, (*alike, path, name, name, name, f"%{name}")):
            if not (alias or what) and ENDS.split(module)[-1] != name:
                continue
            if (here := _seen_from(module, where, path, language)) is not None:
                found[here, "" if what == "*" else what, alias] += 1
        return sorted(found, key=lambda one: (-found[one], one))

    return (await known.ask(uri, read, list[tuple[str, str, str]](), slow=True))[:MOST]


def _seen_from(module: str, where: str, path: str, language: str) -> str | None:
    """What the file at `path` calls a module that another file imports; None where that cannot be said."""
    there, here = posixpath.dirname(where), posixpath.dirname(path)
    if module[:1] != "." or there == here:
        return module
    if language not in SCRIPTS:
        return None
    relative = posixpath.relpath(posixpath.normpath(posixpath.join("/", there, module)), posixpath.join("/", here))
    return relative if relative.startswith(".") else f"./{relative}"


async def importing(known: IndexQuery, uri: str, path: str, name: str) -> list[str]:
    """Of Python: as other files import the name, or else from a module that has it and that other files import from."""

    def read(reader: Reader) -> list[str]:
        return _used(reader, path, name) or _declared(reader, name)

    return (await known.ask(uri, read, list[str](), slow=True))[:MOST]


def _used(reader: Reader, path: str, name: str) -> list[str]:
    lines: Counter[str] = Counter()
    folder = path.rpartition("/")[0]
    for module, what, alias, where in reader.rows(USED, (name, name, name)):
        # what is relative means something else in another folder
        if where != path and (module[:1] != "." or where.rpartition("/")[0] == folder):
            named = f" as {alias}" if alias else ""
            lines[f"from {module} import {what}{named}" if what else f"import {module}{named}"] += 1
    return _usual(lines)


def _declared(reader: Reader, name: str) -> list[str]:
    return _usual(Counter(f"from {module} import {name}" for (module,) in reader.rows(MODULES, (name,))))


def _usual(lines: Counter[str]) -> list[str]:
    return sorted(lines, key=lambda line: (-lines[line], line))
