"""Modules of installed packages, and the rules of each language for how modules find each other."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lsp_harness.knowledge.package_source import Package, PackageText
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.symbols.declarations import Import

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
