"""Lines elsewhere in a file whose surroundings are similar to those of the cursor.

What the user types next is often like a line that already stands in the file, between similar lines: the next call of
the same function, the next entry, the next method. The lines above such a place are compared with the lines above the
cursor, and the lines below it with those below the cursor. Nearer lines and rarer words count more.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import log

from lsp_harness.text.document import Document
from lsp_harness.text.position import decode

WORD = re.compile(r"[^\W\d]\w*")
LINES_ABOVE, LINES_BELOW = 6, 6
"""Lines on each side of the cursor that are compared."""
DECAY = 0.7
"""The weight of a line, as a power of its distance."""
MAX_FILE_BYTES = 500_000
"""Nothing is found in a larger file, as it is generated or minified."""
MAX_LINE_BYTES = 400
MAX_OCCURRENCES = 60
"""A word on more lines than this says nothing."""
NEEDED_WEIGHT = 3.0
"""The weight of a name that the code below the cursor needs."""
PIECE_LINES_BEFORE, PIECE_LINES_AFTER = 4, 6
"""Lines of a piece around its place."""
MAX_PIECES = 4
MIN_SIMILARITY = 0.15
"""The smallest share of the weights around the cursor that a piece must have."""


def find_similar_lines(
    document: Document, line: int, shown: range, hidden: AbstractSet[int], needed_names: Iterable[str] = ()
) -> list[range]:
    """Return pieces of a file that are similar to the lines around a cursor.

    Args:
        document: The text.
        line: The line of the cursor, counted from 0.
        shown: The lines that the prompt contains anyway.
        hidden: The lines that must not be in a prompt.
        needed_names: Names that are likely to be typed, such as those that the code below needs.

    Returns:
        At most `MAX_PIECES` ranges of lines, the most similar first. They do not overlap.
    """
    if len(document.data) > MAX_FILE_BYTES or document.is_binary:
        return []
    lines = document.line_starts
    text_of = {n: decode(document.line(n)) for n in range(len(lines)) if _is_short(document, n) and n not in hidden}
    above = [text_of.get(line - distance, "") for distance in range(1, LINES_ABOVE + 1)]
    # the rest of the cursor's line belongs to the lines below
    below = [text_of.get(line + distance, "") for distance in range(LINES_BELOW + 1)]
    outside = {n: WORD.findall(text) for n, text in text_of.items() if n not in shown}
    line_counts = Counter(word for words in outside.values() for word in {*words})
    weights_above = _weigh_words(above, line_counts, len(lines))
    weights_below = _weigh_words(below, line_counts, len(lines))
    for name in needed_names:
        if line_counts[name]:
            weights_below[name] = NEEDED_WEIGHT * log(1 + len(lines) / line_counts[name])
    scores = defaultdict[int, float](float)
    _score(scores, outside, weights_above, range(1, LINES_ABOVE + 1))
    _score(scores, outside, weights_below, range(0, -LINES_BELOW - 1, -1))
    min_score = MIN_SIMILARITY * (sum(weights_above.values()) + sum(weights_below.values()))
    return _choose_pieces({place: score for place, score in scores.items() if score >= min_score}, outside)


def _is_short(document: Document, line: int) -> bool:
    start, *end = document.line_starts[line : line + 2]
    return (end[0] if end else len(document.data)) - start <= MAX_LINE_BYTES


def _weigh_words(texts: Sequence[str], line_counts: Mapping[str, int], line_count: int) -> dict[str, float]:
    """Return the weight of each word of some texts, the nearest text first."""
    weights = dict[str, float]()
    for distance, text in enumerate(texts):
        for word in WORD.findall(text):
            if 0 < line_counts[word] <= MAX_OCCURRENCES:
                weights.setdefault(word, log(1 + line_count / line_counts[word]) * DECAY**distance)
    return weights


def _score(
    scores: dict[int, float], words_of: Mapping[int, Sequence[str]], weights: Mapping[str, float], offsets: range
) -> None:
    """Add to each line the weights of the words that stand at these offsets from it, the nearest of each word."""
    places = defaultdict[str, list[int]](list)
    for line, words in words_of.items():
        for word in {*words} & weights.keys():
            places[word].append(line)
    for word, lines in places.items():
        nearest = dict[int, int]()
        for line in lines:
            for distance, offset in enumerate(offsets):
                place = line + offset
                nearest[place] = min(distance, nearest.get(place, distance))
        for place, distance in nearest.items():
            scores[place] += weights[word] * DECAY**distance


def _choose_pieces(scores: Mapping[int, float], allowed: AbstractSet[int] | Mapping[int, object]) -> list[range]:
    pieces = list[range]()
    for place in sorted(scores, key=lambda place: (-scores[place], place)):
        if len(pieces) == MAX_PIECES:
            break
        if place not in allowed:
            continue
        start = end = place
        while start - 1 in allowed and place - start < PIECE_LINES_BEFORE:
            start -= 1
        while end in allowed and end - place < PIECE_LINES_AFTER:
            end += 1
        if not any(start < piece.stop and piece.start < end for piece in pieces):
            pieces.append(range(start, end))
    return pieces
