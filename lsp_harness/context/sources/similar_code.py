"""Code of other files that is similar to the lines above the cursor, with the lines that follow it there."""

import re

from lsp_harness.index.index_view import IndexView
from lsp_harness.index.query.code_search import CodeSearch
from lsp_harness.text.position import decode
from lsp_harness.workspace.cursor import Cursor

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


def find_similar_code(search: CodeSearch, view: IndexView, cursor: Cursor) -> list[tuple[str, str]]:
    """Return pairs of path and code from other files, the most similar first, without copies of each other."""
    document, line = cursor.document, cursor.document.line_of(cursor.offset)
    lines_above = [decode(document.line(n)) for n in range(max(0, line - 2 * WINDOW_LINES), line)]
    lines_above = [text for text in lines_above if text.strip()][-WINDOW_LINES:]
    wanted = set(WORD.findall("\n".join(lines_above)))
    if len(wanted) < MIN_WANTED_WORDS:
        return []
    candidates: list[tuple[float, str, str]] = []
    for hit in search.fuse_rankings([search.rank_by_words(" ".join(sorted(wanted)))], SEARCH_HITS):
        if hit.path == cursor.path:
            continue
        lines = view.texts.read_lines(hit.path, hit.start, hit.end)
        score, first = 0.0, 0
        for start in range(max(1, len(lines) - WINDOW_LINES + 1)):
            words = set(WORD.findall("\n".join(lines[start : start + WINDOW_LINES])))
            similarity = len(words & wanted) / len(words | wanted) if words else 0.0
            if similarity > score:
                score, first = similarity, start
        if score >= MIN_SIMILARITY:
            end = first + WINDOW_LINES + CONTINUATION_LINES
            candidates.append((score, hit.path, "\n".join(lines[first:end])))
    results: list[tuple[str, str]] = []
    for _, path, text in sorted(candidates, key=lambda candidate: -candidate[0]):
        if len(results) < MAX_RESULTS and not any(_is_copy(text, other) for _, other in results):
            results.append((path, text))
    return results


def _is_copy(text: str, other: str) -> bool:
    """Return whether two texts have nearly the same words."""
    words, other_words = set(WORD.findall(text)), set(WORD.findall(other))
    return len(words & other_words) >= COPY_SIMILARITY * len(words | other_words)
