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
from lsp_harness.knowledge.js_exports import SCRIPTS, exported
from lsp_harness.syntax.languages import Language, language_for
from lsp_harness.syntax.parse_budget import ParseBudgetExceeded
from lsp_harness.syntax.symbols.declarations import Declaration, Import
from lsp_harness.syntax.symbols.declared_text import read_declarations

log = logging.getLogger(__name__)

LARGEST = 1_000_000
"""Bytes of a file that is read."""
KEPT = 96
"""Parsed files that are kept in memory."""

Stamp = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Package:
    """An installed package. Nothing outside of `place`, a folder without links in its path, is read for it."""

    name: str
    version: str
    place: Path


@dataclass(frozen=True)
class Text:
    """A parsed file of a package."""

    path: Path
    language: Language
    data: bytes
    declared: Sequence[Declaration]
    imports: Sequence[Import]

    @cached_property
    def top(self) -> dict[str, list[int]]:
        """The places of what can be seen from outside, by name."""
        found: dict[str, list[int]] = {}
        for n, one in enumerate(self.declared):
            if not one.owner and (one.parent < 0 or self.ambient(self.declared[one.parent])):
                found.setdefault(one.name, []).append(n)
        return found

    @cached_property
    def exports(self) -> dict[str, str]:
        """What a script calls within by another name, where it says so."""
        return exported(self.data) if self.language.id in SCRIPTS else {}

    def ambient(self, one: Declaration) -> bool:
        """Whether this only says to which module the declarations within belong (`declare module "x"`)."""
        quoted = self.data[one.name_start - 1 : one.name_start] in (b'"', b"'")
        return one.kind == "module" and one.parent < 0 and (quoted or one.name == "global")

    def within(self, n: int) -> list[int]:
        """The places of what is declared right inside of another."""
        return [m for m, one in enumerate(self.declared) if one.parent == n]


def stamp(path: Path) -> Stamp:
    """Changes with the file; zeros where there is none."""
    try:
        told = os.stat(path)
    except (OSError, ValueError):
        return (0, 0)
    return (told.st_mtime_ns, told.st_size)


def real(path: Path) -> Path | None:
    """The path without links; None where there is nothing."""
    try:
        return Path(os.path.realpath(path, strict=True))
    except (OSError, ValueError):
        return None


def contents(path: Path, place: Path) -> bytes | None:
    """The bytes of a file within a place; None for whatever should not be read."""
    try:
        found = os.path.realpath(path, strict=True)
        if not Path(found).is_relative_to(place) or secret_path(found[len(str(place)) :]):
            return None
        data = read_file(Path(found), LARGEST)
    except (OSError, ValueError, FileProblem):
        return None
    return None if b"\0" in data[:8192] else data


def told(path: Path, place: Path) -> str:
    """The text of a file; empty where it cannot be read."""
    return (contents(path, place) or b"").decode("utf-8", "replace")


def listed(path: Path, place: Path) -> dict[str, object]:
    """A file of JSON that is an object; empty where it is none."""
    try:
        return as_object(json.loads(told(path, place)))
    except (ValueError, RecursionError):
        return {}


def as_object(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


class Texts:
    """Parsed files, by package, version, and what the file was like when it was read."""

    def __init__(self, most: int = KEPT) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[Package, Path, Stamp], Text | None] = OrderedDict()

    def read(self, package: Package, path: Path) -> Text | None:
        key = (package, path, stamp(path))
        if key[2] == (0, 0):
            return None
        if key not in self._kept:
            self._kept[key] = self._parsed(package, path)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]

    def _parsed(self, package: Package, path: Path) -> Text | None:
        data = contents(path, package.place)
        language = language_for("", path.name)
        if data is None or language is None or not language.queries:
            return None
        try:
            return Text(path, language, data, *read_declarations(language, data))
        except ParseBudgetExceeded as error:
            log.info("%s is not read: %s", path, error)
            return None
