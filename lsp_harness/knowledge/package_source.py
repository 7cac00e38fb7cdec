"""The files of installed packages, read and parsed: only what lies within a package's own place, and what is no secret.

Nothing of them is run. A file that is none of that, too large, or not text, is as if it were not there.
"""

import json
import logging
import os
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import FileProblem
from lsp_harness.files.secrets import secret_path
from lsp_harness.knowledge.js_exports import SCRIPT_LANGUAGES, find_exports
from lsp_harness.syntax.languages import Language, language_for
from lsp_harness.syntax.parse_budget import TooCostly
from lsp_harness.syntax.symbols.declarations import Declaration, Import
from lsp_harness.syntax.symbols.declared_text import declared_in

log = logging.getLogger(__name__)

MAX_FILE_BYTES = 1_000_000
"""Bytes of a file that is read."""
MAX_CACHED_FILES = 96
"""Parsed files that are kept in memory."""

FileStamp = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Package:
    """An installed package. Nothing outside of `place`, a folder without links in its path, is read for it."""

    name: str
    version: str
    folder: Path


@dataclass(frozen=True)
class PackageText:
    """A parsed file of a package."""

    path: Path
    language: Language
    data: bytes
    declarations: Sequence[Declaration]
    imports: Sequence[Import]

    @cached_property
    def top_level(self) -> dict[str, list[int]]:
        """The places of what can be seen from outside, by name."""
        indexes_by_name: dict[str, list[int]] = {}
        for index, declaration in enumerate(self.declarations):
            if not declaration.owner and (
                declaration.parent < 0 or self.is_ambient(self.declarations[declaration.parent])
            ):
                indexes_by_name.setdefault(declaration.name, []).append(index)
        return indexes_by_name

    @cached_property
    def exports(self) -> dict[str, str]:
        """What a script calls within by another name, where it says so."""
        return find_exports(self.data) if self.language.id in SCRIPT_LANGUAGES else {}

    def is_ambient(self, declaration: Declaration) -> bool:
        """Whether this only says to which module the declarations within belong (`declare module "x"`)."""
        quoted = self.data[declaration.named - 1 : declaration.named] in (b'"', b"'")
        return declaration.kind == "module" and declaration.parent < 0 and (quoted or declaration.name == "global")

    def find_children(self, parent: int) -> list[int]:
        """The places of what is declared right inside of another."""
        return [index for index, declaration in enumerate(self.declarations) if declaration.parent == parent]


def read_stamp(path: Path) -> FileStamp:
    """Changes with the file; zeros where there is none."""
    try:
        file_stat = os.stat(path)
    except (OSError, ValueError):
        return (0, 0)
    return (file_stat.st_mtime_ns, file_stat.st_size)


def resolve_links(path: Path) -> Path | None:
    """The path without links; None where there is nothing."""
    try:
        return Path(os.path.realpath(path, strict=True))
    except (OSError, ValueError):
        return None


def read_contents(path: Path, folder: Path) -> bytes | None:
    """The bytes of a file within a place; None for whatever should not be read."""
    try:
        resolved = os.path.realpath(path, strict=True)
        if not Path(resolved).is_relative_to(folder) or secret_path(resolved[len(str(folder)) :]):
            return None
        data = read_file(Path(resolved), MAX_FILE_BYTES)
    except (OSError, ValueError, FileProblem):
        return None
    return None if b"\0" in data[:8192] else data


def read_text(path: Path, folder: Path) -> str:
    """The text of a file; empty where it cannot be read."""
    return (read_contents(path, folder) or b"").decode("utf-8", "replace")


def read_json_object(path: Path, folder: Path) -> dict[str, object]:
    """A file of JSON that is an object; empty where it is none."""
    try:
        return as_object(json.loads(read_text(path, folder)))
    except (ValueError, RecursionError):
        return {}


def as_object(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


class TextCache:
    """Parsed files, by package, version, and what the file was like when it was read."""

    def __init__(self, max_files: int = MAX_CACHED_FILES) -> None:
        self._max_files = max_files
        self._cache: OrderedDict[tuple[Package, Path, FileStamp], PackageText | None] = OrderedDict()

    def read(self, package: Package, path: Path) -> PackageText | None:
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
            return PackageText(path, language, data, *declared_in(language, data))
        except TooCostly as error:
            log.info("%s is not read: %s", path, error)
            return None
