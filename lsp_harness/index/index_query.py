"""Questions to the indexes of workspace folders.

Every question names a document or a workspace folder by its URI. It goes to the index of the folder that contains the
document, and unsaved texts count as they are in the editor if the answer does not say otherwise. Without an index the
answer is empty.
"""

from collections.abc import Collection, Generator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing, contextmanager
from pathlib import Path

from lsp_harness.index.embedding_texts import count_texts, read_text_digests, read_texts
from lsp_harness.index.graph.dependents import Dependents, find_dependents
from lsp_harness.index.index_contents import IndexContents, has_text, read_contents, read_unparsed_paths
from lsp_harness.index.index_executor import DirectExecutor, IndexExecutor
from lsp_harness.index.index_tables import is_complete
from lsp_harness.index.index_view import IndexView, TimeLimit
from lsp_harness.index.query.anchor import FilePosition, SymbolName, find_anchors, find_declared
from lsp_harness.index.query.code_patterns import Example, ExampleRequest, Pattern, find_examples, find_patterns
from lsp_harness.index.query.code_search import (
    CodeSearch,
    DeclarationSearch,
    FileHit,
    FoundDeclaration,
    Hit,
    SearchRequest,
    SimilarCode,
    find_declarations_about,
    find_similar_code,
)
from lsp_harness.index.query.definition_lines import (
    CursorNames,
    DefinitionLine,
    find_defined_names,
    find_definition_lines,
)
from lsp_harness.index.query.name_locations import (
    CursorPlace,
    NameLocation,
    find_declaration_locations,
    find_reference_locations,
)
from lsp_harness.index.query.name_lookup import (
    DeclaredName,
    LengthRange,
    SymbolOverview,
    contains_word,
    find_mentioning_symbols,
    find_names_by_length,
    find_near_names,
    find_paths_ending,
    find_symbols_with_names,
    list_code_paths,
    list_file_symbols,
    list_symbols_of_kinds,
    read_doc_lines,
    read_documentation,
    read_functions,
    read_overview,
)
from lsp_harness.index.query.related_tests import (
    MAX_USERS,
    AffectedTest,
    DeclarationUsage,
    find_affected_tests,
    find_usage,
    find_users,
)
from lsp_harness.index.query.symbol_lookup import (
    IndexedImport,
    SymbolMatch,
    find_exported_names,
    find_import_statements,
    find_symbols,
)
from lsp_harness.index.symbol_table import Symbol
from lsp_harness.store.database import DatabaseReader
from lsp_harness.text.document import Document


@contextmanager
def open_index(database: Path) -> Generator["IndexQuery"]:
    """Yield an index that is read in the calling thread, for a command that does nothing else meanwhile.

    Its questions raise StoreError if the database cannot be read. Their URIs are ignored.
    """
    with closing(DatabaseReader(database)) as reader:
        yield IndexQuery(DirectExecutor(reader))


