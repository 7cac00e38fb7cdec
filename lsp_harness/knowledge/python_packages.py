"""Python: the distributions of a virtual environment, stubs before sources, and the standard library it was made from.

No interpreter is asked: what is installed is read off `*.dist-info`, and where the standard library is off `pyvenv.cfg`.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.knowledge.package_module import Module
from lsp_harness.knowledge.package_source import Package, Stamp, Text, Texts, real, stamp, told
from lsp_harness.syntax.symbols.declarations import Import

FOLDERS = (".venv", "venv", "env")
VARIABLES = ("VIRTUAL_ENV", "CONDA_PREFIX")
HEADER = re.compile(r"^(Name|Version):[ \t]*(\S+)", re.MULTILINE)
SETTING = re.compile(r"^(\w+)\s*=\s*(.*?)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Distribution:
    """What is installed under one name, and what can be imported of it."""

    name: str
    version: str
    info: Path
    stamp: Stamp
    tops: frozenset[str]


@dataclass(frozen=True, slots=True)
class Site:
    """A folder that modules are imported from. Of the standard library all is one distribution, `whole`."""

    place: Path
    whole: str = ""
    version: str = ""


class Python:
    """`environment` is where the packages are, if a setting says so."""

    def __init__(self, root: Path, texts: Texts, environ: Mapping[str, str], environment: str = "") -> None:
        self._root = root
        self._texts = texts
        self._environ = environ
        self._environment = environment
        self._read: dict[Path, tuple[Stamp, Distribution]] = {}
        self._listed: dict[Path, tuple[Stamp, list[Path], list[Path]]] = {}
        self.looked: list[str] = []

    def module(self, name: str, near: Path | None = None, *, plain: bool = False) -> Module | None:
        parts = name.split(".")
        if not all(part.isidentifier() for part in parts):
            return None
        for site in self._sites():
            if found := self._module_in(site, parts, plain):
                return found
        return None

    def inner(self, module: Module, name: str) -> Module | None:
        return self.module(f"{module.name}.{name}", plain=module.plain)

    def target(self, module: Module, text: Text, one: Import) -> tuple[Module, str] | None:
        name = self._absolute(module.name, text.path, one.module)
        if not one.name and not one.alias:
            name = name.split(".")[0]
        found = self.module(name, plain=module.plain) if name else None
        return (found, one.name) if found else None

    def split(self, written: str) -> list[tuple[str, str]]:
        first, _, rest = written.partition(".")
        return [(first, rest)]

    def _absolute(self, here: str, path: Path, module: str) -> str:
        """The name of a module that an import with dots means."""
        rest = module.lstrip(".")
        if not (dots := len(module) - len(rest)):
            return module
        parts = here.split(".")
        up = dots - (path.stem == "__init__")
        if up > len(parts):
            return ""
        return ".".join([*parts[: len(parts) - up], *([rest] if rest else [])])

    def _module_in(self, site: Site, parts: list[str], plain: bool) -> Module | None:
        folders = [site.place] if site.whole else [site.place, *self._linked(site)]
        for folder in folders:
            package = self._package(site, folder, parts)
            for path in _files(folder, parts, plain):
                if text := self._texts.read(package, path):
                    return Module(package, ".".join(parts), (text,), plain)
            inside = folder.joinpath(*parts)
            if inside.is_dir() and (found := real(inside)) and found.is_relative_to(folder):
                # a namespace: there is nothing to read, but there is something within
                return Module(package, ".".join(parts), (), plain)
        return None

    def _package(self, site: Site, folder: Path, parts: list[str]) -> Package:
        if site.whole:
            return Package(site.whole, site.version, folder)
        own = [one for one in self._distributions(site) if parts[0] in one.tops]
        if len(own) > 1:
            # several share a namespace: the one that brought this part of it
            part = "/".join(parts) + "/"
            own = [one for one in own if f"\n{part}" in f"\n{told(one.info / 'RECORD', site.place)}"] or own
        return Package(own[0].name, own[0].version, folder) if own else Package(parts[0], "", folder)

    # -- where they are
    def _sites(self) -> Iterator[Site]:
        self.looked = []
        for prefix in self._prefixes():
            libraries = [*sorted(prefix.glob("lib/python3*")), *prefix.glob("Lib")]
            for library in libraries:
                if place := real(library / "site-packages"):
                    self.looked.append(self._shown(library / "site-packages"))
                    yield Site(place)
            if standard := _standard_library(prefix, libraries):
                self.looked.append(str(standard.place))
                yield standard

    def _prefixes(self) -> list[Path]:
        """The first environment there is, and the one that the front end was started in if the folder has none."""
        if self._environment:
            return [self._root / os.path.expanduser(self._environment)]
        for folder in FOLDERS:
            if (self._root / folder / "pyvenv.cfg").is_file():
                return [self._root / folder]
        for name in VARIABLES:
            if (value := self._environ.get(name)) and os.path.isabs(value):
                return [Path(value)]
        self.looked = [f"{folder}/" for folder in FOLDERS] + [f"${name}" for name in VARIABLES]
        return []

    def _shown(self, path: Path) -> str:
        return str(path.relative_to(self._root)) if path.is_relative_to(self._root) else str(path)

    def _distributions(self, site: Site) -> list[Distribution]:
        return [found for info in self._folders(site)[0] if (found := self._distribution(info, site.place))]

    def _folders(self, site: Site) -> tuple[list[Path], list[Path]]:
        """The `*.dist-info` folders, and the folders that a `.pth` file adds."""
        now, known = stamp(site.place), self._listed.get(site.place)
        if known is None or known[0] != now:
            try:
                names = sorted(os.listdir(site.place))
            except OSError:
                names = []
            infos = [site.place / name for name in names if name.endswith(".dist-info")]
            links = [site.place / name for name in names if name.endswith(".pth")]
            known = self._listed[site.place] = (now, infos, links)
        return known[1], known[2]

    def _distribution(self, info: Path, place: Path) -> Distribution | None:
        now, known = stamp(info / "METADATA"), self._read.get(info)
        if known is None or known[0] != now:
            headers = dict(HEADER.findall(told(info / "METADATA", place).split("\n\n")[0]))
            tops = told(info / "top_level.txt", place).split() or _recorded(told(info / "RECORD", place))
            name = headers.get("Name", info.name.partition("-")[0])
            made = Distribution(name, headers.get("Version", ""), info, now, frozenset(tops))
            known = self._read[info] = (now, made)
        return known[1]

    def _linked(self, site: Site) -> Iterator[Path]:
        """Folders of packages that are installed to be edited; those of the workspace itself are no package of others."""
        for file in self._folders(site)[1]:
            for line in told(file, site.place).splitlines()[:20]:
                path = real(Path(line)) if os.path.isabs(line) else None
                if path and path.is_dir() and not _around(path, self._root):
                    yield path


def _files(folder: Path, parts: list[str], plain: bool) -> Iterator[Path]:
    """The files that a module may be in, the first that there is counts."""
    first, *rest = parts
    stubs = folder.joinpath(f"{first}-stubs", *rest)
    inside = folder.joinpath(*parts)
    for base, ending in ((stubs, "pyi"), (inside, "pyi"), (inside, "py")):
        if not (plain and ending == "pyi"):
            yield base / f"__init__.{ending}"
            if base.name != f"{first}-stubs":
                yield base.with_name(f"{base.name}.{ending}")


def _recorded(record: str) -> set[str]:
    """What can be imported, by the list of the files that were installed."""
    found: set[str] = set()
    for line in record.split("\n"):
        path = line.split(",")[0].strip('"')
        top, slash, _ = path.partition("/")
        top = top if slash else path.rpartition(".")[0].split(".")[0]
        if (name := top.removesuffix("-stubs")).isidentifier():
            found.add(name)
    return found


def _standard_library(prefix: Path, libraries: list[Path]) -> Site | None:
    settings = dict(SETTING.findall(told(prefix / "pyvenv.cfg", real(prefix) or prefix)))
    version = settings.get("version") or settings.get("version_info", "")
    short = ".".join(version.split(".")[:2]) if version else next((one.name[6:] for one in libraries), "")
    base = Path(settings["home"]).parent if settings.get("home") else prefix
    place = real(base / "lib" / f"python{short}")
    if place is None or not (place / "os.py").is_file():
        return None
    return Site(place, "Python", version or short)


def _around(path: Path, root: Path) -> bool:
    """Whether one of two folders is in the other."""
    inside = real(root) or root
    return path.is_relative_to(inside) or inside.is_relative_to(path)
