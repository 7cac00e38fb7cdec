"""Edits for brackets without a partner: insert the partner, delete the bracket, or replace it by another kind."""

from collections.abc import Iterator

from lsp_harness.syntax.lexemes import CLOSERS, OPENERS, grammar_keywords
from lsp_harness.syntax.recovery.broken_text import BrokenText, SuspectBracket
from lsp_harness.syntax.recovery.edits.token_layout import insertion_edit, own_line_edit
from lsp_harness.syntax.recovery.token_edit import Trial, decode_token, deletion, replacement
from lsp_harness.text.edit import Edit

SIGNS_BEFORE_CLOSER = frozenset(b", ; : ? ... .. * \" ' ` /".split())
"""Signs after which a bracket may be closed."""
MAX_GAPS = 48
"""Maximum number of places that are tried for the partner of one bracket."""


def closers(broken_text: BrokenText) -> Iterator[Trial]:
    """Yield a closer for each opener without one, at each place where its expression or block may end."""
    for suspect in broken_text.suspect_brackets:
        opener = broken_text.tokens[suspect.bracket]
        if opener.kind != "open":
            continue
        closer = OPENERS[opener.text[-1:]]
        note = "indentation" if suspect.has_partner else ""
        for gap in _gaps(broken_text, suspect, closer == b"}"):
            previous_token = broken_text.tokens[gap - 1]
            if previous_token.kind == "mark" and previous_token.text not in SIGNS_BEFORE_CLOSER:
                continue
            yield Trial(
                insertion_edit(broken_text, gap, closer, suspect.bracket), "insert", closer, gap, suspect.bracket, note
            )


def openers(broken_text: BrokenText) -> Iterator[Trial]:
    """Yield an opener for each closer without one, at each place where its expression or block may begin."""
    for suspect in broken_text.suspect_brackets:
        closer = broken_text.tokens[suspect.bracket]
        if closer.kind != "close":
            continue
        opener = CLOSERS[closer.text[:1]]
        note = "indentation" if suspect.has_partner else ""
        for gap in range(min(suspect.last, suspect.first + MAX_GAPS), suspect.first - 1, -1):
            yield Trial(insertion_edit(broken_text, gap, opener), "insert", opener, gap, suspect.bracket, note)
        yield from _split(broken_text, suspect, opener)


def body_openers(broken_text: BrokenText) -> Iterator[Trial]:
    """Yield a brace after each line near the fault that is followed by deeper lines or by the end of its own block."""
    tokens = broken_text.tokens
    if not broken_text.language.recovery.inserts_braces:
        return
    for gap in broken_text.nearby_tokens:
        if not gap or not tokens[gap].starts_line or tokens[gap - 1].text in (b"{", b";", b","):
            continue
        header = broken_text.tokens_of_line(gap - 1).start
        extra_indentation = broken_text.indentation_width(gap) - broken_text.indentation_width(header)
        if extra_indentation > 0 or (extra_indentation == 0 and tokens[gap].text == b"}"):
            yield Trial(insertion_edit(broken_text, gap, b"{"), "insert", b"{", gap, -1, "behind a header")
            if broken_text.language.recovery.has_own_line_braces:
                yield Trial(
                    own_line_edit(broken_text, gap, broken_text.line_indentation(header), b"{"),
                    "insert",
                    b"{",
                    gap,
                    -1,
                    "below a header",
                )


def stray_brackets(broken_text: BrokenText) -> Iterator[Trial]:
    """Yield the deletion of each bracket without a partner, and of equal brackets near it."""
    for suspect in broken_text.suspect_brackets:
        bracket = broken_text.tokens[suspect.bracket]
        for position in {
            suspect.bracket,
            *range(suspect.first, min(suspect.last + 1, suspect.first + MAX_GAPS, len(broken_text.tokens))),
        }:
            if broken_text.tokens[position].text == bracket.text:
                yield deletion(broken_text, position)


def swapped_brackets(broken_text: BrokenText) -> Iterator[Trial]:
    """Yield a bracket of another kind in the place of each bracket without a partner."""
    for suspect in broken_text.suspect_brackets:
        ends = [suspect.bracket, *([suspect.last] if suspect.last < len(broken_text.tokens) else [])]
        for position in ends:
            token = broken_text.tokens[position]
            if len(token.text) == 1 and token.kind in ("open", "close"):
                for other in OPENERS if token.kind == "open" else CLOSERS:
                    if other != token.text:
                        yield replacement(broken_text, position, other, f"for {decode_token(token.text)}")


def _gaps(broken_text: BrokenText, suspect: SuspectBracket, block: bool) -> list[int]:
    """Return the places for a closer, the last first. In a long block only places between lines are returned."""
    last = min(suspect.last, len(broken_text.tokens))
    gaps = range(last, suspect.first - 1, -1)
    if len(gaps) <= MAX_GAPS:
        return list(gaps)
    between = [gap for gap in gaps if gap == len(broken_text.tokens) or broken_text.tokens[gap].starts_line]
    if block:
        width = broken_text.indentation_width(suspect.bracket)
        between.sort(
            key=lambda gap: (gap < len(broken_text.tokens) and broken_text.indentation_width(gap) > width, -gap)
        )
        return between[:MAX_GAPS]
    return [*dict.fromkeys([*gaps[-MAX_GAPS:], *between[: MAX_GAPS // 2]])]


def _split(broken_text: BrokenText, suspect: SuspectBracket, opener: bytes) -> Iterator[Trial]:
    """Yield an opener inside a word that is made of two names, such as `lenx)`."""
    for position in range(suspect.first, min(suspect.last, suspect.first + MAX_GAPS)):
        token = broken_text.tokens[position]
        if token.kind != "word" or len(token.text) < 3:
            continue
        for cut in range(1, len(token.text)):
            left, right = token.text[:cut], token.text[cut:]
            known_words = broken_text.words | grammar_keywords(broken_text.tree.language)
            is_number = right.isdigit() and not left[-1:].isdigit()
            if left in known_words or right in known_words or is_number:
                is_two_words = (left in known_words and right in known_words) or is_number
                place = token.start + cut
                yield Trial(
                    Edit(place, place, opener),
                    "insert",
                    opener,
                    position,
                    suspect.bracket,
                    "split" if is_two_words else "half",
                )
