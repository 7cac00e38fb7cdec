"""Code of other files that is similar to the lines above the cursor, with the lines that follow it there."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lsp_harness.index.index_view import IndexView
from lsp_harness.index.query.code_search import CodeSearch
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode

WORD = re.compile(r"[^\W\d]\w+")
WINDOW_LINES = 10
"""Lines above the cursor that are compared with other code."""
CONTINUATION_LINES = 8
"""Lines after the similar code, which show how it continues."""
MIN_WANTED_WORDS = 3
MIN_SIMILARITY = 0.15
"""Minimum share of common words (of all words in either text)."""
COPY_SIMILARITY = 0.9
"""Share of common words from which a text is a copy of another."""
MAX_RESULTS = 3
SEARCH_HITS = 20


@dataclass(frozen=True, slots=True)
class SimilarCode:
    """Lines of the file `path` that are similar to other lines."""

    path: str
    text: str


def find_similar_code(view: IndexView, path: str, document: Document, line: int) -> list[SimilarCode]:
    """Return code of other files that is similar to the lines above a line, without copies of each other.

    Args:
        view: The index.
        path: The file of the document, whose own code is left out.
        document: The text of the file.
        line: The line, counted from 0.

    Returns:
        At most `MAX_RESULTS` pieces of code, the most similar first.
    """
    lines_above = [decode(document.line(n)) for n in range(max(0, line - 2 * WINDOW_LINES), line)]
    lines_above = [text for text in lines_above if text.strip()][-WINDOW_LINES:]
    cursor_words = set(WORD.findall("\n".join(lines_above)))
    if len(cursor_words) < MIN_WANTED_WORDS:
        return []
    candidates = sorted(_find_candidates(view, path, cursor_words), key=lambda candidate: -candidate[0])
    results: list[SimilarCode] = []
    for _, code in candidates:
        if len(results) < MAX_RESULTS and not any(_is_copy(code.text, other.text) for other in results):
            results.append(code)
    return results


def _find_candidates(view: IndexView, path: str, cursor_words: set[str]) -> Iterator[tuple[float, SimilarCode]]:
    """Yield the most similar lines of each piece of code that a search finds, with their similarity."""
    search = CodeSearch(view.reader)
    for hit in search.fuse_rankings([search.rank_by_words(" ".join(sorted(cursor_words)))], SEARCH_HITS):
        if hit.path == path:
            continue
        lines = view.texts.read_lines(hit.path, hit.start, hit.end)
        score, first = 0.0, 0
        for start in range(max(1, len(lines) - WINDOW_LINES + 1)):
            words = set(WORD.findall("\n".join(lines[start : start + WINDOW_LINES])))
            similarity = len(words & cursor_words) / len(words | cursor_words) if words else 0.0
            if similarity > score:
                score, first = similarity, start
        if score >= MIN_SIMILARITY:
            end = first + WINDOW_LINES + CONTINUATION_LINES
            yield score, SimilarCode(hit.path, "\n".join(lines[first:end]))


def _is_copy(text: str, other: str) -> bool:
    """Return whether two texts have nearly the same words."""
    words, other_words = set(WORD.findall(text)), set(WORD.findall(other))
    return len(words & other_words) >= COPY_SIMILARITY * len(words | other_words)
