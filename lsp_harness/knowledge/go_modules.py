"""Go: the modules that `go.mod` requires, in the module cache or `vendor`, and the standard library."""

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

MAX_FILES = 80
"""Largest number of files that are read of a package."""
REQUIREMENT = re.compile(r"^[ \t]*(?:require\s+)?([\w.~/-]+\.[\w.~/-]+)\s+(v\S+)", re.MULTILINE)
REPLACEMENT = re.compile(r"^[ \t]*(?:replace\s+)?(\S+)(?:[ \t]+v\S+)?\s+=>\s+(\S+)(?:[ \t]+(v\S+))?", re.MULTILINE)
GO_ROOTS = ("/usr/local/go", "/usr/lib/go", "/usr/lib/golang")


class GoModules:
    """The Go packages of one workspace folder. The methods are described at `PackageRules`."""

    def __init__(self, root: Path, texts: TextCache, environ: Mapping[str, str]) -> None:
        self._root = root
        self._texts = texts
        self._environ = environ
        self._requirements_cache: tuple[FileStamp, dict[str, tuple[str, str]]] | None = None
        self.searched_places: list[str] = []

    def find_module(
        self, name: str, importer_folder: Path | None = None, *, without_stubs: bool = False
    ) -> Module | None:
        name = name.strip('"')
        if not name or name.startswith(("/", ".")) or ".." in name.split("/"):
            return None
        self.searched_places = []
        for package, folder in self._candidate_folders(name):
            self.searched_places.append(str(folder))
            texts = tuple(text for path in _list_sources(folder) if (text := self._texts.read(package, path)))
            if texts:
                return Module(package, name, texts)
        return None

    def find_submodule(self, module: Module, name: str) -> Module | None:
        return None

    def find_target(self, module: Module, text: PackageText, imported: Import) -> tuple[Module, str] | None:
        module_found = self.find_module(imported.module)
        return (module_found, "") if module_found else None

    def split_name(self, dotted_name: str) -> list[tuple[str, str]]:
        last_part = dotted_name.rfind("/") + 1
        dots = [match.start() for match in re.finditer(r"\.", dotted_name[last_part:])]
        return [
            *((dotted_name[: last_part + dot], dotted_name[last_part + dot + 1 :]) for dot in dots),
            (dotted_name, ""),
        ]

    def _candidate_folders(self, name: str) -> Iterator[tuple[Package, Path]]:
        """Yield the folders that may contain a package, with the module that each belongs to."""
        first = name.split("/")[0]
        if "." not in first:
            for base in filter(None, (self._environ.get("GOROOT"), *GO_ROOTS)):
                if place := resolve_links(Path(base) / "src"):
                    # Some Linux distributions install the sources in another folder than the VERSION file.
                    version = read_text(Path(base) / "VERSION", resolve_links(Path(base)) or place)
                    version = (
                        (version or read_text(place.parent / "VERSION", place.parent)).split("\n")[0].removeprefix("go")
                    )
                    yield Package("Go", version, place), place / name
            return
        required = self._read_requirements()
        module = next((prefix for prefix in _list_prefixes(name) if prefix in required), "")
        if not module:
            return
        subfolder, (path, version) = name[len(module) :].lstrip("/"), required[module]
        if vendor := resolve_links(self._root / "vendor"):
            yield Package(module, version, vendor), vendor / name
        for cache in self._find_caches():
            if place := resolve_links(cache):
                yield (
                    Package(module, version, place),
                    place / f"{_escape_capitals(path)}@{_escape_capitals(version)}" / subfolder,
                )

    def _find_caches(self) -> Iterator[Path]:
        if cache := self._environ.get("GOMODCACHE"):
            yield Path(cache)
            return
        for base in filter(None, self._environ.get("GOPATH", "").split(os.pathsep)):
            yield Path(base) / "pkg" / "mod"
        if not self._environ.get("GOPATH"):
            yield Path(os.path.expanduser(self._environ.get("HOME", "~"))) / "go" / "pkg" / "mod"

    def _read_requirements(self) -> dict[str, tuple[str, str]]:
        """Return the path and version under which the cache has each required module."""
        file = self._root / "go.mod"
        new_stamp = read_stamp(file)
        if self._requirements_cache is None or self._requirements_cache[0] != new_stamp:
            text = re.sub(r"//[^\n]*", "", read_text(file, resolve_links(self._root) or self._root))
            requirements = {
                module: (module, version) for module, version in REQUIREMENT.findall(text) if "=>" not in module
            }
            for module, path, version in REPLACEMENT.findall(text):
                requirements.pop(module, None)
                if version:
                    # A module that is replaced by a folder belongs to the user.
                    requirements[module] = (path, version)
            self._requirements_cache = (new_stamp, requirements)
        return self._requirements_cache[1]


def _list_prefixes(name: str) -> Iterator[str]:
    """Yield a path and its parents, the longest first."""
    while name:
        yield name
        name = name.rpartition("/")[0]


def _list_sources(folder: Path) -> list[Path]:
    try:
        names = sorted(os.listdir(folder))
    except (OSError, ValueError):
        return []
    return [folder / name for name in names if name.endswith(".go") and not name.endswith("_test.go")][:MAX_FILES]


def _escape_capitals(path: str) -> str:
    """Return a path with capital letters as the module cache writes them."""
    return re.sub(r"[A-Z]", lambda match: f"!{match[0].lower()}", path)