class IndexQuery:
    """The named questions to the indexes of some workspace folders.

    Questions that take a `limit` of time are for answers while the user types: they do not wait for other questions,
    and their answer holds what was found in time.
    """

    def __init__(self, executor: IndexExecutor) -> None:
        self._run = executor.run

    # -- what names mean
    async def definition_lines(
        self, uri: str, path: str, names: CursorNames, limit: TimeLimit | None = None
    ) -> list[DefinitionLine]:
        """Return the lines of the definitions in other files that the names in the file `path` refer to."""
        return await self._run(
            uri,
            lambda view: view.collect_until(limit, lambda: find_definition_lines(view, path, names)),
            [],
            is_slow=limit is None,
        )

    async def defined_names(self, uri: str, path: str, names: Collection[str], limit: TimeLimit) -> list[str]:
        """Return those of some names in the file `path` that other files define."""
        return await self._run(
            uri, lambda view: view.collect_until(limit, lambda: find_defined_names(view, path, names)), []
        )

    async def exported_names(self, uri: str, path: str, language: str, module: str) -> list[str]:
        """Return the public names of a module of the workspace, in their order in its file.

        Args:
            uri: The URI of the document.
            path: The path of the document, which may import the module.
            language: The language of the document.
            module: The module, as the document names it.
        """
        return await self._run(uri, lambda view: find_exported_names(view, path, language, module), [], is_slow=True)

    async def import_statements(self, uri: str, path: str, language: str, name: str) -> list[IndexedImport]:
        """Return the import statements by which files of a language make a name known, without those of the file
        `path`.
        """
        return await self._run(uri, lambda view: find_import_statements(view, path, language, name), [], is_slow=True)

    async def function_texts(self, uri: str, name: str, language: str) -> list[str]:
        """Return the texts of a few functions and classes with a name, wherever they are declared."""
        return await self._run(uri, lambda view: read_functions(view, name, language), [], is_slow=True)

    async def names_by_length(self, uri: str, request: LengthRange) -> list[DeclaredName]:
        """Return all names of some lengths that files of some languages declare."""
        return await self._run(uri, lambda view: find_names_by_length(view, request), [], is_slow=True)

    async def declaration_locations(self, place: CursorPlace) -> list[NameLocation]:
        """Return the declarations of the name at a place."""
        return await self._run(place.uri, lambda view: find_declaration_locations(view, place), [], is_slow=True)

    async def reference_locations(self, place: CursorPlace) -> list[NameLocation]:
        """Return all occurrences of the name at a place, its declarations included."""
        return await self._run(place.uri, lambda view: find_reference_locations(view, place), [], is_slow=True)

    # -- symbols
    async def matching_symbols(self, uri: str, query: str, excluded_paths: Collection[str] = ()) -> list[SymbolMatch]:
        """Return the symbols whose names fit typed letters, the best first, without those of some files."""
        return await self._run(uri, lambda view: find_symbols(view, query, excluded_paths), [], is_slow=True)

    async def symbols_named(self, uri: str, target: SymbolName) -> list[Symbol]:
        """Return the symbols with this name, as they were saved."""
        return await self._run(uri, lambda view: find_declared(view.reader, target), [], is_slow=True)

    async def symbols_with_names(self, uri: str, names: Collection[str]) -> list[Symbol]:
        """Return the symbols that have one of these names, as they were saved."""
        return await self._run(uri, lambda view: find_symbols_with_names(view, names), [], is_slow=True)

    async def symbols_in(self, uri: str, path: str) -> list[Symbol]:
        """Return the symbols of a file in their order."""
        return await self._run(uri, lambda view: list_file_symbols(view, path), [], is_slow=True)

    async def near_names(self, uri: str, name: str) -> list[str]:
        """Return the declared names that are spelled most like a name."""
        return await self._run(uri, lambda view: find_near_names(view, name), [], is_slow=True)

    async def symbol_overview(self, uri: str, symbol: Symbol) -> SymbolOverview | None:
        """Return the relations of a symbol, its signature and its documentation."""
        return await self._run(uri, lambda view: read_overview(view, symbol), None, is_slow=True)

    async def doc_lines(self, uri: str, keys: Sequence[tuple[str, str]]) -> list[str]:
        """Return the first line of the documentation of each declaration, empty where there is none.

        Args:
            uri: The URI of the folder.
            keys: The path and the qualified name of each declaration.
        """
        return await self._run(uri, lambda view: read_doc_lines(view, keys), [""] * len(keys), is_slow=True)

    async def documentation(self, uri: str, symbol: Symbol) -> str:
        """Return the documentation of a symbol without the marks of strings and comments. Empty if there is none."""
        return await self._run(uri, lambda view: read_documentation(view, symbol), "", is_slow=True)

    async def symbols_of_kinds(self, uri: str, kinds: Collection[str], folder: str = "") -> list[Symbol]:
        """Return the symbols of some kinds in a folder of the workspace folder, by path and place."""
        return await self._run(uri, lambda view: list_symbols_of_kinds(view, kinds, folder), [], is_slow=True)

    async def usage(
        self, uri: str, path: str, qualified_name: str, failing_tests: AbstractSet[str] = frozenset()
    ) -> DeclarationUsage:
        """Return the uses and the most informative test of a declaration.

        Args:
            uri: The URI of the folder.
            path: The file of the declaration.
            qualified_name: The name of the declaration.
            failing_tests: The names of tests that fail. One of them is preferred.
        """
        return await self._run(
            uri,
            lambda view: find_usage(view, path, qualified_name, failing_tests),
            DeclarationUsage(),
            is_slow=True,
        )

    async def dependents(self, uri: str, path: str, qualified_name: str) -> Dependents:
        """Return the declarations that a change of a declaration may concern."""
        return await self._run(
            uri, lambda view: find_dependents(view, path, qualified_name), Dependents(), is_slow=True
        )

    # -- search
    async def search(self, uri: str, request: SearchRequest) -> list[Hit]:
        """Return the pieces of code that a search finds, the best first."""
        return await self._run(uri, lambda view: CodeSearch(view.reader).search(request), [], is_slow=True)

    async def search_files(self, uri: str, request: SearchRequest) -> list[FileHit]:
        """Return the files that a longer text is about, such as a bug report, the best first."""
        return await self._run(uri, lambda view: CodeSearch(view.reader).rank_files(request), [], is_slow=True)

    async def boost_linked(self, uri: str, best: Sequence[Hit], others: Sequence[Hit], seconds: float) -> list[Hit]:
        """Return the other hits, with higher scores for code that the best hits use or that uses them."""
        return await self._run(
            uri, lambda view: CodeSearch(view.reader).boost_linked(best, others, seconds), [*others], is_slow=True
        )

    async def declarations_about(self, uri: str, search: DeclarationSearch) -> list[FoundDeclaration]:
        """Return whole declarations that a search for words finds, the best first."""
        return await self._run(uri, lambda view: find_declarations_about(view, search), [], is_slow=True)

    async def similar_code(self, path: str, document: Document, line: int, limit: TimeLimit) -> list[SimilarCode]:
        """Return code of other files that is similar to the lines above a line of the document at `path`."""
        return await self._run(
            document.uri,
            lambda view: view.collect_until(limit, lambda: find_similar_code(view, path, document, line)),
            [],
        )

    async def examples(self, uri: str, request: ExampleRequest, max_examples: int) -> list[Example]:
        """Return declarations of the same pattern as a declaration, the most similar first."""
        return await self._run(uri, lambda view: find_examples(view.reader, request, max_examples), [], is_slow=True)

    async def patterns(self, uri: str, max_patterns: int) -> list[Pattern]:
        """Return the patterns of the folder with the most members."""
        return await self._run(uri, lambda view: find_patterns(view.reader, max_patterns), [], is_slow=True)

    async def affected_tests(self, uri: str, path: str) -> list[AffectedTest]:
        """Return the test files that a change of the file `path` can break, the closest first."""
        return await self._run(uri, lambda view: find_affected_tests(view, path), [], is_slow=True)

    async def users(self, uri: str, path: str, limit: int = MAX_USERS) -> list[str]:
        """Return at most `limit` files that import the file `path`, directly or through others, the nearest first."""
        return await self._run(uri, lambda view: find_users(view, path, limit), [], is_slow=True)

    async def mentions(self, uri: str, name: str) -> list[Symbol]:
        """Return the declarations in whose text a name stands, as they were saved. One of them may have this name."""
        return await self._run(uri, lambda view: find_mentioning_symbols(view, name), [], is_slow=True)

    async def importers(self, uri: str, path: str) -> list[str]:
        """Return the files that import the file `path` directly."""

        def find(view: IndexView) -> list[str]:
            entry = view.symbols.find_file(path)
            return sorted(view.imports.find_importers(entry[0])) if entry else []

        return await self._run(uri, find, [], is_slow=True)

    # -- texts and contents
    async def code_paths(self, uri: str, folder: str = "") -> list[str]:
        """Return the paths of the files with code in a folder of the workspace folder."""
        return await self._run(uri, lambda view: list_code_paths(view, folder), [], is_slow=True)

    async def has_file(self, uri: str, path: str) -> bool:
        """Return whether the index contains a file."""
        return await self._run(uri, lambda view: view.symbols.find_file(path) is not None, False, is_slow=True)

    async def paths_ending(self, uri: str, ending: str) -> list[str]:
        """Return the paths of files whose last parts are these."""
        return await self._run(uri, lambda view: find_paths_ending(view, ending), [], is_slow=True)

    async def has_word(self, uri: str, word: str) -> bool:
        """Return whether code of the folder contains a word."""
        return await self._run(uri, lambda view: contains_word(view, word), False, is_slow=True)

    async def has_text(self, uri: str, path: str, data: bytes) -> bool:
        """Return whether the index has this text of a file, or leaves the file out."""
        return await self._run(uri, lambda view: has_text(view.reader, path, data), True, is_slow=True)

    async def is_complete(self, uri: str) -> bool:
        """Return whether the index contains every file of the folder, with what its imports mean."""
        return await self._run(uri, lambda view: is_complete(view.reader), False, is_slow=True)

    async def contents(self, uri: str) -> IndexContents:
        """Return what the index contains, in numbers."""
        return await self._run(uri, read_contents, IndexContents(), is_slow=True)

    async def unparsed_paths(self, uri: str) -> list[str]:
        """Return the paths of the files in languages that cannot be parsed."""
        return await self._run(uri, read_unparsed_paths, [], is_slow=True)

    async def text_digests(self, uri: str) -> list[bytes]:
        """Return the digests of the texts that a vector can be made of, the last indexed ones first."""
        return await self._run(uri, read_text_digests, [], is_slow=True)

    async def digests_at(self, uri: str, target: FilePosition | SymbolName) -> list[bytes]:
        """Return the digests of the texts at a position or of a symbol."""
        return await self._run(
            uri, lambda view: [anchor.digest for anchor in find_anchors(view.reader, target)], [], is_slow=True
        )

    async def embedding_texts(self, uri: str, digests: Sequence[bytes]) -> dict[bytes, str]:
        """Return the texts with these digests, without those that the index no longer contains."""
        return await self._run(uri, lambda view: read_texts(view, digests), {}, is_slow=True)

    async def count_texts(self, uri: str) -> int:
        """Return the number of texts that a vector can be made of."""
        return await self._run(uri, count_texts, 0, is_slow=True)
