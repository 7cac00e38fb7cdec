"""Rust: the crates that `Cargo.lock` names, in the registry of cargo."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from lsp_harness.knowledge.package_source import (
    FileStamp,
    Module,
    Package,
    PackageText,
    TextCache,
    read_stamp,
    read_text,
    resolve_links,
)
from lsp_harness.syntax.symbols.declarations import Import

LOCK_ENTRY = re.compile(r'^name = "([^"]+)"\s*\nversion = "([^"]+)"', re.MULTILINE)
LIBRARY_PATH = re.compile(r'^\[lib\][^\[]*?^path\s*=\s*"([^"]+)"', re.MULTILINE | re.DOTALL)
DEFAULT_ROOT_FILE = "src/lib.rs"


class RustCrates:
    """The crates of one workspace folder. The methods are described at `PackageRules`."""

    def __init__(self, root: Path, texts: TextCache, environ: Mapping[str, str]) -> None:
        self._root = root
        self._texts = texts
        self._environ = environ
        self._lock_cache: tuple[FileStamp, dict[str, list[tuple[str, str]]]] | None = None
        self.searched_places: list[str] = []

    def find_module(
        self, name: str, importer_folder: Path | None = None, *, without_stubs: bool = False
    ) -> Module | None:
        crate, *parts = name.removeprefix("::").split("::")
        module_found = self._find_crate(crate)
        for part in parts:
            module_found = module_found and self.find_submodule(module_found, part)
        return module_found

    def find_submodule(self, module: Module, name: str) -> Module | None:
        """Return a module that has a file of its own."""
        if not name.isidentifier():
            return None
        for text in module.texts:
            folder, stem = text.path.parent, text.path.stem
            base = folder if stem in ("mod", "lib", "main") or "::" not in module.name else folder / stem
            for path in (base / f"{name}.rs", base / name / "mod.rs"):
                if submodule := self._texts.read(module.package, path):
                    return Module(module.package, f"{module.name}::{name}", (submodule,))
        return None

    def find_target(self, module: Module, text: PackageText, imported: Import) -> tuple[Module, str] | None:
        crate, *outer = module.name.split("::")
        first, *parts = imported.module.removeprefix("::").split("::")
        match first:
            case "crate":
                path = [crate, *parts]
            case "self":
                path = [crate, *outer, *parts]
            case "super":
                remaining = [first, *parts]
                path = [crate, *outer]
                while remaining and remaining[0] == "super" and len(path) > 1:
                    remaining, path = remaining[1:], path[:-1]
                path += remaining
            case _:
                submodule = self.find_module("::".join([crate, *outer, first, *parts]))
                path = [crate, *outer, first, *parts] if submodule else [first, *parts]
        return self._find_path(path, imported.name)

    def split_name(self, dotted_name: str) -> list[tuple[str, str]]:
        first, *rest = re.split(r"::|\.", dotted_name)
        return [(first, ".".join(rest))]

    def _find_path(self, path: list[str], name: str) -> tuple[Module, str] | None:
        """Return the module of a path. Items inside of types are not followed."""
        module_found = self.find_module("::".join(path))
        return (module_found, name) if module_found else None

    def _find_crate(self, name: str) -> Module | None:
        self.searched_places = ["Cargo.lock", str(self._find_home() / "registry" / "src")]
        for crate, version in self._read_lock().get(name.replace("-", "_"), ()):
            for folder in self._crate_folders(crate, version):
                package = Package(crate, version, folder.parent)
                settings = read_text(folder / "Cargo.toml", folder.parent)
                root_file = match[1] if (match := LIBRARY_PATH.search(settings)) else DEFAULT_ROOT_FILE
                if text := self._texts.read(package, folder / root_file):
                    return Module(package, name.replace("-", "_"), (text,))
        return None

    def _crate_folders(self, crate: str, version: str) -> Iterator[Path]:
        for registry in sorted((self._find_home() / "registry" / "src").glob("*")):
            if (folder := resolve_links(registry)) and (folder / f"{crate}-{version}").is_dir():
                yield folder / f"{crate}-{version}"

    def _find_home(self) -> Path:
        home = self._environ.get("CARGO_HOME")
        return Path(home) if home else Path(os.path.expanduser(self._environ.get("HOME", "~"))) / ".cargo"

    def _read_lock(self) -> dict[str, list[tuple[str, str]]]:
        """Return the locked crates by their name in code, the newest version first."""
        file = self._root / "Cargo.lock"
        new_stamp = read_stamp(file)
        if self._lock_cache is None or self._lock_cache[0] != new_stamp:
            crates: dict[str, list[tuple[str, str]]] = {}
            for name, version in LOCK_ENTRY.findall(read_text(file, resolve_links(self._root) or self._root)):
                crates.setdefault(name.replace("-", "_"), []).append((name, version))
            for versions in crates.values():
                versions.sort(key=lambda entry: [int(n) for n in re.findall(r"\d+", entry[1])], reverse=True)
            self._lock_cache = (new_stamp, crates)
        return self._lock_cache[1]
