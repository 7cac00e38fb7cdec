"""A view of one index for one question: its symbols, texts and imports, and the definitions of a name in a file."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from lsp_harness.index.import_table import ImportedName, ImportTable
from lsp_harness.index.indexed_text import IndexedText
from lsp_harness.index.symbol_table import Symbol, SymbolTable
from lsp_harness.index.time_limit import TimeLimit
from lsp_harness.index.unsaved_text import UnsavedText
from lsp_harness.languages.language_table import find_language
from lsp_harness.store.database import Reader

MAX_IMPORT_HOPS = 4
"""Number of files that a name is followed through: packages hand on names that other files define."""
NO_UNSAVED_TEXTS: Mapping[str, UnsavedText] = {}
T = TypeVar("T")


class IndexView:
    """The index of one workspace folder, for one question.

    Unsaved texts replace the indexed versions of their files.
    """

    def __init__(self, reader: Reader, unsaved: Mapping[str, UnsavedText] = NO_UNSAVED_TEXTS) -> None:
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
