"""Resolvers of imports to files of the workspace, by the rules of one language each.

Most imports mean nothing in the workspace, and this must be known without a search through all paths. So paths are
looked up by their last parts.
"""

import json
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import cast


class PathSuffixes:
    """An index of paths with `/` as separator."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_tail: dict[str, list[str]] = defaultdict(list)
        """Paths by their last part, and by their last two parts."""
        self._cache: dict[str, Sequence[str]] = {}
        for path in paths:
            parts = path.rsplit("/", 2)
            self._by_tail[parts[-1]].append(path)
            if len(parts) > 1:
                self._by_tail["/".join(parts[-2:])].append(path)

    def __getitem__(self, tail: str) -> Sequence[str]:
        """Return the paths that end with all parts of `tail`, in their order."""
        short_tail = "/".join(tail.rsplit("/", 2)[-2:])
        candidates = self._by_tail.get(short_tail, ())
        if not candidates or short_tail == tail:
            return candidates
        matches = self._cache.get(tail)
        if matches is None:
            matches = self._cache[tail] = [path for path in candidates if path == tail or path.endswith(f"/{tail}")]
        return matches


ReadText = Callable[[str], str]
"""Returns the text of a file of the workspace; empty if it cannot be read."""
ResolveImport = Callable[[str, str, str], Iterable[str]]
"""Returns the files that an import may mean, by the importing file, the module and the imported name."""


class WorkspaceFiles:
    """The paths of the files of a workspace. They are relative to its folder and use `/`.

    Attributes:
        paths: The paths of all files.
        by_folder: The sorted paths of the files by their folder.
        folder_suffixes: Finds folders that contain files by the end of their path.
        read_text: Returns the text of a file. Some resolvers read the settings of a project.
    """

    def __init__(self, paths: Iterable[str], read_text: ReadText) -> None:
        self.paths = frozenset(paths)
        self.read_text = read_text
        self.by_folder: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.paths):
            self.by_folder[path.rpartition("/")[0]].append(path)
        self._suffixes = PathSuffixes(sorted(self.paths))
        self.folder_suffixes = PathSuffixes(self.by_folder)

    def with_suffix(self, tail: str) -> Sequence[str]:
        """Return the paths of the files that end with all parts of `tail`."""
        return self._suffixes[tail]

    def first_existing(self, candidates: Iterable[str]) -> list[str]:
        """Return the first candidate that is a file, as a list of at most one path."""
        path = next((candidate for candidate in candidates if candidate in self.paths), None)
        return [] if path is None else [path]

    def find_by_suffix(self, tail: str, importer: str) -> list[str]:
        """Return the only file whose path ends with `tail`, or of several the one nearest to `importer` if it is the
        only nearest one."""
        matches = self._suffixes[tail]
        if len(matches) < 2:
            return [*matches]
        shared_lengths = [len(posixpath.commonprefix([match, importer])) for match in matches]
        best = [match for match, length in zip(matches, shared_lengths, strict=True) if length == max(shared_lengths)]
        return best if len(best) == 1 else []


def join_path(folder: str, name: str) -> str:
    """Return the path of a name in a folder. Either may be empty."""
    return f"{folder}/{name}" if folder and name else folder or name


def list_module_prefixes(module: str) -> Iterator[str]:
    """Yield the prefixes that may be a package or alias, the longest first: `@a/b`, `@a/`, `@a`."""
    yield module
    slash = module.rfind("/")
    while slash >= 0:
        yield module[: slash + 1]
        yield module[:slash]
        slash = module.rfind("/", 0, slash)


class PathImports:
    """Resolves imports without settings of a project: the end of a path decides."""

    def __init__(self, files: WorkspaceFiles) -> None:
        self._files = files

    def resolve_java(self, path: str, module: str, name: str) -> Iterable[str]:
        """Return the file of a class, or the files of a package."""
        parts = module.split(".")
        # A static import names a member of a class.
        for length in (len(parts), len(parts) - 1):
            if files := self._files.find_by_suffix("/".join(parts[:length]) + ".java", path):
                return files
        folders = self._files.folder_suffixes["/".join(parts)]
        return (
            file
            for file in chain.from_iterable(map(self._files.by_folder.__getitem__, folders))
            if file.endswith(".java")
        )

    def resolve_include(self, path: str, module: str, name: str) -> list[str]:
        """Return the file of an `#include`, which is first looked up beside the importing file."""
        file = module.strip("<>")
        sibling = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
        return self._files.first_existing([sibling, file, f"include/{file}"]) or self._files.find_by_suffix(file, path)

    def resolve_ruby(self, path: str, module: str, name: str) -> list[str]:
        """Return the file of a `require`."""
        file = module if module.endswith(".rb") else f"{module}.rb"
        sibling = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
        return self._files.first_existing([sibling, f"lib/{file}"]) or (
            self._files.find_by_suffix(file, path) if "/" in file else []
        )

    def resolve_php(self, path: str, module: str, name: str) -> list[str]:
        """Return the file of a `require`, or the file of a class by the end of its namespace."""
        if module.endswith(".php"):
            return self._files.first_existing(
                [posixpath.normpath(posixpath.join(posixpath.dirname(path), module.lstrip("/")))]
            )
        parts = [*module.strip("\\").split("\\"), *([name] if name else [])]
        # The first parts of a namespace are often no folders (PSR-4).
        for start in range(len(parts) - 1 or 1):
            if files := self._files.find_by_suffix("/".join(parts[start:]) + ".php", path):
                return files
        return []

    def resolve_lua(self, path: str, module: str, name: str) -> list[str]:
        """Return the file of a `require`."""
        tail = module.replace(".", "/")
        return self._files.first_existing([f"{tail}.lua", f"{tail}/init.lua"]) or self._files.find_by_suffix(
            f"{tail}.lua", path
        )

    def resolve_bash(self, path: str, module: str, name: str) -> list[str]:
        """Return the file of a `source` command."""
        file = module.strip("\"'")
        return self._files.first_existing([posixpath.normpath(posixpath.join(posixpath.dirname(path), file)), file])


class PythonImports:
    """Resolves imports to modules and packages, below the root of a package, the own folder or `src`."""

    def __init__(self, files: WorkspaceFiles) -> None:
        self._files = files

    def resolve(self, path: str, module: str, name: str) -> list[str]:
        """Return the files of a module, or of the submodule that `name` may be."""
        dotted_name = module.lstrip(".")
        parts = dotted_name.split(".") if dotted_name else []
        dots = len(module) - len(dotted_name)
        folder = posixpath.dirname(path)
        for _ in range(dots - 1):
            folder = posixpath.dirname(folder)
        roots = [folder] if dots else dict.fromkeys((self._package_root(path), folder, "", "src"))
        for root in roots:
            submodule = self._python_module(root, [*parts, name]) if name else []
            if files := submodule or self._python_module(root, parts):
                return files
        if dots or len(parts) < 2:
            return []
        tail = "/".join(parts)
        return self._files.find_by_suffix(f"{tail}.py", path) or self._files.find_by_suffix(f"{tail}/__init__.py", path)

    def _python_module(self, root: str, parts: Sequence[str]) -> list[str]:
        base = "/".join(filter(None, (root, *parts)))
        packages = [join_path(base, f"__init__.{extension}") for extension in ("py", "pyi")]
        return self._files.first_existing([*([f"{base}.py", f"{base}.pyi"] if parts else []), *packages])

    def _package_root(self, path: str) -> str:
        folder = posixpath.dirname(path)
        while folder and f"{folder}/__init__.py" in self._files.paths:
            folder = posixpath.dirname(folder)
        return folder


class GoImports:
    """Resolves imports to the packages of the modules in the workspace. It reads each `go.mod`."""

    def __init__(self, files: WorkspaceFiles) -> None:
        self._files = files

    def resolve(self, path: str, module: str, name: str) -> Iterator[str]:
        """Yield the files of a package, without its tests."""
        for prefix in list_module_prefixes(module):
            if (root := self._go_modules.get(prefix)) is not None:
                folder = join_path(root, module[len(prefix) :].lstrip("/")).rstrip("/")
                yield from (
                    file
                    for file in self._files.by_folder.get(folder, ())
                    if file.endswith(".go") and not file.endswith("_test.go")
                )
                return

    @cached_property
    def _go_modules(self) -> dict[str, str]:
        folders: dict[str, str] = {}
        for path in self._files.with_suffix("go.mod"):
            if match := re.search(r"^module\s+(\S+)", self._files.read_text(path), re.MULTILINE):
                folders.setdefault(match[1].strip('"'), posixpath.dirname(path))
        return folders


class RustImports:
    """Resolves paths of modules in the crates of the workspace. It reads each `Cargo.toml`."""

    def __init__(self, files: WorkspaceFiles) -> None:
        self._files = files

    def resolve(self, path: str, module: str, name: str) -> list[str]:
        """Return the file of the innermost module that a path names."""
        parts = [*module.split("::"), *([name] if name else [])]
        folder = self._rust_folder(path)
        match parts[0]:
            case "crate":
                return self._rust_module(self._rust_root(path), parts[1:])
            case "self":
                return self._rust_module(folder, parts[1:])
            case "super":
                while parts and parts[0] == "super":
                    folder, parts = posixpath.dirname(folder), parts[1:]
                return self._rust_module(folder, parts)
            case _:
                if (crate := self._crates.get(parts[0])) is not None:
                    return self._rust_module(join_path(crate, "src"), parts[1:])
                return self._rust_module(folder, parts, min_length=1)

    def _rust_module(self, folder: str, parts: Sequence[str], min_length: int = 0) -> list[str]:
        """Return the file of the innermost module on the path. The remaining names are declared in it."""
        for length in range(len(parts), min_length - 1, -1):
            base = "/".join(filter(None, (folder, *parts[:length])))
            candidates = (
                [f"{base}.rs", f"{base}/mod.rs"]
                if length
                else [join_path(base, file_name) for file_name in ("lib.rs", "main.rs", "mod.rs")]
            )
            if files := self._files.first_existing(candidates):
                return files
        return self._files.first_existing([f"{folder}.rs"]) if min_length == 0 else []

    def _rust_folder(self, path: str) -> str:
        """Return the folder of the submodules of a file."""
        folder, name = posixpath.split(path)
        return folder if name in ("mod.rs", "lib.rs", "main.rs") else join_path(folder, name.removesuffix(".rs"))

    def _rust_root(self, path: str) -> str:
        """Return the folder of the crate's root file: `src` beside `Cargo.toml`, or another folder that has one."""
        source = folder = join_path(self._crate_of(path), "src")
        if not self._has_crate_root(source):
            folder = posixpath.dirname(path)
            while folder and not self._has_crate_root(folder):
                folder = posixpath.dirname(folder)
        return folder or source

    def _has_crate_root(self, folder: str) -> bool:
        return bool(self._files.first_existing([join_path(folder, "lib.rs"), join_path(folder, "main.rs")]))

    def _crate_of(self, path: str) -> str:
        folder = posixpath.dirname(path)
        while folder and join_path(folder, "Cargo.toml") not in self._files.paths:
            folder = posixpath.dirname(folder)
        return folder

    @cached_property
    def _crates(self) -> dict[str, str]:
        folders: dict[str, str] = {}
        for path in self._files.with_suffix("Cargo.toml"):
            if match := re.search(
                r'^\[package\][^\[]*?^name\s*=\s*"([^"]+)"', self._files.read_text(path), re.MULTILINE | re.DOTALL
            ):
                folders[match[1].replace("-", "_")] = posixpath.dirname(path)
        return folders


