"""Which files of the workspace an import means, by the rules of its language. What means none of them stays unresolved:
an equal name elsewhere is no answer."""

import json
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import cast

from lsp_harness.index.path_suffixes import Ends

SCRIPTS = ("", ".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".json")
INDEXES = tuple(f"/index{extension}" for extension in SCRIPTS[1:-1])
AS_WRITTEN = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
"""TypeScript imports what its files become."""

Read = Callable[[str], str]
"""The text of a file of the workspace; empty where it cannot be read."""


Spaces = Callable[[str], Iterable[str]]
"""The files that declare a namespace."""


def declaring(namespace: str) -> tuple[str, tuple[str, str, str]]:
    """What holds of the symbols, beside their files, that declare a namespace, all of it in one or one within the other: a condition
    of SQL and its arguments."""
    # names are what there is an index of
    names = namespace, namespace.rpartition(".")[2]
    return "name IN (?, ?) AND qualified = ? AND kind = 'namespace' AND language = 'csharp'", (*names, namespace)


class Links:
    """Of the files at `paths`, which begin at the workspace folder and have `/`."""

    def __init__(self, paths: Iterable[str], read: Read = lambda path: "") -> None:
        self._paths = frozenset(paths)
        self._read = read
        self.spaces: Spaces = lambda name: ()
        """For languages whose imports say nothing of files; whoever knows what files declare sets it."""
        self._inside: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self._paths):
            self._inside[path.rpartition("/")[0]].append(path)
        self._files, self._folders = Ends(sorted(self._paths)), Ends(self._inside)
        self._rules: dict[str, Callable[[str, str, str], Iterable[str]]] = {
            "python": self._python,
            **dict.fromkeys(("javascript", "typescript", "tsx"), self._script),
            "go": self._go,
            "rust": self._rust,
            "java": self._java,
            "csharp": self._csharp,
            **dict.fromkeys(("c", "cpp"), self._included),
            "ruby": self._ruby,
            "php": self._php,
            "lua": self._lua,
            "bash": self._sourced,
        }

    def targets(self, path: str, language: str, module: str, name: str) -> list[str]:
        """The files that `name` of `module` means when the file `path` imports it; `*` or empty mean all of the module."""
        rule = self._rules.get(language)
        found: Iterable[str] = rule(path, module, "" if name == "*" else name) if rule else ()
        return [one for one in dict.fromkeys(found) if one != path]

    # -- looking --

    def _first(self, candidates: Iterable[str]) -> list[str]:
        found = next((one for one in candidates if one in self._paths), None)
        return [] if found is None else [found]

    def _ending(self, tail: str, near: str) -> list[str]:
        """The one file whose path ends so, or that of several which is nearest to `near`, if one is."""
        found = self._files[tail]
        if len(found) < 2:
            return [*found]
        shared = [len(posixpath.commonprefix([one, near])) for one in found]
        best = [one for one, length in zip(found, shared, strict=True) if length == max(shared)]
        return best if len(best) == 1 else []

    # -- Python --

    def _python(self, path: str, module: str, name: str) -> list[str]:
        rest = module.lstrip(".")
        parts = rest.split(".") if rest else []
        dots = len(module) - len(rest)
        folder = posixpath.dirname(path)
        for _ in range(dots - 1):
            folder = posixpath.dirname(folder)
        roots = [folder] if dots else dict.fromkeys((self._package_root(path), folder, "", "src"))
        for root in roots:
            inner = self._python_module(root, [*parts, name]) if name else []
            if found := inner or self._python_module(root, parts):
                return found
        if dots or len(parts) < 2:
            return []
        tail = "/".join(parts)
        return self._ending(f"{tail}.py", path) or self._ending(f"{tail}/__init__.py", path)

    def _python_module(self, root: str, parts: Sequence[str]) -> list[str]:
        base = "/".join(filter(None, (root, *parts)))
        packages = [_within(base, f"__init__.{extension}") for extension in ("py", "pyi")]
        return self._first([*([f"{base}.py", f"{base}.pyi"] if parts else []), *packages])

    def _package_root(self, path: str) -> str:
        folder = posixpath.dirname(path)
        while folder and f"{folder}/__init__.py" in self._paths:
            folder = posixpath.dirname(folder)
        return folder

    # -- JavaScript and TypeScript --

    def _script(self, path: str, module: str, name: str) -> list[str]:
        if module.startswith("."):
            return self._script_file(posixpath.normpath(posixpath.join(posixpath.dirname(path), module)))
        for prefix in _beginnings(module):
            inner = module[len(prefix) :].lstrip("/")
            for folder in self._aliases.get(prefix, ()):
                if found := self._script_file(_within(folder, inner)):
                    return found
        return []

    def _script_file(self, base: str) -> list[str]:
        stem, extension = posixpath.splitext(base)
        written = [f"{stem}{other}" for other in AS_WRITTEN.get(extension, ())]
        base = "" if base == "." else base
        indexes = [_within(base, one[1:]) for one in INDEXES]
        return self._first([*(f"{base}{one}" for one in SCRIPTS), *written, *indexes])

    @cached_property
    def _aliases(self) -> dict[str, list[str]]:
        """By what the paths of `tsconfig.json` and the packages of the workspace are called, the folders that are meant."""
        found: dict[str, list[str]] = defaultdict(list)
        for path in (*self._files["tsconfig.json"], *self._files["jsconfig.json"]):
            options = _object(_json(self._read(path)).get("compilerOptions"))
            base = posixpath.normpath(_within(posixpath.dirname(path), str(options.get("baseUrl") or "")) or ".")
            for pattern, places in _object(options.get("paths")).items():
                listed = cast("list[object]", places) if isinstance(places, list) else []
                folders = [posixpath.normpath(_within(base, str(place).removesuffix("*"))) for place in listed]
                found[pattern.removesuffix("*")] += ("" if one == "." else one for one in folders)
        for path in self._files["package.json"]:
            if name := _json(self._read(path)).get("name"):
                folder = posixpath.dirname(path)
                found[str(name)] += (folder, _within(folder, "src"), _within(folder, "lib"))
        return found

    # -- Go --

    def _go(self, path: str, module: str, name: str) -> Iterator[str]:
        for prefix in _beginnings(module):
            if (root := self._go_modules.get(prefix)) is not None:
                folder = _within(root, module[len(prefix) :].lstrip("/")).rstrip("/")
                yield from (
                    one for one in self._inside.get(folder, ()) if one.endswith(".go") and not one.endswith("_test.go")
                )
                return

    @cached_property
    def _go_modules(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for path in self._files["go.mod"]:
            if match := re.search(r"^module\s+(\S+)", self._read(path), re.MULTILINE):
                found.setdefault(match[1].strip('"'), posixpath.dirname(path))
        return found

    # -- Rust --

    def _rust(self, path: str, module: str, name: str) -> list[str]:
        parts = [*module.split("::"), *([name] if name else [])]
        here = self._rust_folder(path)
        match parts[0]:
            case "crate":
                return self._rust_module(self._rust_root(path), parts[1:])
            case "self":
                return self._rust_module(here, parts[1:])
            case "super":
                while parts and parts[0] == "super":
                    here, parts = posixpath.dirname(here), parts[1:]
                return self._rust_module(here, parts)
            case _:
                if (other := self._crates.get(parts[0])) is not None:
                    return self._rust_module(_within(other, "src"), parts[1:])
                return self._rust_module(here, parts, least=1)

    def _rust_module(self, folder: str, parts: Sequence[str], least: int = 0) -> list[str]:
        """The file of the innermost module on the way: what comes after it is declared there."""
        for length in range(len(parts), least - 1, -1):
            base = "/".join(filter(None, (folder, *parts[:length])))
            named = (
                [f"{base}.rs", f"{base}/mod.rs"]
                if length
                else [_within(base, one) for one in ("lib.rs", "main.rs", "mod.rs")]
            )
            if found := self._first(named):
                return found
        return self._first([f"{folder}.rs"]) if least == 0 else []

    def _rust_folder(self, path: str) -> str:
        """Where the modules inside of this one are."""
        folder, name = posixpath.split(path)
        return folder if name in ("mod.rs", "lib.rs", "main.rs") else _within(folder, name.removesuffix(".rs"))

    def _rust_root(self, path: str) -> str:
        """The folder of the crate's first file: `src` beside `Cargo.toml`, or wherever that says it is."""
        source = folder = _within(self._crate_of(path), "src")
        if not self._begins_crate(source):
            folder = posixpath.dirname(path)
            while folder and not self._begins_crate(folder):
                folder = posixpath.dirname(folder)
        return folder or source

    def _begins_crate(self, folder: str) -> bool:
        return bool(self._first([_within(folder, "lib.rs"), _within(folder, "main.rs")]))

    def _crate_of(self, path: str) -> str:
        folder = posixpath.dirname(path)
        while folder and _within(folder, "Cargo.toml") not in self._paths:
            folder = posixpath.dirname(folder)
        return folder

    @cached_property
    def _crates(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for path in self._files["Cargo.toml"]:
            if match := re.search(
                r'^\[package\][^\[]*?^name\s*=\s*"([^"]+)"', self._read(path), re.MULTILINE | re.DOTALL
            ):
                found[match[1].replace("-", "_")] = posixpath.dirname(path)
        return found

    # -- the others --

    def _java(self, path: str, module: str, name: str) -> Iterable[str]:
        parts = module.split(".")
        # a static import names a member of a class
        for length in (len(parts), len(parts) - 1):
            if found := self._ending("/".join(parts[:length]) + ".java", path):
                return found
        folders = self._folders["/".join(parts)]
        return (one for one in chain.from_iterable(map(self._inside.__getitem__, folders)) if one.endswith(".java"))

    def _csharp(self, path: str, module: str, name: str) -> list[str]:
        # `using static` and an alias may name a type in a namespace
        return sorted(self.spaces(module)) or sorted(self.spaces(module.rpartition(".")[0]))

    def _included(self, path: str, module: str, name: str) -> list[str]:
        file = module.strip("<>")
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
        return self._first([beside, file, f"include/{file}"]) or self._ending(file, path)

    def _ruby(self, path: str, module: str, name: str) -> list[str]:
        file = module if module.endswith(".rb") else f"{module}.rb"
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
        return self._first([beside, f"lib/{file}"]) or (self._ending(file, path) if "/" in file else [])

    def _php(self, path: str, module: str, name: str) -> list[str]:
        if module.endswith(".php"):
            return self._first([posixpath.normpath(posixpath.join(posixpath.dirname(path), module.lstrip("/")))])
        parts = [*module.strip("\\").split("\\"), *([name] if name else [])]
        # what a namespace begins with is often not the name of a folder (PSR-4)
        for begin in range(len(parts) - 1 or 1):
            if found := self._ending("/".join(parts[begin:]) + ".php", path):
                return found
        return []

    def _lua(self, path: str, module: str, name: str) -> list[str]:
        tail = module.replace(".", "/")
        return self._first([f"{tail}.lua", f"{tail}/init.lua"]) or self._ending(f"{tail}.lua", path)

    def _sourced(self, path: str, module: str, name: str) -> list[str]:
        file = module.strip("\"'")
        return self._first([posixpath.normpath(posixpath.join(posixpath.dirname(path), file)), file])


def _within(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder and name else folder or name


def _beginnings(module: str) -> Iterator[str]:
    """What a module may be called by, the longest first: `@a/b`, `@a/`, `@a`."""
    yield module
    at = module.rfind("/")
    while at >= 0:
        yield module[: at + 1]
        yield module[:at]
        at = module.rfind("/", 0, at)


def _json(text: str) -> dict[str, object]:
    """An object; comments, as in `tsconfig.json`, are left out, and what is none is empty."""
    # a string that is never closed is one to the end: to look for another in it would take as long again, at each quote
    bare = re.sub(
        r'("[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z))|//[^\n]*|/\*.*?(?:\*/|\Z)',
        lambda match: match[1] or "",
        text,
        flags=re.DOTALL,
    )
    try:
        found = json.loads(re.sub(r",(\s*[}\]])", r"\1", bare))
    except (ValueError, RecursionError):
        return {}
    return _object(found)


def _object(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
