"""How a name that a file does not know is brought in elsewhere in the workspace: import lines, the most usual first."""

from collections import Counter

from lsp_harness.context.elsewhere import Known
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


async def importing(known: Known, uri: str, path: str, name: str) -> list[str]:
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
