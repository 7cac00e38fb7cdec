"""Rust: the crates that `Cargo.lock` names, in cargo's registry."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from lsp_harness.knowledge.package_module import Module
from lsp_harness.knowledge.package_source import Package, Stamp, Text, Texts, real, stamp, told
from lsp_harness.syntax.symbols.declarations import Import

LOCKED = re.compile(r'^name = "([^"]+)"\s*\nversion = "([^"]+)"', re.MULTILINE)
LIBRARY = re.compile(r'^\[lib\][^\[]*?^path\s*=\s*"([^"]+)"', re.MULTILINE | re.DOTALL)
FIRST = "src/lib.rs"


class Rust:
    def __init__(self, root: Path, texts: Texts, environ: Mapping[str, str]) -> None:
        self._root = root
        self._texts = texts
        self._environ = environ
        self._locked: tuple[Stamp, dict[str, list[tuple[str, str]]]] | None = None
        self.looked: list[str] = []

    def module(self, name: str, near: Path | None = None, *, plain: bool = False) -> Module | None:
        crate, *parts = name.removeprefix("::").split("::")
        found = self._crate(crate)
        for part in parts:
            found = found and self.inner(found, part)
        return found

    def inner(self, module: Module, name: str) -> Module | None:
        """A module in a file of its own."""
        if not name.isidentifier():
            return None
        for text in module.texts:
            folder, stem = text.path.parent, text.path.stem
            base = folder if stem in ("mod", "lib", "main") or "::" not in module.name else folder / stem
            for path in (base / f"{name}.rs", base / name / "mod.rs"):
                if found := self._texts.read(module.package, path):
                    return Module(module.package, f"{module.name}::{name}", (found,))
        return None

    def target(self, module: Module, text: Text, one: Import) -> tuple[Module, str] | None:
        own, *above = module.name.split("::")
        first, *parts = one.module.removeprefix("::").split("::")
        match first:
            case "crate":
                path = [own, *parts]
            case "self":
                path = [own, *above, *parts]
            case "super":
                up = [first, *parts]
                path = [own, *above]
                while up and up[0] == "super" and len(path) > 1:
                    up, path = up[1:], path[:-1]
                path += up
            case _:
                inside = self.module("::".join([own, *above, first, *parts]))
                path = [own, *above, first, *parts] if inside else [first, *parts]
        return self._deepest(path, one.name)

    def split(self, written: str) -> list[tuple[str, str]]:
        first, *rest = re.split(r"::|\.", written)
        return [(first, ".".join(rest))]

    def _deepest(self, path: list[str], name: str) -> tuple[Module, str] | None:
        """The module of a path; where its last part is none, but a type, what is in that is no import that we follow."""
        found = self.module("::".join(path))
        return (found, name) if found else None

    def _crate(self, name: str) -> Module | None:
        self.looked = ["Cargo.lock", str(self._home() / "registry" / "src")]
        for crate, version in self._crates().get(name.replace("-", "_"), ()):
            for folder in self._folders(crate, version):
                package = Package(crate, version, folder.parent)
                settings = told(folder / "Cargo.toml", folder.parent)
                first = match[1] if (match := LIBRARY.search(settings)) else FIRST
                if text := self._texts.read(package, folder / first):
                    return Module(package, name.replace("-", "_"), (text,))
        return None

    def _folders(self, crate: str, version: str) -> Iterator[Path]:
        for registry in sorted((self._home() / "registry" / "src").glob("*")):
            if (place := real(registry)) and (place / f"{crate}-{version}").is_dir():
                yield place / f"{crate}-{version}"

    def _home(self) -> Path:
        home = self._environ.get("CARGO_HOME")
        return Path(home) if home else Path(os.path.expanduser(self._environ.get("HOME", "~"))) / ".cargo"

    def _crates(self) -> dict[str, list[tuple[str, str]]]:
        """Crates as they are locked, by what they are called in code, the newest first."""
        file = self._root / "Cargo.lock"
        now = stamp(file)
        if self._locked is None or self._locked[0] != now:
            found: dict[str, list[tuple[str, str]]] = {}
            for name, version in LOCKED.findall(told(file, real(self._root) or self._root)):
                found.setdefault(name.replace("-", "_"), []).append((name, version))
            for listed in found.values():
                listed.sort(key=lambda one: [int(n) for n in re.findall(r"\d+", one[1])], reverse=True)
            self._locked = (now, found)
        return self._locked[1]
