"""A view of one index for one question: its symbols, texts and imports, its limit of time, and what a file imports."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from time import monotonic
from typing import TypeVar

from lsp_harness.index.builder.import_links import ImportLinks, make_namespace_condition
from lsp_harness.index.builder.import_resolvers import SCRIPT_EXTENSIONS
from lsp_harness.index.symbol_table import Symbol, SymbolTable
from lsp_harness.index.unsaved_text import UnsavedText
from lsp_harness.languages.language_table import find_language
from lsp_harness.store.database import DatabaseReader, placeholders
from lsp_harness.text.position import decode, encode


class IndexedText:
    """The texts that one index stores.

    The text of an unsaved file is its text in the editor, if a method does not say otherwise.
    """

    def __init__(self, symbols: SymbolTable) -> None:
        self._symbols = symbols
        self._reader = symbols.reader

    def read_text(self, symbol: Symbol, start: int, end: int) -> str:
        """Return the bytes from `start` to `end` of a symbol's file, up to the end of the chunk of `start`."""
        chunk_start, data = self.read_chunk(symbol.file, start)
        return decode(data[start - chunk_start : end - chunk_start])

    def read_signature(self, symbol: Symbol) -> str:
        """Return the declaration without its body, on one line."""
        return " ".join(self.read_text(symbol, symbol.start, symbol.body).split())

    def read_line_start(self, symbol: Symbol) -> str:
        """Return the text before the name of a symbol on its line."""
        chunk_start, data = self.read_chunk(symbol.file, symbol.named)
        return decode(data[: symbol.named - chunk_start].rpartition(b"\n")[2])

    def read_body(self, symbol: Symbol) -> str:
        """Return the text of a declaration, without the blank lines between its chunks."""
        if symbol.file in self._symbols.unsaved:
            return decode(self._symbols.unsaved[symbol.file][1].data[symbol.start : symbol.end])
        rows = self._reader.rows(
            "SELECT chunks.start, text FROM chunks JOIN texts ON texts.rowid = chunks.id "
            "WHERE file = ? AND chunks.end > ? AND chunks.start < ? ORDER BY 1",
            (symbol.file, symbol.start, symbol.end),
        )
        return "".join(decode(encode(text)[max(0, symbol.start - start) : symbol.end - start]) for start, text in rows)

    def read_with_comments(self, symbol: Symbol) -> str:
        """Return the whole lines of a declaration and of the comments and decorators above it.

        The result is empty for a declaration that has no chunk of its own.
        """
        if symbol.file in self._symbols.unsaved:
            unsaved = self._symbols.unsaved[symbol.file][1]
            starts = [chunk.start for chunk in unsaved.chunks if chunk.symbol == symbol.n]
            end = unsaved.data.find(b"\n", symbol.end)
            return decode(unsaved.data[min(starts) : end if end >= 0 else None]) if starts else ""
        rows = self._reader.rows(
            "SELECT chunks.start, chunks.end, text FROM chunks JOIN texts ON texts.rowid = chunks.id WHERE file = ? "
            "AND chunks.start < ? AND chunks.start >= (SELECT min(start) FROM chunks WHERE file = ? AND symbol = ?) "
            "ORDER BY 1",
            (symbol.file, symbol.end, symbol.file, symbol.n),
        )
        text, previous_end = "", rows[0][0] if rows else 0
        for start, end, piece in rows:
            # One blank line stands for the blank lines that are not stored.
            text, previous_end = text + "\n" * min(2, start - previous_end) + piece, end
        return text

    def read_lines(self, path: str, start: int, end: int) -> list[str]:
        """Return the lines of the chunks between two byte offsets of a file, as it was indexed."""
        rows = self._reader.rows(
            "SELECT text FROM chunks JOIN texts ON texts.rowid = chunks.id JOIN files ON files.id = chunks.file "
            "WHERE path = ? AND chunks.start >= ? AND chunks.end <= ? ORDER BY chunks.start",
            (path, start, end),
        )
        return [line for (text,) in rows for line in text.splitlines()]

    def read_file(self, file: int) -> bytes:
        """Return the text of a file at its byte offsets. Line ends stand for each byte between its chunks."""
        if file in self._symbols.unsaved:
            return self._symbols.unsaved[file][1].data
        data = bytearray()
        rows = self._reader.rows(
            "SELECT chunks.start, text FROM chunks JOIN texts ON texts.rowid = chunks.id WHERE file = ? ORDER BY 1",
            (file,),
        )
        for start, text in rows:
            data += b"\n" * (start - len(data)) + encode(text)
        return bytes(data)

    def read_chunk(self, file: int, offset: int) -> tuple[int, bytes]:
        """Return the start and the text of the chunk that contains a byte; the text is empty if there is no such chunk.

        An unsaved text is one chunk.
        """
        if file in self._symbols.unsaved:
            return 0, self._symbols.unsaved[file][1].data
        rows = self._reader.rows(
            "SELECT chunks.start, text FROM chunks JOIN texts ON texts.rowid = chunks.id "
            "WHERE chunks.file = ? AND chunks.start <= ? AND chunks.end > ?",
            (file, offset, offset),
        )
        return (rows[0][0], encode(rows[0][1])) if rows else (offset, b"")


