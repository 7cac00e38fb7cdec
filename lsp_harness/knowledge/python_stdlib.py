"""Exports of the modules of Python's standard library, read from their files. Only modules that are written in C are
imported."""

import importlib
import re
import sys
import sysconfig
from functools import cache
from pathlib import Path

ALL_ASSIGNMENT = re.compile(
    r"^__all__\s*(?:\+?=|:[^=\n]+=)\s*(?:tuple|list)?\(?\s*[\[(]((?:#[^\n]*|[^\])#])*)", re.MULTILINE
)
ALL_EXTENSION = re.compile(r"^__all__\s*(?:\+=|\.extend\()\s*\(?\s*[\[(]((?:#[^\n]*|[^\])#])*)", re.MULTILINE)
WORD = re.compile(r"[\"'](\w+)[\"']")
DEFINITION = re.compile(r"^(?:async def|def|class) ([A-Za-z]\w*)|^([A-Za-z]\w*)[ ]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
MEMBER = re.compile(r"^[ ]{4}(?:async def|def) (\w+)|\bself\.(\w+) *(?::[^=\n]+)?=(?!=)", re.MULTILINE)
BUILTIN_MODULES = frozenset(
    {"math", "time", "sys", "itertools", "gc", "errno", "array", "cmath", "binascii", "zlib", "select", "fcntl"}
    | {"unicodedata", "marshal", "atexit", "mmap", "pwd", "grp"}
)
"""Modules without a Python file. Importing them has no side effects."""
RUNTIME_MODULES = frozenset({"os", "os.path"})
"""Modules that build their list of names at run time. Every process has imported them."""
SUBMODULES = (
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
"""Modules inside of packages from which people import names."""
PREFERRED_MODULES = (
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
"""Modules to prefer if several export a name, the most likely first."""
SOURCE_MODULES = {"collections.abc": "_collections_abc", "os.path": "posixpath", "io": "io", "datetime": "datetime"}
EQUIVALENT_MODULES = frozenset({"collections.abc", "typing"})
"""Modules that export the same names with the same meaning."""
RARE_MODULES = re.compile(
    r"(?:test|idlelib|lib2to3|distutils|turtle|antigravity|this|_|encodings|pydoc_data|nt|posix|pip)"
)
MODULES = sys.stdlib_module_names


def is_module(name: str) -> bool:
    """Return whether the library has this module, either at the top level or in `SUBMODULES`."""
    return name in MODULES or name in SUBMODULES


@cache
def find_exports(module: str) -> frozenset[str]:
    """Return the public names of a module; empty if they cannot be read."""
    if module in BUILTIN_MODULES | RUNTIME_MODULES:
        return frozenset(name for name in dir(importlib.import_module(module)) if not name.startswith("_"))
    text = _read_source(SOURCE_MODULES.get(module, module))
    if text is None:
        return frozenset()
    names = {
        name
        for listing in (*ALL_ASSIGNMENT.findall(text), *ALL_EXTENSION.findall(text))
        for name in WORD.findall(listing)
    }
    if module == "asyncio":
        submodule_texts = (
            _read_source(f"asyncio.{submodule_text}") or ""
            for submodule_text in re.findall(r"from \.(\w+) import \*", text)
        )
        names = {
            name
            for submodule_text in submodule_texts
            for listing in ALL_ASSIGNMENT.findall(submodule_text)
            for name in WORD.findall(listing)
        }
    return frozenset(names or {name for pair in DEFINITION.findall(text) for name in pair if name})


def find_members(module: str) -> frozenset[str]:
    """Return the names that may follow a module and a dot: exports, other definitions, and submodules."""
    text = _read_source(SOURCE_MODULES.get(module, module)) or ""
    defined = {name for pair in DEFINITION.findall(text) for name in pair if name}
    submodules = {submodule.rpartition(".")[2] for submodule in SUBMODULES if submodule.rpartition(".")[0] == module}
    return find_exports(module) | defined | submodules


@cache
def find_class_members(module: str, name: str) -> frozenset[str]:
    """Return the methods and attributes of a class, including those of its bases in the same module."""
    text = _read_source(SOURCE_MODULES.get(module, module)) or ""
    match = re.search(
        rf"^class {re.escape(name)}\b(?:\(([^)]*)\))?:[^\n]*\n((?:[ \t][^\n]*\n|[ \t]*\n)*)", text, re.MULTILINE
    )
    if match is None:
        return frozenset()
    bases = [
        base.strip() for base in (match[1] or "").split(",") if base.strip().isidentifier() and base.strip() != name
    ]
    own_members = {name for pair in MEMBER.findall(match[2]) for name in pair if name}
    return frozenset(own_members.union(*(find_class_members(module, base) for base in bases)))


def find_exporting_modules(name: str) -> list[str]:
    """Return the modules from which a name may be imported, the most likely first."""
    return list(_modules_by_export().get(name, ()))


def load_exports() -> None:
    """Read the exports of all modules into memory, so that later calls are fast."""
    _modules_by_export()


@cache
def _modules_by_export() -> dict[str, tuple[str, ...]]:
    modules_by_name: dict[str, list[str]] = {}
    order = {module: n for n, module in enumerate(PREFERRED_MODULES)}
    modules = [
        *PREFERRED_MODULES,
        *(
            module
            for module in sorted({*MODULES, *SUBMODULES} - set(PREFERRED_MODULES))
            if not RARE_MODULES.match(module)
        ),
    ]
    for module in modules:
        for name in find_exports(module):
            if not name.startswith("_"):
                modules_by_name.setdefault(name, []).append(module)
    return {
        name: tuple(sorted(name_modules, key=lambda module: order.get(module, len(order))))
        for name, name_modules in modules_by_name.items()
    }


def _read_source(module: str) -> str | None:
    path = Path(sysconfig.get_paths()["stdlib"], *module.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        try:
            return file.read_text("utf-8", "replace")
        except OSError:
            continue
    return None
