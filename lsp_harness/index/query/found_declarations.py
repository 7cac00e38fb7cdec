"""Whole declarations that a search for words finds."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from lsp_harness.index.index_view import IndexView
from lsp_harness.index.query.code_search import CodeSearch, Hit, SearchRequest
from lsp_harness.index.query.definition_lines import MAX_LINE_CHARS
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.grammars import language_for

MAX_HITS = 20
"""Most hits of the search to read."""
SEARCH_TIMEOUT_S = 2.0
"""The user waits for an edit, which takes seconds, so a search may take this long. On a busy machine it must not end
earlier than on an idle one, or else the same edit has another prompt."""


@dataclass(frozen=True, slots=True)
class DeclarationSearch:
    """A search for declarations around a task.

    Attributes:
        task: The words to search for.
        path: The file of the task. Hits in files that imports connect with it are preferred.
        language: The language of the declarations; dialects of it count as well.
        excluded: The paths and qualified names of declarations to leave out.
        nearest_digests: The digests of the texts that are most similar to the task, by their vectors.
    """

    task: str
    path: str
    language: LanguageSpec
    excluded: AbstractSet[tuple[str, str]] = frozenset()
    nearest_digests: Sequence[bytes] = ()


@dataclass(frozen=True, slots=True)
class FoundDeclaration:
    """A declaration: its whole `text`, and its `head`, which is its signature on one line.

    The head is empty if an unsaved text does not have the declaration any more.
    """

    path: str
    line: int
    text: str
    head: str


def find_declarations_about(view: IndexView, search: DeclarationSearch) -> list[FoundDeclaration]:
    """Return the declarations that a search finds, the best first."""
    request = SearchRequest(search.task, MAX_HITS, search.nearest_digests, search.path, SEARCH_TIMEOUT_S)
    hits = CodeSearch(view.reader).search(request)
    return [
        _read_declaration(view, hit)
        for hit in hits
        if hit.symbol and (hit.path, hit.symbol) not in search.excluded and _is_same_language(hit.path, search.language)
    ]


def _read_declaration(view: IndexView, hit: Hit) -> FoundDeclaration:
    symbol = view.symbols.find_symbol(hit.path, hit.symbol)
    if symbol is None:
        return FoundDeclaration(hit.path, hit.line, "", "")
    head = view.texts.read_signature(symbol).rstrip("{ ")[:MAX_LINE_CHARS]
    # The hit itself is only a chunk of the declaration.
    text = view.texts.read_with_comments(symbol) or "\n".join(view.texts.read_lines(hit.path, hit.start, hit.end))
    return FoundDeclaration(hit.path, symbol.line, text, head)


def _is_same_language(path: str, language: LanguageSpec) -> bool:
    """Return whether a file is in this language or a dialect of it."""
    other = language_for("", path)
    return bool(other and other.queries and other.queries[0] in language.queries)
