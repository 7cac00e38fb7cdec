"""Python: the distributions of a virtual environment, with stubs preferred to sources, and the standard library of its
interpreter.

No interpreter is started. `*.dist-info` tells what is installed, `pyvenv.cfg` tells where the standard library is.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
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
from lsp_harness.knowledge.project_python import ENVIRONMENT_FOLDERS
from lsp_harness.syntax.symbols.declarations import Import

HEADER = re.compile(r"^(Name|Version):[ \t]*(\S+)", re.MULTILINE)
SETTING = re.compile(r"^(\w+)\s*=\s*(.*?)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Distribution:
    """An installed distribution with the top-level names that can be imported from it."""

    name: str
    version: str
    info: Path
    stamp: FileStamp
    top_names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Site:
    """A folder from which modules are imported. If it is the standard library, `library_name` is the name of that."""

    folder: Path
    library_name: str = ""
    version: str = ""


class PythonPackages:
    """The Python packages of one workspace folder. The methods are described at `PackageRules`."""

    def __init__(self, root: Path, texts: TextCache, environment: Path | None) -> None:
        """Create empty caches.

        Args:
            root: The workspace folder.
            texts: The cache of parsed files.
            environment: The environment of the project, or None if it has none.
        """
        self._root = root
        self._texts = texts
        self._environment = environment
        self._distributions_by_info: dict[Path, tuple[FileStamp, Distribution]] = {}
        self._listings: dict[Path, tuple[FileStamp, list[Path], list[Path]]] = {}
        self.searched_places: list[str] = []

    def find_module(
        self, name: str, importer_folder: Path | None = None, *, without_stubs: bool = False
    ) -> Module | None:
        parts = name.split(".")
        if not all(part.isidentifier() for part in parts):
            return None
        for site in self._list_sites():
            if module_found := self._find_in_site(site, parts, without_stubs):
                return module_found
        return None

    def find_submodule(self, module: Module, name: str) -> Module | None:
        return self.find_module(f"{module.name}.{name}", without_stubs=module.without_stubs)

    def find_target(self, module: Module, text: PackageText, imported: Import) -> tuple[Module, str] | None:
        name = self._absolute_name(module.name, text.path, imported.module)
        if not imported.name and not imported.alias:
            name = name.split(".")[0]
        module_found = self.find_module(name, without_stubs=module.without_stubs) if name else None
        return (module_found, imported.name) if module_found else None

    def split_name(self, dotted_name: str) -> list[tuple[str, str]]:
        first, _, rest = dotted_name.partition(".")
        return [(first, rest)]

    def _absolute_name(self, importing_module: str, path: Path, module: str) -> str:
        """Return the absolute name of the module of a relative import; empty if it leaves the package."""
        relative_name = module.lstrip(".")
        if not (dots := len(module) - len(relative_name)):
            return module
        parts = importing_module.split(".")
        levels = dots - (path.stem == "__init__")
        if levels > len(parts):
            return ""
        return ".".join([*parts[: len(parts) - levels], *([relative_name] if relative_name else [])])

    def _find_in_site(self, site: Site, parts: list[str], without_stubs: bool) -> Module | None:
        folders = [site.folder] if site.library_name else [site.folder, *self._editable_folders(site)]
        for folder in folders:
            package = self._find_package(site, folder, parts)
            for path in _candidate_files(folder, parts, without_stubs):
                if text := self._texts.read(package, path):
                    return Module(package, ".".join(parts), (text,), without_stubs)
            namespace = folder.joinpath(*parts)
            if namespace.is_dir() and (resolved := resolve_links(namespace)) and resolved.is_relative_to(folder):
                # A namespace package has no file, but modules inside of it.
                return Module(package, ".".join(parts), (), without_stubs)
        return None

    def _find_package(self, site: Site, folder: Path, parts: list[str]) -> Package:
        if site.library_name:
            return Package(site.library_name, site.version, folder)
        candidates = [
            distribution for distribution in self._read_distributions(site) if parts[0] in distribution.top_names
        ]
        if len(candidates) > 1:
            # Several distributions share a namespace. The one that installed this module is used.
            part = "/".join(parts) + "/"
            candidates = [
                distribution
                for distribution in candidates
                if f"\n{part}" in f"\n{read_text(distribution.info / 'RECORD', site.folder)}"
            ] or candidates
        return (
            Package(candidates[0].name, candidates[0].version, folder) if candidates else Package(parts[0], "", folder)
        )

    # -- where they are
    def _list_sites(self) -> Iterator[Site]:
        prefix = self._environment
        if prefix is None:
            self.searched_places = [*(f"{name}/" for name in ENVIRONMENT_FOLDERS), "$VIRTUAL_ENV", "$CONDA_PREFIX"]
            return
        self.searched_places = []
        libraries = [*sorted(prefix.glob("lib/python3*")), *prefix.glob("Lib")]
        for library in libraries:
            if folder := resolve_links(library / "site-packages"):
                self.searched_places.append(self._display_path(library / "site-packages"))
                yield Site(folder)
        if standard_library := _find_standard_library(prefix, libraries):
            self.searched_places.append(str(standard_library.folder))
            yield standard_library

    def _display_path(self, path: Path) -> str:
        return str(path.relative_to(self._root)) if path.is_relative_to(self._root) else str(path)

    def _read_distributions(self, site: Site) -> list[Distribution]:
        return [
            distribution
            for info in self._list_folder(site)[0]
            if (distribution := self._read_distribution(info, site.folder))
        ]

    def _list_folder(self, site: Site) -> tuple[list[Path], list[Path]]:
        """Return the `*.dist-info` folders and the `.pth` files of a site."""
        new_stamp, listing = read_stamp(site.folder), self._listings.get(site.folder)
        if listing is None or listing[0] != new_stamp:
            try:
                names = sorted(os.listdir(site.folder))
            except OSError:
                names = []
            infos = [site.folder / name for name in names if name.endswith(".dist-info")]
            links = [site.folder / name for name in names if name.endswith(".pth")]
            listing = self._listings[site.folder] = (new_stamp, infos, links)
        return listing[1], listing[2]

    def _read_distribution(self, info: Path, folder: Path) -> Distribution | None:
        new_stamp, cached = read_stamp(info / "METADATA"), self._distributions_by_info.get(info)
        if cached is None or cached[0] != new_stamp:
            headers = dict(HEADER.findall(read_text(info / "METADATA", folder).split("\n\n")[0]))
            top_names = read_text(info / "top_level.txt", folder).split() or _names_in_record(
                read_text(info / "RECORD", folder)
            )
            name = headers.get("Name", info.name.partition("-")[0])
            distribution = Distribution(name, headers.get("Version", ""), info, new_stamp, frozenset(top_names))
            cached = self._distributions_by_info[info] = (new_stamp, distribution)
        return cached[1]

    def _editable_folders(self, site: Site) -> Iterator[Path]:
        """Yield the folders of editable installs. Those of the workspace itself are left out, as they are the user's
        own code."""
        for file in self._list_folder(site)[1]:
            for line in read_text(file, site.folder).splitlines()[:20]:
                path = resolve_links(Path(line)) if os.path.isabs(line) else None
                if path and path.is_dir() and not _are_overlapping(path, self._root):
                    yield path


def _candidate_files(folder: Path, parts: list[str], without_stubs: bool) -> Iterator[Path]:
    """Yield the files that may contain a module. The first existing one counts."""
    first, *rest = parts
    stubs = folder.joinpath(f"{first}-stubs", *rest)
    base_path = folder.joinpath(*parts)
    for base, ending in ((stubs, "pyi"), (base_path, "pyi"), (base_path, "py")):
        if not (without_stubs and ending == "pyi"):
            yield base / f"__init__.{ending}"
            if base.name != f"{first}-stubs":
                yield base.with_name(f"{base.name}.{ending}")


def _names_in_record(record: str) -> set[str]:
    """Return the names that can be imported, by the list of installed files."""
    names: set[str] = set()
    for line in record.split("\n"):
        path = line.split(",")[0].strip('"')
        top, slash, _ = path.partition("/")
        top = top if slash else path.rpartition(".")[0].split(".")[0]
        if (name := top.removesuffix("-stubs")).isidentifier():
            names.add(name)
    return names


def _find_standard_library(prefix: Path, libraries: list[Path]) -> Site | None:
    settings = dict(SETTING.findall(read_text(prefix / "pyvenv.cfg", resolve_links(prefix) or prefix)))
    version = settings.get("version") or settings.get("version_info", "")
    short_version = (
        ".".join(version.split(".")[:2]) if version else next((library.name[6:] for library in libraries), "")
    )
    base = Path(settings["home"]).parent if settings.get("home") else prefix
    folder = resolve_links(base / "lib" / f"python{short_version}")
    if folder is None or not (folder / "os.py").is_file():
        return None
    return Site(folder, "Python", version or short_version)


def _are_overlapping(path: Path, root: Path) -> bool:
    """Return whether one of two folders contains the other."""
    real_root = resolve_links(root) or root
    return path.is_relative_to(real_root) or real_root.is_relative_to(path)


SOURCE_FOLDERS = ("src", "lib", "")
"""Folders of a project that may contain its packages. The last one is that of the project itself."""


class OwnPackages(PythonPackages):
    """The packages in the folders of a project. Their release is their name, without a version."""

    def _list_sites(self) -> Iterator[Site]:
        self.searched_places = []
        for name in SOURCE_FOLDERS:
            if folder := resolve_links(self._root / name):
                self.searched_places.append(f"{name}/" if name else "./")
                yield Site(folder)
