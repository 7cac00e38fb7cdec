"""JavaScript and TypeScript: packages in `node_modules`. Declarations (`.d.ts`) are preferred to sources."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from lsp_harness.knowledge.package_source import (
    Module,
    Package,
    PackageText,
    TextCache,
    as_object,
    read_contents,
    read_json_object,
    resolve_links,
)
from lsp_harness.syntax.symbols.declarations import Import

MODULES_FOLDER = "node_modules"
TYPES_FOLDER = "@types"
PACKAGE_NAME = re.compile(r"(?:@[\w.~-]+/)?[\w~-][\w.~-]*\Z")
REFERENCE = re.compile(rb"^///\s*<reference\s+path=[\"']([^\"']+)[\"']", re.MULTILINE)
DECLARATION_SUFFIXES = {
    ".js": ".d.ts",
    ".mjs": ".d.mts",
    ".cjs": ".d.cts",
    ".jsx": ".d.ts",
    ".ts": ".d.ts",
    ".mts": ".d.mts",
    ".cts": ".d.cts",
    ".tsx": ".d.ts",
}
FILE_ENDINGS = (
    "",
    ".d.ts",
    ".d.mts",
    ".d.cts",
    ".ts",
    ".tsx",
    ".js",
    ".mjs",
    ".cjs",
    "/index.d.ts",
    "/index.ts",
    "/index.js",
)
CONDITIONS = ("types", "import", "node", "default", "require")
MAX_REFERENCES = 64
"""Largest number of files that a module references at its beginning."""


class NodePackages:
    """The npm packages of one workspace folder. The methods are described at `PackageRules`."""

    def __init__(self, root: Path, texts: TextCache) -> None:
        self._root = root
        self._texts = texts
        self.searched_places: list[str] = []

    def find_module(
        self, name: str, importer_folder: Path | None = None, *, without_stubs: bool = False
    ) -> Module | None:
        package_name, subpath = _split_package(name.removeprefix("node:"))
        if not PACKAGE_NAME.match(package_name):
            return None
        self.searched_places = []
        for folder in self._module_folders(importer_folder):
            if (path := self._find_declarations(folder, package_name, subpath)) and (place := resolve_links(folder)):
                info = read_json_object(folder / package_name / "package.json", place) or read_json_object(
                    _types_folder(folder, package_name) / "package.json", place
                )
                package = Package(package_name, _as_text(info.get("version")), place)
                return self._create_module(package, name, path, folder)
        return None

    def find_submodule(self, module: Module, name: str) -> Module | None:
        return None

    def find_target(self, module: Module, text: PackageText, imported: Import) -> tuple[Module, str] | None:
        if not imported.module.startswith("."):
            module_found = self.find_module(imported.module, text.path.parent)
        else:
            path = _find_file(Path(os.path.normpath(text.path.parent / imported.module)))
            module_found = (
                self._create_module(module.package, str(path), path, module.importer_folder) if path else None
            )
        return (module_found, imported.name) if module_found else None

    def split_name(self, dotted_name: str) -> list[tuple[str, str]]:
        """Return possible divisions, as the name of a package may contain dots."""
        last_part = dotted_name.rfind("/") + 1
        dots = [match.start() for match in re.finditer(r"\.", dotted_name[last_part:])]
        return [
            *((dotted_name[: last_part + dot], dotted_name[last_part + dot + 1 :]) for dot in dots),
            (dotted_name, ""),
        ]

    def _create_module(self, package: Package, name: str, path: Path, importer_folder: Path | None) -> Module | None:
        texts = self._read_with_references(package, path)
        return Module(package, name, texts, importer_folder=importer_folder) if texts else None

    def _read_with_references(self, package: Package, path: Path) -> tuple[PackageText, ...]:
        """Return a file and the files that its reference comments name."""
        texts: dict[Path, PackageText] = {}
        waiting = [path]
        while waiting and len(texts) < MAX_REFERENCES:
            file = waiting.pop(0)
            if file not in texts and (text := self._texts.read(package, file)):
                texts[file] = text
                references = (os.fsdecode(name) for name in REFERENCE.findall(text.data))
                waiting += (Path(os.path.normpath(file.parent / name)) for name in references)
        return tuple(texts.values())

    def _module_folders(self, importer_folder: Path | None) -> Iterator[Path]:
        """Yield the `node_modules` folders around a folder, the nearest first, up to the workspace folder.

        Inside of an installed package, these are the folders that contain it.
        """
        start = importer_folder if importer_folder and importer_folder.is_relative_to(self._root) else self._root
        for folder in (start, *start.parents):
            modules = folder / MODULES_FOLDER
            if folder.name != MODULES_FOLDER:
                if modules.is_dir():
                    yield modules
                self.searched_places.append(os.path.relpath(modules, self._root))
            if folder == self._root:
                break

    def _find_declarations(self, folder: Path, package_name: str, subpath: str) -> Path | None:
        """Return the file that declares the names of a package or of a part of it."""
        place, package, types = resolve_links(folder), folder / package_name, _types_folder(folder, package_name)
        if place is None:
            return None
        candidates: list[Path | None] = []
        if package.is_dir():
            candidates += self._declared_paths(package, place, subpath)
        if types.is_dir():
            candidates += [*self._declared_paths(types, place, subpath)]
        # Modules of Node itself.
        candidates.append(folder / TYPES_FOLDER / "node" / f"{'/'.join(filter(None, (package_name, subpath)))}.d.ts")
        files = [
            path
            for candidate in candidates
            if candidate and (path := _find_file(candidate)) and read_contents(path, place) is not None
        ]
        typed_files = (path for path in files if _is_typed(path))
        return next(typed_files, files[0] if files else None)

    def _declared_paths(self, package: Path, place: Path, subpath: str) -> Iterator[Path]:
        """Yield the paths of files as `package.json` tells them, the most likely first."""
        info = read_json_object(package / "package.json", place)
        exports = info.get("exports")
        export_key = f"./{subpath}" if subpath else "."
        for target in _exported_paths(exports, export_key):
            yield from _with_types(package / target)
        if subpath:
            yield from _with_types(package / subpath)
            return
        for key in ("types", "typings", "main"):
            if name := _as_text(info.get(key)):
                yield from _with_types(package / name)
        yield from _with_types(package / "index.js")


def _split_package(name: str) -> tuple[str, str]:
    """Return the package of an import and the path in the package."""
    length = 2 if name.startswith("@") else 1
    parts = name.split("/")
    return "/".join(parts[:length]), "/".join(parts[length:])


def _types_folder(folder: Path, package_name: str) -> Path:
    return folder / TYPES_FOLDER / package_name.removeprefix("@").replace("/", "__")


def _exported_paths(value: object, export_key: str) -> Iterator[str]:
    """Yield the paths that `exports` of `package.json` has for a part, declarations first."""
    exports = as_object(value)
    if not any(key.startswith(".") for key in exports):
        exports = {".": value}
    for key, target in exports.items():
        prefix, star, suffix = key.partition("*")
        if key == export_key:
            yield from _conditional_paths(target, "")
        elif star and export_key.startswith(prefix) and export_key.endswith(suffix) and len(export_key) >= len(key):
            yield from _conditional_paths(target, export_key[len(prefix) : len(export_key) - len(suffix)])


def _conditional_paths(target: object, star: str, max_depth: int = 8) -> Iterator[str]:
    if isinstance(target, str):
        yield target.replace("*", star)
    elif isinstance(target, list):
        for option in cast("list[object]", target) if max_depth else ():
            yield from _conditional_paths(option, star, max_depth - 1)
    elif max_depth:
        options = as_object(target)
        for name in sorted(options, key=lambda option: CONDITIONS.index(option) if option in CONDITIONS else 99):
            yield from _conditional_paths(options[name], star, max_depth - 1)


def _with_types(path: Path) -> Iterator[Path]:
    """Yield the declarations beside a source file, then the source file."""
    if ending := DECLARATION_SUFFIXES.get(path.suffix):
        yield path.with_suffix(ending)
    yield path


def _find_file(path: Path) -> Path | None:
    """Return the file that a path without extension means."""
    if ending := DECLARATION_SUFFIXES.get(path.suffix):
        declarations = path.with_suffix(ending)
        if os.path.isfile(declarations):
            return declarations
    for ending in FILE_ENDINGS:
        if os.path.isfile(f"{path}{ending}"):
            return Path(f"{path}{ending}")
    return None


def _is_typed(path: Path) -> bool:
    return path.suffix in (".ts", ".mts", ".cts", ".tsx")


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else ""
