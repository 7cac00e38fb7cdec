"""Code of other files that is like what is being written, with how it goes on."""

import re

from lsp_harness.index.index_view import View
from lsp_harness.index.query.code_search import Search
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode

WORD = re.compile(r"[^\W\d]\w+")
WINDOW, AFTER = 10, 8
"""Lines that are compared with those above the cursor, and those after them that show how it went on."""
LEAST = 0.15
"""Words that both have, of all that either has."""
MOST = 3
COPY = 0.9
"""Words that copies of each other have in common, of all that either has."""


def find_similar_code(search: Search, view: View, path: str, document: Document, offset: int) -> list[tuple[str, str]]:
    """The lines most like those above the cursor with what follows them, and their files; the best first, copies once."""
    line = document.line_of(offset)
    here = [decode(document.line(n)) for n in range(max(0, line - 2 * WINDOW), line)]
    here = [text for text in here if text.strip()][-WINDOW:]
    wanted = set(WORD.findall("\n".join(here)))
    if len(wanted) < 3:
        return []
    found: list[tuple[float, str, str]] = []
    for hit in search.fused([search.by_words(" ".join(sorted(wanted)))], 20):
        if hit.path == path:
            continue
        lines = view.lines(hit.path, hit.start, hit.end)
        best = 0.0, 0
        for first in range(max(1, len(lines) - WINDOW + 1)):
            words = set(WORD.findall("\n".join(lines[first : first + WINDOW])))
            score = len(words & wanted) / len(words | wanted) if words else 0.0
            best = max(best, (score, first), key=lambda each: each[0])
        score, first = best
        if score >= LEAST:
            found.append((score, hit.path, "\n".join(lines[first : first + WINDOW + AFTER])))
    kept: list[tuple[str, str]] = []
    for _, origin, text in sorted(found, key=lambda each: -each[0]):
        if len(kept) < MOST and not any(_copy(text, other) for _, other in kept):
            kept.append((origin, text))
    return kept


def _copy(one: str, other: str) -> bool:
    """Whether two texts say nearly the same."""
    words, others = set(WORD.findall(one)), set(WORD.findall(other))
    return len(words & others) >= COPY * len(words | others)
