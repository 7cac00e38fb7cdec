"""Go: the modules that `go.mod` requires, in the module cache or `vendor`, and the standard library."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from lsp_harness.knowledge.package_module import Module
from lsp_harness.knowledge.package_source import Package, Stamp, Text, Texts, real, stamp, told
from lsp_harness.syntax.symbols.declarations import Import

FILES = 80
"""Files of a package that are read."""
REQUIRED = re.compile(r"^[ \t]*(?:require\s+)?([\w.~/-]+\.[\w.~/-]+)\s+(v\S+)", re.MULTILINE)
REPLACED = re.compile(r"^[ \t]*(?:replace\s+)?(\S+)(?:[ \t]+v\S+)?\s+=>\s+(\S+)(?:[ \t]+(v\S+))?", re.MULTILINE)
STANDARD = ("/usr/local/go", "/usr/lib/go", "/usr/lib/golang")


class Go:
    def __init__(self, root: Path, texts: Texts, environ: Mapping[str, str]) -> None:
        self._root = root
        self._texts = texts
        self._environ = environ
        self._required: tuple[Stamp, dict[str, tuple[str, str]]] | None = None
        self.looked: list[str] = []

    def module(self, name: str, near: Path | None = None, *, plain: bool = False) -> Module | None:
        name = name.strip('"')
        if not name or name.startswith(("/", ".")) or ".." in name.split("/"):
            return None
        self.looked = []
        for package, folder in self._places(name):
            self.looked.append(str(folder))
            texts = tuple(text for path in _sources(folder) if (text := self._texts.read(package, path)))
            if texts:
                return Module(package, name, texts)
        return None

    def inner(self, module: Module, name: str) -> Module | None:
        return None

    def target(self, module: Module, text: Text, one: Import) -> tuple[Module, str] | None:
        found = self.module(one.module)
        return (found, "") if found else None

    def split(self, written: str) -> list[tuple[str, str]]:
        at = written.rfind("/") + 1
        dots = [match.start() for match in re.finditer(r"\.", written[at:])]
        return [*((written[: at + dot], written[at + dot + 1 :]) for dot in dots), (written, "")]

    def _places(self, name: str) -> Iterator[tuple[Package, Path]]:
        """The folders that a package may be in, each with the module it is of."""
        first = name.split("/")[0]
        if "." not in first:
            for base in filter(None, (self._environ.get("GOROOT"), *STANDARD)):
                if place := real(Path(base) / "src"):
                    # a distribution may have the sources elsewhere than the rest
                    version = told(Path(base) / "VERSION", real(Path(base)) or place)
                    version = (
                        (version or told(place.parent / "VERSION", place.parent)).split("\n")[0].removeprefix("go")
                    )
                    yield Package("Go", version, place), place / name
            return
        required = self._requirements()
        module = next((one for one in _prefixes(name) if one in required), "")
        if not module:
            return
        inside, (path, version) = name[len(module) :].lstrip("/"), required[module]
        if vendor := real(self._root / "vendor"):
            yield Package(module, version, vendor), vendor / name
        for cache in self._caches():
            if place := real(cache):
                yield Package(module, version, place), place / f"{_escaped(path)}@{_escaped(version)}" / inside

    def _caches(self) -> Iterator[Path]:
        if cache := self._environ.get("GOMODCACHE"):
            yield Path(cache)
            return
        for base in filter(None, self._environ.get("GOPATH", "").split(os.pathsep)):
            yield Path(base) / "pkg" / "mod"
        if not self._environ.get("GOPATH"):
            yield Path(os.path.expanduser(self._environ.get("HOME", "~"))) / "go" / "pkg" / "mod"

    def _requirements(self) -> dict[str, tuple[str, str]]:
        """By module: the path and version that it is kept under."""
        file = self._root / "go.mod"
        now = stamp(file)
        if self._required is None or self._required[0] != now:
            text = re.sub(r"//[^\n]*", "", told(file, real(self._root) or self._root))
            found = {module: (module, version) for module, version in REQUIRED.findall(text) if "=>" not in module}
            for module, path, version in REPLACED.findall(text):
                found.pop(module, None)
                if version:
                    # what is replaced by a folder is the workspace's own
                    found[module] = (path, version)
            self._required = (now, found)
        return self._required[1]


def _prefixes(name: str) -> Iterator[str]:
    """The name, and what it is in, the longest first."""
    while name:
        yield name
        name = name.rpartition("/")[0]


def _sources(folder: Path) -> list[Path]:
    try:
        names = sorted(os.listdir(folder))
    except (OSError, ValueError):
        return []
    return [folder / name for name in names if name.endswith(".go") and not name.endswith("_test.go")][:FILES]


def _escaped(path: str) -> str:
    """As the module cache writes capital letters."""
    return re.sub(r"[A-Z]", lambda found: f"!{found[0].lower()}", path)
