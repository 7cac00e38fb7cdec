"""Files of installed packages, read and parsed. Only files inside of the package folder that contain no secrets are
read.

No code is run. A file that is too large, is not text or must not be read is treated as missing.
"""

import json
import logging
import os
import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol, cast

from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import FileError
from lsp_harness.files.secrets import is_secret_path
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.grammars import language_for
from lsp_harness.syntax.parse_budget import ParseBudgetExceeded
from lsp_harness.syntax.symbols.declarations import Declaration, Import
from lsp_harness.syntax.symbols.declared_text import read_declarations
from lsp_harness.text.position import decode

EXPORTED = re.compile(r"\bexport\s*(?:type\s*)?\{([^}]*)\}(?!\s*from)")
EXPORT_DEFAULT = re.compile(r"\bexport\s+default\s+(?!(?:async|function|class|abstract|interface)\b)([\w$.]+)")
EXPORT_DECLARED = re.compile(
    r"\bexport\s+default\s+(?:async\s+|abstract\s+)*(?:function\*?|class|interface)\s+([\w$]+)"
)
EXPORT_WHOLE = re.compile(r"(?:\bexport\s*=|\bmodule\.exports\s*=)\s*([\w$.]+)\s*[;\n]")
REQUIRED_WHOLE = re.compile(r"\bmodule\.exports\s*=\s*require\(\s*['\"]([^'\"]+)['\"]\s*\)")


def find_exports(data: bytes) -> dict[str, str]:
    """Return the local names of exports that are declared apart from the declaration.

    The keys are the exported names, `default` for the default export and `=` for the value that is the whole module.
    """
    source = decode(data)
    exports: dict[str, str] = {}
    for match in EXPORTED.finditer(source):
        for part in match[1].split(","):
            names = part.replace("type ", "").split()
            if names and names[0] != "default":
                exports[names[-1]] = names[0]
    for pattern, name in ((EXPORT_DECLARED, "default"), (EXPORT_DEFAULT, "default"), (EXPORT_WHOLE, "=")):
        if match := pattern.search(source):
            exports.setdefault(name, match[1])
    if match := REQUIRED_WHOLE.search(source):
        exports["="] = f"require:{match[1]}"
    return exports


log = logging.getLogger(__name__)

MAX_FILE_BYTES = 1_000_000
"""Largest size of a file that is read."""
MAX_CACHED_FILES = 96
"""Number of parsed files in memory."""

FileStamp = tuple[int, int]
"""Modification time in nanoseconds and size in bytes."""


@dataclass(frozen=True, slots=True)
class Package:
    """An installed package. Only files inside of `folder`, a path without symbolic links, are read."""

    name: str
    version: str
    folder: Path


@dataclass(frozen=True)
class PackageText:
    """A parsed file of a package."""

    path: Path
    language: LanguageSpec
    data: bytes
    declarations: Sequence[Declaration]
    imports: Sequence[Import]

    @cached_property
    def top_level(self) -> dict[str, list[int]]:
        """The indexes of the declarations that other files can see, by name."""
        indexes_by_name: dict[str, list[int]] = {}
        for index, declaration in enumerate(self.declarations):
            if not declaration.owner and (
                declaration.parent < 0 or self.is_ambient(self.declarations[declaration.parent])
            ):
                indexes_by_name.setdefault(declaration.name, []).append(index)
        return indexes_by_name

    @cached_property
    def exports(self) -> dict[str, str]:
        """The local names of exports that a script declares apart from the declaration."""
        return find_exports(self.data) if self.language.imports.has_module_imports else {}

    def is_ambient(self, declaration: Declaration) -> bool:
        """Return whether a declaration only names the module of the declarations inside of it (`declare module
        "x"`)."""
        quoted = self.data[declaration.name_start - 1 : declaration.name_start] in (b'"', b"'")
        return declaration.kind == "module" and declaration.parent < 0 and (quoted or declaration.name == "global")

    def find_children(self, parent: int) -> list[int]:
        """Return the indexes of the declarations directly inside of another one."""
        return [index for index, declaration in enumerate(self.declarations) if declaration.parent == parent]


def read_stamp(path: Path) -> FileStamp:
    """Return a stamp that changes with the file; zeros if there is no file."""
    try:
        file_stat = os.stat(path)
    except (OSError, ValueError):
        return (0, 0)
    return (file_stat.st_mtime_ns, file_stat.st_size)


