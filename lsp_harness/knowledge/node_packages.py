"""JavaScript and TypeScript: packages in `node_modules`, their declarations (`.d.ts`) before their sources."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from lsp_harness.knowledge.package_module import Module
from lsp_harness.knowledge.package_source import Package, Text, Texts, as_object, contents, listed, real
from lsp_harness.syntax.symbols.declarations import Import

MODULES = "node_modules"
TYPES = "@types"
NAME = re.compile(r"(?:@[\w.~-]+/)?[\w~-][\w.~-]*\Z")
REFERENCE = re.compile(rb"^///\s*<reference\s+path=[\"']([^\"']+)[\"']", re.MULTILINE)
DECLARED = {
    ".js": ".d.ts",
    ".mjs": ".d.mts",
    ".cjs": ".d.cts",
    ".jsx": ".d.ts",
    ".ts": ".d.ts",
    ".mts": ".d.mts",
    ".cts": ".d.cts",
    ".tsx": ".d.ts",
}
ENDINGS = (
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
REFERENCES = 64
"""Files of a module that it names at its beginning."""


class Node:
    def __init__(self, root: Path, texts: Texts) -> None:
        self._root = root
        self._texts = texts
        self.looked: list[str] = []

    def module(self, name: str, near: Path | None = None, *, plain: bool = False) -> Module | None:
        own, part = _parts(name.removeprefix("node:"))
        if not NAME.match(own):
            return None
        self.looked = []
        for folder in self._folders(near):
            if (path := self._declarations(folder, own, part)) and (place := real(folder)):
                info = listed(folder / own / "package.json", place) or listed(
                    _types(folder, own) / "package.json", place
                )
                package = Package(own, _text(info.get("version")), place)
                return self._made(package, name, path, folder)
        return None

    def inner(self, module: Module, name: str) -> Module | None:
        return None

    def target(self, module: Module, text: Text, one: Import) -> tuple[Module, str] | None:
        if not one.module.startswith("."):
            found = self.module(one.module, text.path.parent)
        else:
            path = _file(Path(os.path.normpath(text.path.parent / one.module)))
            found = self._made(module.package, str(path), path, module.near) if path else None
        return (found, one.name) if found else None

    def split(self, written: str) -> list[tuple[str, str]]:
        """A package may have dots in its name."""
        at = written.rfind("/") + 1
        dots = [match.start() for match in re.finditer(r"\.", written[at:])]
        return [*((written[: at + dot], written[at + dot + 1 :]) for dot in dots), (written, "")]

    def _made(self, package: Package, name: str, path: Path, near: Path | None) -> Module | None:
        texts = self._all(package, path)
        return Module(package, name, texts, near=near) if texts else None

    def _all(self, package: Package, path: Path) -> tuple[Text, ...]:
        """The file, and those that it says belong to it."""
        found: dict[Path, Text] = {}
        waiting = [path]
        while waiting and len(found) < REFERENCES:
            one = waiting.pop(0)
            if one not in found and (text := self._texts.read(package, one)):
                found[one] = text
                named = (os.fsdecode(name) for name in REFERENCE.findall(text.data))
                waiting += (Path(os.path.normpath(one.parent / name)) for name in named)
        return tuple(found.values())

    def _folders(self, near: Path | None) -> Iterator[Path]:
        """The `node_modules` around a folder, the nearest first, up to the workspace's; within an installed package those
        that it is in."""
        start = near if near and near.is_relative_to(self._root) else self._root
        for folder in (start, *start.parents):
            modules = folder / MODULES
            if folder.name != MODULES:
                if modules.is_dir():
                    yield modules
                self.looked.append(os.path.relpath(modules, self._root))
            if folder == self._root:
                break

    def _declarations(self, folder: Path, own: str, part: str) -> Path | None:
        """The file that says what a package, or a part of it, has."""
        place, package, types = real(folder), folder / own, _types(folder, own)
        if place is None:
            return None
        tries: list[Path | None] = []
        if package.is_dir():
            tries += self._told(package, place, part)
        if types.is_dir():
            tries += [*self._told(types, place, part)]
        # what comes with Node itself
        tries.append(folder / TYPES / "node" / f"{'/'.join(filter(None, (own, part)))}.d.ts")
        files = [path for one in tries if one and (path := _file(one)) and contents(path, place) is not None]
        typed = (path for path in files if _is_typed(path))
        return next(typed, files[0] if files else None)

    def _told(self, package: Path, place: Path, part: str) -> Iterator[Path]:
        """Where the files may be by what the package says of itself, the likeliest first."""
        info = listed(package / "package.json", place)
        exported = info.get("exports")
        inside = f"./{part}" if part else "."
        for target in _exported(exported, inside):
            yield from _with_types(package / target)
        if part:
            yield from _with_types(package / part)
            return
        for key in ("types", "typings", "main"):
            if name := _text(info.get(key)):
                yield from _with_types(package / name)
        yield from _with_types(package / "index.js")


def _parts(name: str) -> tuple[str, str]:
    """The package of an import, and the part of it."""
    length = 2 if name.startswith("@") else 1
    parts = name.split("/")
    return "/".join(parts[:length]), "/".join(parts[length:])


def _types(folder: Path, own: str) -> Path:
    return folder / TYPES / own.removeprefix("@").replace("/", "__")


def _exported(value: object, inside: str) -> Iterator[str]:
    """What `exports` of a `package.json` says of a part, declarations first."""
    exports = as_object(value)
    if not any(key.startswith(".") for key in exports):
        exports = {".": value}
    for key, target in exports.items():
        before, star, after = key.partition("*")
        if key == inside:
            yield from _conditions(target, "")
        elif star and inside.startswith(before) and inside.endswith(after) and len(inside) >= len(key):
            yield from _conditions(target, inside[len(before) : len(inside) - len(after)])


def _conditions(target: object, star: str, deep: int = 8) -> Iterator[str]:
    if isinstance(target, str):
        yield target.replace("*", star)
    elif isinstance(target, list):
        for one in cast("list[object]", target) if deep else ():
            yield from _conditions(one, star, deep - 1)
    elif deep:
        options = as_object(target)
        for name in sorted(options, key=lambda one: CONDITIONS.index(one) if one in CONDITIONS else 99):
            yield from _conditions(options[name], star, deep - 1)


def _with_types(path: Path) -> Iterator[Path]:
    """The declarations beside a source, then the source."""
    if ending := DECLARED.get(path.suffix):
        yield path.with_suffix(ending)
    yield path


def _file(path: Path) -> Path | None:
    """The file that a path without its ending means."""
    if ending := DECLARED.get(path.suffix):
        beside = path.with_suffix(ending)
        if os.path.isfile(beside):
            return beside
    for ending in ENDINGS:
        if os.path.isfile(f"{path}{ending}"):
            return Path(f"{path}{ending}")
    return None


def _is_typed(path: Path) -> bool:
    return path.suffix in (".ts", ".mts", ".cts", ".tsx")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