SCRIPT_EXTENSIONS = ("", ".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".json")
INDEX_FILES = tuple(f"/index{extension}" for extension in SCRIPT_EXTENSIONS[1:-1])
SOURCE_EXTENSIONS = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
"""TypeScript imports name the compiled file; these are the extensions of its source."""


class ScriptImports:
    """Resolves imports to script files.

    It reads `tsconfig.json`, `jsconfig.json` and `package.json` of the workspace.
    """

    def __init__(self, files: WorkspaceFiles) -> None:
        self._files = files

    def resolve(self, path: str, module: str, name: str) -> list[str]:
        """Return the file of a relative module, of a path alias, or of a package in the workspace."""
        if module.startswith("."):
            return self._script_file(posixpath.normpath(posixpath.join(posixpath.dirname(path), module)))
        for prefix in list_module_prefixes(module):
            relative = module[len(prefix) :].lstrip("/")
            for folder in self._aliases.get(prefix, ()):
                if files := self._script_file(join_path(folder, relative)):
                    return files
        return []

    def _script_file(self, base: str) -> list[str]:
        stem, extension = posixpath.splitext(base)
        sources = [f"{stem}{source_extension}" for source_extension in SOURCE_EXTENSIONS.get(extension, ())]
        base = "" if base == "." else base
        indexes = [join_path(base, ending[1:]) for ending in INDEX_FILES]
        return self._files.first_existing([*(f"{base}{ending}" for ending in SCRIPT_EXTENSIONS), *sources, *indexes])

    @cached_property
    def _aliases(self) -> dict[str, list[str]]:
        """Folders by prefix: the path aliases of `tsconfig.json` and the names of the packages in the workspace."""
        folders_by_prefix: dict[str, list[str]] = defaultdict(list)
        for path in (*self._files.with_suffix("tsconfig.json"), *self._files.with_suffix("jsconfig.json")):
            options = _as_object(_parse_json(self._files.read_text(path)).get("compilerOptions"))
            base = posixpath.normpath(join_path(posixpath.dirname(path), str(options.get("baseUrl") or "")) or ".")
            for pattern, targets in _as_object(options.get("paths")).items():
                patterns = cast("list[object]", targets) if isinstance(targets, list) else []
                folders = [posixpath.normpath(join_path(base, str(target).removesuffix("*"))) for target in patterns]
                folders_by_prefix[pattern.removesuffix("*")] += (
                    "" if folder_path == "." else folder_path for folder_path in folders
                )
        for path in self._files.with_suffix("package.json"):
            if name := _parse_json(self._files.read_text(path)).get("name"):
                folder = posixpath.dirname(path)
                folders_by_prefix[str(name)] += (folder, join_path(folder, "src"), join_path(folder, "lib"))
        return folders_by_prefix


def _parse_json(text: str) -> dict[str, object]:
    """Return a JSON object, with comments allowed as in `tsconfig.json`; empty for anything else."""
    # An unclosed string ends at the end of the text. Otherwise the search would restart at each quote and take
    # quadratic time.
    uncommented = re.sub(
        r'("[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z))|//[^\n]*|/\*.*?(?:\*/|\Z)',
        lambda match: match[1] or "",
        text,
        flags=re.DOTALL,
    )
    try:
        parsed = json.loads(re.sub(r",(\s*[}\]])", r"\1", uncommented))
    except (ValueError, RecursionError):
        return {}
    return _as_object(parsed)


def _as_object(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