def resolve_links(path: Path) -> Path | None:
    """Return the path without symbolic links, or None if nothing exists there."""
    try:
        return Path(os.path.realpath(path, strict=True))
    except (OSError, ValueError):
        return None


def read_contents(path: Path, folder: Path) -> bytes | None:
    """Return the bytes of a file inside of a folder, or None if the file must not or cannot be read."""
    try:
        resolved = os.path.realpath(path, strict=True)
        if not Path(resolved).is_relative_to(folder) or is_secret_path(resolved[len(str(folder)) :]):
            return None
        data = read_file(Path(resolved), MAX_FILE_BYTES)
    except (OSError, ValueError, FileError):
        return None
    return None if b"\0" in data[:8192] else data


def read_text(path: Path, folder: Path) -> str:
    """Return the text of a file; empty if it cannot be read."""
    return (read_contents(path, folder) or b"").decode("utf-8", "replace")


def read_json_object(path: Path, folder: Path) -> dict[str, object]:
    """Return the JSON object in a file; empty if there is none."""
    try:
        return as_object(json.loads(read_text(path, folder)))
    except (ValueError, RecursionError):
        return {}


def as_object(value: object) -> dict[str, object]:
    """Return the value if it is a JSON object, otherwise an empty one."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


class TextCache:
    """Parsed files by package, path and stamp. The least recently used files are dropped."""

    def __init__(self, max_files: int = MAX_CACHED_FILES) -> None:
        self._max_files = max_files
        self._cache: OrderedDict[tuple[Package, Path, FileStamp], PackageText | None] = OrderedDict()

    def read(self, package: Package, path: Path) -> PackageText | None:
        """Return a parsed file, or None if it cannot be read or parsed."""
        key = (package, path, read_stamp(path))
        if key[2] == (0, 0):
            return None
        if key not in self._cache:
            self._cache[key] = self._parse(package, path)
            while len(self._cache) > self._max_files:
                self._cache.popitem(last=False)
        self._cache.move_to_end(key)
        return self._cache[key]

    def _parse(self, package: Package, path: Path) -> PackageText | None:
        data = read_contents(path, package.folder)
        language = language_for("", path.name)
        if data is None or language is None or not language.queries:
            return None
        try:
            return PackageText(path, language, data, *read_declarations(language, data))
        except ParseBudgetExceeded as error:
            log.info("%s is not read: %s", path, error)
            return None


GO_VERSION = re.compile(r"(?:^|\.)v\d+\Z")


@dataclass(frozen=True, slots=True)
class Module:
    """Everything that one import of a module makes visible: files of one package."""

    package: Package
    name: str
    texts: tuple[PackageText, ...] = ()
    without_stubs: bool = False
    """True if stubs were left out."""
    importer_folder: Path | None = None
    """The folder of the importing file, in languages where it matters."""


class PackageRules(Protocol):
    """The packages that are installed for one workspace folder, in one language."""

    searched_places: list[str]
    """The places where packages were searched last, for people."""

    def find_module(
        self, name: str, importer_folder: Path | None = None, *, without_stubs: bool = False
    ) -> Module | None:
        """Return a module as a file imports it, or None.

        Args:
            name: The module as an import writes it.
            importer_folder: The folder of the importing file.
            without_stubs: Whether the sources are read even if there are stubs.
        """
        ...

    def find_submodule(self, module: Module, name: str) -> Module | None:
        """Return a module inside of another one, or None."""
        ...

    def find_target(self, module: Module, text: PackageText, imported: Import) -> tuple[Module, str] | None:
        """Return the module that an import in a module means, and the name in it (empty for the module itself), or
        None."""
        ...

    def split_name(self, dotted_name: str) -> list[tuple[str, str]]:
        """Return possible divisions of a name as people write it: a module and the dotted name in it."""
        ...


def local_name(language: LanguageSpec, imported: Import) -> str:
    """Return the name that an import has in its file; empty if it has none."""
    if imported.alias or imported.name or language.imports.has_module_imports:
        return imported.alias or imported.name
    if language.imports.packages_name_themselves:
        # This is a convention. A package may declare another name.
        parts = imported.module.strip('"').split("/")
        last = parts[-2] if len(parts) > 1 and GO_VERSION.fullmatch(parts[-1]) else parts[-1]
        return GO_VERSION.sub("", last).removeprefix("go-").removesuffix("-go").replace("-", "_")
    parts = imported.module.split(language.imports.separator)
    return parts[0] if language.imports.binds_first_part else parts[-1]
