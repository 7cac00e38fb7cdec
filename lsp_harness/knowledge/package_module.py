"""A module of an installed package, and what each language has to say of how modules find each other."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lsp_harness.knowledge.js_exports import SCRIPT_LANGUAGES
from lsp_harness.knowledge.package_source import Package, PackageText
from lsp_harness.syntax.symbols.declarations import Import

GO_VERSION = re.compile(r"(?:^|\.)v\d+\Z")


@dataclass(frozen=True, slots=True)
class Module:
    """What is imported by one name: the files that are read for it, all of one package."""

    package: Package
    name: str
    texts: tuple[PackageText, ...] = ()
    without_stubs: bool = False
    """Whether stubs were left aside."""
    importer_folder: Path | None = None
    """The folder it was imported from, where that counts."""


class PackageRules(Protocol):
    """The packages that are installed for a workspace folder, in one language."""

    searched_places: list[str]
    """Where packages were last looked for, for people."""

    def find_module(
        self, name: str, importer_folder: Path | None = None, *, without_stubs: bool = False
    ) -> Module | None:
        """As it is imported by a file in the folder `near`; `plain` means its source, where it has stubs beside that."""
        ...

    def find_submodule(self, module: Module, name: str) -> Module | None:
        """A module within another."""
        ...

    def find_target(self, module: Module, text: PackageText, imported: Import) -> tuple[Module, str] | None:
        """The module that an import in a module means, and the name in it, empty for the module itself."""
        ...

    def split_name(self, dotted_name: str) -> list[tuple[str, str]]:
        """What a name as a person writes it may mean: modules and names in them, with dots between."""
        ...


def local_name(language: str, imported: Import) -> str:
    """What an import is called in its file; empty where it is called nothing."""
    if imported.alias or imported.name or language in SCRIPT_LANGUAGES:
        return imported.alias or imported.name
    if language == "go":
        # by custom: a package may call itself otherwise
        parts = imported.module.strip('"').split("/")
        last = parts[-2] if len(parts) > 1 and GO_VERSION.fullmatch(parts[-1]) else parts[-1]
        return GO_VERSION.sub("", last).removeprefix("go-").removesuffix("-go").replace("-", "_")
    return imported.module.rpartition("::")[2] if language == "rust" else imported.module.split(".")[0]
