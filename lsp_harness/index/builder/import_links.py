"""Resolution of imports to files of the workspace, by the rules of each language.

An import that matches no file stays unresolved: a file of the same name elsewhere is not an answer.
"""

import json
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import chain
from typing import cast

from lsp_harness.index.path_suffixes import PathSuffixes
from lsp_harness.languages.import_traits import ImportForm
from lsp_harness.languages.language_table import find_language, shipped_languages
from lsp_harness.store.database import placeholders

SCRIPT_EXTENSIONS = ("", ".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".json")
INDEX_FILES = tuple(f"/index{extension}" for extension in SCRIPT_EXTENSIONS[1:-1])
SOURCE_EXTENSIONS = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
"""TypeScript imports name the compiled file; these are the extensions of its source."""

ReadText = Callable[[str], str]
"""Returns the text of a file of the workspace; empty if it cannot be read."""


FindNamespaceFiles = Callable[[str], Iterable[str]]
"""Returns the paths of the files that declare a namespace."""


@cache
def namespace_languages() -> tuple[str, ...]:
    """Return the ids of the languages whose imports name namespaces."""
    return tuple(language.id for language in shipped_languages() if language.imports.names_namespaces)


def namespace_condition(namespace: str) -> tuple[str, tuple[str, ...]]:
    """Return an SQL condition, with its arguments, for the symbols that declare a namespace, written as one name or
    nested."""
    # The condition on `name` uses an index of the database.
    names = namespace, namespace.rpartition(".")[2]
    languages = namespace_languages()
    condition = (
        f"name IN (?, ?) AND qualified = ? AND kind = 'namespace' AND language IN ({placeholders(len(languages))})"
    )
    return condition, (*names, namespace, *languages)


class ImportLinks:
    """Resolves imports among the files at `paths`, which are relative to the workspace folder and use `/`."""

    def __init__(self, paths: Iterable[str], read_text: ReadText = lambda path: "") -> None:
        self._paths = frozenset(paths)
        self._read_text = read_text
        self.find_namespace_files: FindNamespaceFiles = lambda name: ()
        """Finds files for languages whose imports name namespaces. The caller sets it, as it needs the declarations
        of all files."""
        self._files_by_folder: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self._paths):
            self._files_by_folder[path.rpartition("/")[0]].append(path)
        self._file_suffixes, self._folder_suffixes = (
            PathSuffixes(sorted(self._paths)),
            PathSuffixes(self._files_by_folder),
        )
        self._rules: dict[ImportForm, Callable[[str, str, str], Iterable[str]]] = {
            "from-import": self._resolve_python,
            "module-import": self._resolve_script,
            "import-block": self._resolve_go,
            "use-tree": self._resolve_rust,
            "type-import": self._resolve_java,
            "using-namespace": self._resolve_csharp,
            "include": self._resolve_include,
            "require-file": self._resolve_ruby,
            "use-name": self._resolve_php,
            "require-module": self._resolve_lua,
            "source-file": self._resolve_bash,
        }

    def find_targets(self, path: str, language: str, module: str, name: str) -> list[str]:
        """Return the files that an import means.

        Args:
            path: The importing file.
            language: The language id of that file.
            module: The module as the import writes it.
            name: The imported name; empty or `*` for the whole module.
        """
        rule = self._rules.get(find_language(language).imports.form)
        candidates: Iterable[str] = rule(path, module, "" if name == "*" else name) if rule else ()
        return [target for target in dict.fromkeys(candidates) if target != path]

    # -- looking --

    def _first_existing(self, candidates: Iterable[str]) -> list[str]:
        """Return the first candidate that is a file, as a list of at most one path."""
        path = next((candidate for candidate in candidates if candidate in self._paths), None)
        return [] if path is None else [path]

    def _find_by_suffix(self, tail: str, importer: str) -> list[str]:
        """Return the only file whose path ends with `tail`, or of several the one nearest to `importer` if it is the
        only nearest one."""
        matches = self._file_suffixes[tail]
        if len(matches) < 2:
            return [*matches]
        shared_lengths = [len(posixpath.commonprefix([match, importer])) for match in matches]
        best = [match for match, length in zip(matches, shared_lengths, strict=True) if length == max(shared_lengths)]
        return best if len(best) == 1 else []

    # -- Python --

    def _resolve_python(self, path: str, module: str, name: str) -> list[str]:
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
        return self._find_by_suffix(f"{tail}.py", path) or self._find_by_suffix(f"{tail}/__init__.py", path)

    def _python_module(self, root: str, parts: Sequence[str]) -> list[str]:
        base = "/".join(filter(None, (root, *parts)))
        packages = [_join(base, f"__init__.{extension}") for extension in ("py", "pyi")]
        return self._first_existing([*([f"{base}.py", f"{base}.pyi"] if parts else []), *packages])

    def _package_root(self, path: str) -> str:
        folder = posixpath.dirname(path)
        while folder and f"{folder}/__init__.py" in self._paths:
            folder = posixpath.dirname(folder)
        return folder

    # -- JavaScript and TypeScript --

    def _resolve_script(self, path: str, module: str, name: str) -> list[str]:
        if module.startswith("."):
            return self._script_file(posixpath.normpath(posixpath.join(posixpath.dirname(path), module)))
        for prefix in _prefixes(module):
            relative = module[len(prefix) :].lstrip("/")
            for folder in self._aliases.get(prefix, ()):
                if files := self._script_file(_join(folder, relative)):
                    return files
        return []

    def _script_file(self, base: str) -> list[str]:
        stem, extension = posixpath.splitext(base)
        sources = [f"{stem}{source_extension}" for source_extension in SOURCE_EXTENSIONS.get(extension, ())]
        base = "" if base == "." else base
        indexes = [_join(base, ending[1:]) for ending in INDEX_FILES]
        return self._first_existing([*(f"{base}{ending}" for ending in SCRIPT_EXTENSIONS), *sources, *indexes])

    @cached_property
    def _aliases(self) -> dict[str, list[str]]:
        """Folders by prefix: the path aliases of `tsconfig.json` and the names of the packages in the workspace."""
        folders_by_prefix: dict[str, list[str]] = defaultdict(list)
        for path in (*self._file_suffixes["tsconfig.json"], *self._file_suffixes["jsconfig.json"]):
            options = _as_object(_parse_json(self._read_text(path)).get("compilerOptions"))
            base = posixpath.normpath(_join(posixpath.dirname(path), str(options.get("baseUrl") or "")) or ".")
            for pattern, targets in _as_object(options.get("paths")).items():
                patterns = cast("list[object]", targets) if isinstance(targets, list) else []
                folders = [posixpath.normpath(_join(base, str(target).removesuffix("*"))) for target in patterns]
                folders_by_prefix[pattern.removesuffix("*")] += (
                    "" if folder_path == "." else folder_path for folder_path in folders
                )
        for path in self._file_suffixes["package.json"]:
            if name := _parse_json(self._read_text(path)).get("name"):
                folder = posixpath.dirname(path)
                folders_by_prefix[str(name)] += (folder, _join(folder, "src"), _join(folder, "lib"))
        return folders_by_prefix

    # -- Go --

    def _resolve_go(self, path: str, module: str, name: str) -> Iterator[str]:
        for prefix in _prefixes(module):
            if (root := self._go_modules.get(prefix)) is not None:
                folder = _join(root, module[len(prefix) :].lstrip("/")).rstrip("/")
                yield from (
                    file
                    for file in self._files_by_folder.get(folder, ())
                    if file.endswith(".go") and not file.endswith("_test.go")
                )
                return

    @cached_property
    def _go_modules(self) -> dict[str, str]:
        folders: dict[str, str] = {}
        for path in self._file_suffixes["go.mod"]:
            if match := re.search(r"^module\s+(\S+)", self._read_text(path), re.MULTILINE):
                folders.setdefault(match[1].strip('"'), posixpath.dirname(path))
        return folders

    # -- Rust --

    def _resolve_rust(self, path: str, module: str, name: str) -> list[str]:
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
                    return self._rust_module(_join(crate, "src"), parts[1:])
                return self._rust_module(folder, parts, min_length=1)

    def _rust_module(self, folder: str, parts: Sequence[str], min_length: int = 0) -> list[str]:
        """Return the file of the innermost module on the path. The remaining names are declared in it."""
        for length in range(len(parts), min_length - 1, -1):
            base = "/".join(filter(None, (folder, *parts[:length])))
            candidates = (
                [f"{base}.rs", f"{base}/mod.rs"]
                if length
                else [_join(base, file_name) for file_name in ("lib.rs", "main.rs", "mod.rs")]
            )
            if files := self._first_existing(candidates):
                return files
        return self._first_existing([f"{folder}.rs"]) if min_length == 0 else []

    def _rust_folder(self, path: str) -> str:
        """Return the folder of the submodules of a file."""
        folder, name = posixpath.split(path)
        return folder if name in ("mod.rs", "lib.rs", "main.rs") else _join(folder, name.removesuffix(".rs"))

    def _rust_root(self, path: str) -> str:
        """Return the folder of the crate's root file: `src` beside `Cargo.toml`, or another folder that has one."""
        source = folder = _join(self._crate_of(path), "src")
        if not self._has_crate_root(source):
            folder = posixpath.dirname(path)
            while folder and not self._has_crate_root(folder):
                folder = posixpath.dirname(folder)
        return folder or source

    def _has_crate_root(self, folder: str) -> bool:
        return bool(self._first_existing([_join(folder, "lib.rs"), _join(folder, "main.rs")]))

    def _crate_of(self, path: str) -> str:
        folder = posixpath.dirname(path)
        while folder and _join(folder, "Cargo.toml") not in self._paths:
            folder = posixpath.dirname(folder)
        return folder

    @cached_property
    def _crates(self) -> dict[str, str]:
        folders: dict[str, str] = {}
        for path in self._file_suffixes["Cargo.toml"]:
            if match := re.search(
                r'^\[package\][^\[]*?^name\s*=\s*"([^"]+)"', self._read_text(path), re.MULTILINE | re.DOTALL
            ):
                folders[match[1].replace("-", "_")] = posixpath.dirname(path)
        return folders

    # -- the others --

    def _resolve_java(self, path: str, module: str, name: str) -> Iterable[str]:
        parts = module.split(".")
        # A static import names a member of a class.
        for length in (len(parts), len(parts) - 1):
            if files := self._find_by_suffix("/".join(parts[:length]) + ".java", path):
                return files
        folders = self._folder_suffixes["/".join(parts)]
        return (
            file
            for file in chain.from_iterable(map(self._files_by_folder.__getitem__, folders))
            if file.endswith(".java")
        )

    def _resolve_csharp(self, path: str, module: str, name: str) -> list[str]:
        # `using static` and an alias may name a type in a namespace.
        return sorted(self.find_namespace_files(module)) or sorted(self.find_namespace_files(module.rpartition(".")[0]))

    def _resolve_include(self, path: str, module: str, name: str) -> list[str]:
        file = module.strip("<>")
        sibling = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
        return self._first_existing([sibling, file, f"include/{file}"]) or self._find_by_suffix(file, path)

    def _resolve_ruby(self, path: str, module: str, name: str) -> list[str]:
        file = module if module.endswith(".rb") else f"{module}.rb"
        sibling = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
        return self._first_existing([sibling, f"lib/{file}"]) or (
            self._find_by_suffix(file, path) if "/" in file else []
        )

    def _resolve_php(self, path: str, module: str, name: str) -> list[str]:
        if module.endswith(".php"):
            return self._first_existing(
                [posixpath.normpath(posixpath.join(posixpath.dirname(path), module.lstrip("/")))]
            )
        parts = [*module.strip("\\").split("\\"), *([name] if name else [])]
        # The first parts of a namespace are often no folders (PSR-4).
        for start in range(len(parts) - 1 or 1):
            if files := self._find_by_suffix("/".join(parts[start:]) + ".php", path):
                return files
        return []

    def _resolve_lua(self, path: str, module: str, name: str) -> list[str]:
        tail = module.replace(".", "/")
        return self._first_existing([f"{tail}.lua", f"{tail}/init.lua"]) or self._find_by_suffix(f"{tail}.lua", path)

    def _resolve_bash(self, path: str, module: str, name: str) -> list[str]:
        file = module.strip("\"'")
        return self._first_existing([posixpath.normpath(posixpath.join(posixpath.dirname(path), file)), file])


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder and name else folder or name


def _prefixes(module: str) -> Iterator[str]:
    """Yield the prefixes that may be a package or alias, the longest first: `@a/b`, `@a/`, `@a`."""
    yield module
    slash = module.rfind("/")
    while slash >= 0:
        yield module[: slash + 1]
        yield module[:slash]
        slash = module.rfind("/", 0, slash)


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
