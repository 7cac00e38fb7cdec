"""What the modules of Python's library export, read from their files. Nothing is imported but modules that are written in C."""

import importlib
import re
import sys
import sysconfig
from functools import cache
from pathlib import Path

LISTED = re.compile(r"^__all__\s*(?:\+?=|:[^=\n]+=)\s*(?:tuple|list)?\(?\s*[\[(]((?:#[^\n]*|[^\])#])*)", re.MULTILINE)
EXTENDED = re.compile(r"^__all__\s*(?:\+=|\.extend\()\s*\(?\s*[\[(]((?:#[^\n]*|[^\])#])*)", re.MULTILINE)
WORD = re.compile(r"[\"'](\w+)[\"']")
DEFINED = re.compile(r"^(?:async def|def|class) ([A-Za-z]\w*)|^([A-Za-z]\w*)[ ]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
MEMBER = re.compile(r"^[ ]{4}(?:async def|def) (\w+)|\bself\.(\w+) *(?::[^=\n]+)?=(?!=)", re.MULTILINE)
BUILT_IN = frozenset(
    {"math", "time", "sys", "itertools", "gc", "errno", "array", "cmath", "binascii", "zlib", "select", "fcntl"}
    | {"unicodedata", "marshal", "atexit", "mmap", "pwd", "grp"}
)
"""Modules that have no file of Python's, and do nothing when they are imported."""
ALWAYS = frozenset({"os", "os.path"})
"""Modules that put their names together while they run; every process has them."""
WITHIN = (
    *(
        "collections.abc",
        "concurrent.futures",
        "importlib.metadata",
        "importlib.resources",
        "importlib.util",
        "json.decoder",
    ),
    *("logging.handlers", "logging.config", "multiprocessing.pool", "os.path", "unittest.mock", "urllib.error"),
    *(
        "urllib.parse",
        "urllib.request",
        "http.client",
        "http.server",
        "http.cookies",
        "email.message",
        "email.mime.text",
    ),
    *("email.mime.multipart", "email.utils", "email.header", "xml.etree.ElementTree", "xml.dom.minidom", "html.parser"),
    *(
        "wsgiref.simple_server",
        "ctypes.util",
        "curses.ascii",
        "distutils.core",
        "asyncio.subprocess",
        "xml.sax.saxutils",
    ),
)
"""Modules of packages that people import names from."""
PREFERRED = (
    *("typing", "dataclasses", "pathlib", "collections", "functools", "itertools", "datetime", "enum", "abc"),
    *(
        "contextlib",
        "collections.abc",
        "re",
        "os.path",
        "io",
        "json",
        "threading",
        "subprocess",
        "decimal",
        "fractions",
    ),
    *("random", "math", "time", "copy", "types", "operator", "urllib.parse", "urllib.request", "unittest.mock"),
    *("concurrent.futures", "textwrap", "tempfile", "string", "struct", "uuid", "inspect", "logging", "argparse"),
)
"""Of several modules that export a name, those that it is mostly imported from, the likeliest first."""
RENAMED = {"collections.abc": "_collections_abc", "os.path": "posixpath", "io": "io", "datetime": "datetime"}
COMMON = frozenset({"collections.abc", "typing"})
"""Two modules that export the same names, to the same end."""
SELDOM = re.compile(r"(?:test|idlelib|lib2to3|distutils|turtle|antigravity|this|_|encodings|pydoc_data|nt|posix|pip)")
MODULES = sys.stdlib_module_names


def is_module(name: str) -> bool:
    """Whether the library has a module of that name, or one in a package that people import."""
    return name in MODULES or name in WITHIN


@cache
def exports(module: str) -> frozenset[str]:
    """The public names of a module of the library; nothing where it has none that can be read."""
    if module in BUILT_IN | ALWAYS:
        return frozenset(name for name in dir(importlib.import_module(module)) if not name.startswith("_"))
    text = _text(RENAMED.get(module, module))
    if text is None:
        return frozenset()
    listed = {name for found in (*LISTED.findall(text), *EXTENDED.findall(text)) for name in WORD.findall(found)}
    if module == "asyncio":
        inner = (_text(f"asyncio.{one}") or "" for one in re.findall(r"from \.(\w+) import \*", text))
        listed = {name for one in inner for found in LISTED.findall(one) for name in WORD.findall(found)}
    return frozenset(listed or {name for pair in DEFINED.findall(text) for name in pair if name})


def members(module: str) -> frozenset[str]:
    """What may be written behind a module and a dot: its exports, what else it defines, and its submodules."""
    text = _text(RENAMED.get(module, module)) or ""
    defined = {name for pair in DEFINED.findall(text) for name in pair if name}
    within = {one.rpartition(".")[2] for one in WITHIN if one.rpartition(".")[0] == module}
    return exports(module) | defined | within


@cache
def class_members(module: str, name: str) -> frozenset[str]:
    """The methods and attributes of a class of the library, with those of its bases in the same module."""
    text = _text(RENAMED.get(module, module)) or ""
    found = re.search(
        rf"^class {re.escape(name)}\b(?:\(([^)]*)\))?:[^\n]*\n((?:[ \t][^\n]*\n|[ \t]*\n)*)", text, re.MULTILINE
    )
    if found is None:
        return frozenset()
    bases = [one.strip() for one in (found[1] or "").split(",") if one.strip().isidentifier() and one.strip() != name]
    own = {name for pair in MEMBER.findall(found[2]) for name in pair if name}
    return frozenset(own.union(*(class_members(module, base) for base in bases)))


def exporting(name: str) -> list[str]:
    """The modules that a name may be imported from, the likeliest first."""
    return list(_exporting().get(name, ()))


def load_exports() -> None:
    """Read the names that the modules of the library export; later questions find them in memory."""
    _exporting()


@cache
def _exporting() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    order = {module: n for n, module in enumerate(PREFERRED)}
    modules = [*PREFERRED, *(one for one in sorted({*MODULES, *WITHIN} - set(PREFERRED)) if not SELDOM.match(one))]
    for module in modules:
        for name in exports(module):
            if not name.startswith("_"):
                found.setdefault(name, []).append(module)
    return {name: tuple(sorted(listed, key=lambda one: order.get(one, len(order)))) for name, listed in found.items()}


def _text(module: str) -> str | None:
    path = Path(sysconfig.get_paths()["stdlib"], *module.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        try:
            return file.read_text("utf-8", "replace")
        except OSError:
            continue
    return None
