"""The imports of an index, together with those of unsaved texts: what a file imports, and which files import it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lsp_harness.index.builder.import_links import ImportLinks, namespace_condition
from lsp_harness.index.builder.import_resolvers.script_imports import SCRIPT_EXTENSIONS
from lsp_harness.index.indexed_text import IndexedText
from lsp_harness.index.symbol_table import SymbolTable
from lsp_harness.languages.language_table import find_language
from lsp_harness.store.database import placeholders
from lsp_harness.text.position import decode

WORD = re.compile(r"\w+")
IMPORT_GUIDE_FILES = (
    *("__init__.py", "__init__.pyi", "package.json", "tsconfig.json", "jsconfig.json", "go.mod"),
    *("Cargo.toml", "lib.rs", "main.rs", "mod.rs", *(f"index{extension}" for extension in SCRIPT_EXTENSIONS[1:-1])),
)
"""Names of files that decide what an import means, or that an import means without naming them."""
IMPORT_BATCH_FILES = 1_000
"""Number of files whose importers are read in one query."""


@dataclass(frozen=True, slots=True)
class ImportedName:
    """A name that an import makes visible in a file.

    `name` is the name in the module: empty for the module itself, `*` for all its names. `targets` are the ids of the
    module's files. `is_default` marks the default export, whose name in the module is not known. A private import is
    not visible to files that import this file.
    """

    local_name: str
    name: str
    module: str
    targets: tuple[int, ...]
    is_default: bool = False
    is_private: bool = False


class ImportTable:
    """The imports of one index, for one question. The imports of each file are read once."""

    def __init__(self, symbols: SymbolTable, texts: IndexedText) -> None:
        self._symbols = symbols
        self._texts = texts
        self._reader = symbols.reader
        self._imports: dict[int, list[ImportedName]] = {}

    def read_imports(self, file: int) -> list[ImportedName]:
        """Return the imports of a file in their order."""
        if file not in self._imports:
            is_unsaved = file in self._symbols.unsaved
            self._imports[file] = self._read_unsaved_imports(file) if is_unsaved else self._read_saved_imports(file)
        return self._imports[file]

    def find_module_files(self, path: str, language: str, module: str) -> set[int]:
        """Return the ids of the files of a module, as the file `path` names it. The file need not import the module."""
        entry = self._symbols.find_file(path)
        imports = self.read_imports(entry[0]) if entry else ()
        targets = {target for imported in imports if imported.module == module for target in imported.targets}
        return targets or {*self._file_ids(self._create_links(path, [module]).find_targets(path, language, module, ""))}

    def find_importers(self, file: int) -> list[str]:
        """Return the paths of the files that import a file."""
        sql = "SELECT DISTINCT path FROM targets JOIN files ON files.id = targets.file WHERE target = ? ORDER BY path"
        return [path for (path,) in self._reader.rows(sql, (file,))]

    def find_dependents(self, files: Iterable[int], max_hops: int) -> set[int]:
        """Return `files` and the files that import one of them, over a chain of at most `max_hops` imports."""
        dependents = set(files)
        frontier = [*dependents]
        while frontier and max_hops:
            importers = {
                file
                for start in range(0, len(frontier), IMPORT_BATCH_FILES)
                for (file,) in self._reader.rows(
                    "SELECT DISTINCT file FROM targets WHERE target IN "
                    f"({placeholders(len(frontier[start : start + IMPORT_BATCH_FILES]))})",
                    frontier[start : start + IMPORT_BATCH_FILES],
                )
            }
            frontier = [*(importers - dependents)]
            dependents, max_hops = dependents | importers, max_hops - 1
        return dependents

    def _read_saved_imports(self, file: int) -> list[ImportedName]:
        imports: dict[int, ImportedName] = {}
        rows = self._reader.rows(
            "SELECT language, imports.n, module, name, alias, target FROM imports "
            "JOIN files ON files.id = imports.file "
            "LEFT JOIN targets ON targets.file = imports.file AND targets.n = imports.n WHERE imports.file = ? "
            "ORDER BY 2",
            (file,),
        )
        for language, n, module, name, alias, target in rows:
            previous = imports.get(n)
            targets = (*(previous.targets if previous else ()), *([target] if target else []))
            imports[n] = _imported_name(language, module, name, alias, targets)
        return list(imports.values())

    def _read_unsaved_imports(self, file: int) -> list[ImportedName]:
        """Return the imports of an unsaved text.

        Only imports that the indexed version does not have are resolved anew.
        """
        path, text = self._symbols.unsaved[file]
        targets: dict[tuple[str, str], tuple[int, ...]] = {}
        for module, name, target in self._reader.rows(
            "SELECT module, name, target FROM imports LEFT JOIN targets USING (file, n) WHERE file = ?", (file,)
        ):
            targets[module, name] = (*targets.get((module, name), ()), *([target] if target else []))
        new_imports = [statement for statement in text.imports if (statement.module, statement.name) not in targets]
        if new_imports:
            links = self._create_links(path, [f"{statement.module} {statement.name}" for statement in new_imports])
            for statement in new_imports:
                paths = links.find_targets(path, text.language, statement.module, statement.name)
                targets[statement.module, statement.name] = self._file_ids(paths)
        return [
            _imported_name(
                text.language,
                statement.module,
                statement.name,
                statement.alias,
                targets[statement.module, statement.name],
            )
            for statement in text.imports
        ]

    def _create_links(self, path: str, import_texts: Iterable[str]) -> ImportLinks:
        """Create links over the files that these imports may mean, and the files that decide what imports mean."""
        words = {word for text in import_texts for word in WORD.findall(text)}
        words.add(path.rpartition("/")[0].rpartition("/")[2])
        words.discard("")
        condition = " OR ".join(
            [*["instr(path, ?) > 0"] * len(words), f"name IN ({placeholders(len(IMPORT_GUIDE_FILES))})"]
        )
        # SQLite has no function for the last part of a path, so all that is before the last slash is removed.
        name = "replace(path, rtrim(path, replace(path, '/', '')), '') AS name"
        sql = f"SELECT path FROM (SELECT path, {name} FROM files) WHERE {condition}"
        saved = [saved_path for (saved_path,) in self._reader.rows(sql, (*sorted(words), *IMPORT_GUIDE_FILES))]
        unsaved = (unsaved_path for unsaved_path, _ in self._symbols.unsaved.values())
        links = ImportLinks([*saved, *unsaved], self._read_file)
        links.find_namespace_files = self._find_namespace_files
        return links

    def _read_file(self, path: str) -> str:
        entry = self._symbols.find_file(path)
        return decode(self._texts.read_file(entry[0])) if entry else ""

    def _find_namespace_files(self, namespace: str) -> list[str]:
        """Return the paths of the files that declare a namespace."""
        symbols = self._symbols.select(
            *namespace_condition(namespace),
            lambda symbol: (
                (symbol.kind, symbol.qualified) == ("namespace", namespace)
                and find_language(symbol.language).imports.names_namespaces
            ),
        )
        return sorted({symbol.path for symbol in symbols})

    def _file_ids(self, paths: Iterable[str]) -> tuple[int, ...]:
        return tuple(file for file, _ in filter(None, map(self._symbols.find_file, paths)))


def _imported_name(language: str, module: str, name: str, alias: str, targets: tuple[int, ...]) -> ImportedName:
    local_name, traits = alias or name or _last_part(module), find_language(language).imports
    if not name and traits.last_part_is_name:
        name = _last_part(module)
    if not name and traits.imports_everything:
        name = _last_part(module) if alias else "*"
    is_default = bool(alias) and not name and traits.has_module_imports
    return ImportedName(local_name, name, module, targets, is_default, traits.hides_imports)


def _last_part(module: str) -> str:
    return module.strip("<>\"'").replace("::", "/").replace(".", "/").replace("\\", "/").rstrip("/").rpartition("/")[2]