class TimeLimit:
    """A moment after which the rest of an answer is of no use. It begins to run when it is created."""

    def __init__(self, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._end = clock() + seconds

    def is_over(self) -> bool:
        return self._clock() >= self._end


MAX_IMPORT_HOPS = 4
"""Number of files that a name is followed through: packages hand on names that other files define."""
NO_UNSAVED_TEXTS: Mapping[str, UnsavedText] = {}
T = TypeVar("T")


class IndexView:
    """The index of one workspace folder, for one question.

    Unsaved texts replace the indexed versions of their files.
    """

    def __init__(self, reader: DatabaseReader, unsaved: Mapping[str, UnsavedText] = NO_UNSAVED_TEXTS) -> None:
        """Create the view.

        Args:
            reader: The database of the index.
            unsaved: The unsaved texts by their paths in the workspace folder.
        """
        self.reader = reader
        self.symbols = SymbolTable(reader, unsaved)
        self.texts = IndexedText(self.symbols)
        self.imports = ImportTable(self.symbols, self.texts)

    def collect_until(self, limit: TimeLimit | None, find: Callable[[], Iterable[T]]) -> list[T]:
        """Return the results of `find` that are there within a time limit, or all of them without a limit."""
        return self.reader.collect_until(limit.is_over, find) if limit else [*find()]

    def find_definitions(self, path: str, name: str) -> list[Symbol]:
        """Return the definitions in other files that a name in the file `path` may mean, by its imports."""
        entry = self.symbols.find_file(path)
        if entry is None:
            return []
        file, language = entry
        definitions = self._find_imported(file, name, {(file, ""): MAX_IMPORT_HOPS}, MAX_IMPORT_HOPS)
        traits = find_language(language).imports
        if not definitions and (traits.shares_folder or traits.shares_namespace):
            others = [
                symbol
                for symbol in self.symbols.find_top_level(name)
                if symbol.file != file and symbol.language == language
            ]
            definitions = [symbol for symbol in others if self._sees_without_import(path, file, symbol)]
        return definitions

    def find_module_member(self, path: str, module: str, name: str) -> list[Symbol]:
        """Return the definitions that `module.name` means in the file `path`, which imports something as `module`."""
        entry = self.symbols.find_file(path)
        if entry is None:
            return []
        imports = self.imports.read_imports(entry[0])
        targets = {target for imported in imports if imported.local_name == module for target in imported.targets}
        visited = {(entry[0], ""): MAX_IMPORT_HOPS}
        return [
            symbol
            for target in sorted(targets)
            for symbol in self._find_exported(target, name, visited, MAX_IMPORT_HOPS)
        ]

    def find_module_symbols(self, path: str, language: str, module: str) -> list[Symbol]:
        """Return the outermost symbols of a module, as the file `path` names it.

        The file need not import the module.
        """
        files = self.imports.find_module_files(path, language, module)
        return [symbol for file in sorted(files) for symbol in self.symbols.list_outermost(file)]

    def find_visible(self, file: int, name: str) -> list[Symbol]:
        """Return the definitions of a name at the top level of a file: its own, or else the imported ones."""
        own = self.symbols.find_top_level(name, file)
        return own or self._find_imported(file, name, {(file, ""): MAX_IMPORT_HOPS}, MAX_IMPORT_HOPS - 1)

    def _sees_without_import(self, path: str, file: int, other: Symbol) -> bool:
        """Return whether a file sees a top-level symbol of another file without an import."""
        in_same_folder = other.path.rpartition("/")[0] == path.rpartition("/")[0]
        traits = find_language(other.language).imports
        if traits.shares_folder and in_same_folder:
            return True
        return traits.shares_namespace and not self.symbols.list_namespaces(file).isdisjoint(
            self.symbols.list_namespaces(other.file)
        )

    def _find_imported(
        self, file: int, name: str, visited: dict[tuple[int, str], int], max_hops: int, *, public_only: bool = False
    ) -> list[Symbol]:
        """Return the definitions that a file imports by this name. `public_only` leaves out its private imports."""
        by_name: list[ImportedName] = []
        whole_modules: list[ImportedName] = []
        for imported in self.imports.read_imports(file):
            if public_only and imported.is_private:
                continue
            if imported.local_name == name and imported.name not in ("", "*"):
                by_name.append(imported)
            elif imported.local_name == name and imported.is_default:
                by_name.append(replace(imported, name=name))
            elif imported.name == "*":
                whole_modules.append(imported)
        exports = [(target, imported.name) for imported in by_name for target in imported.targets]
        exports += [(target, name) for imported in whole_modules for target in imported.targets]
        return [
            symbol
            for target, target_name in exports
            for symbol in self._find_exported(target, target_name, visited, max_hops)
        ]

    def _find_exported(self, file: int, name: str, visited: dict[tuple[int, str], int], max_hops: int) -> list[Symbol]:
        """Return the definitions that a file exports by this name: its own, or else the imported ones.

        `visited` has the number of hops with which a name of a file (all its names for "") was searched already.
        Without it, files that import each other would be searched once for each order in which they can be visited.
        """
        if max_hops <= max(visited.get((file, name), 0), visited.get((file, ""), 0)):
            return []
        visited[file, name] = max_hops
        own = self.symbols.find_top_level(name, file)
        return own or self._find_imported(file, name, visited, max_hops - 1, public_only=True)


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
            *make_namespace_condition(namespace),
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
