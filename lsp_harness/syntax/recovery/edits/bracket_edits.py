"""Edits for brackets without a partner: insert the partner, delete the bracket, or replace it by another kind.

The `>` after type arguments and the closing tag of a JSX element are inserted here, too. The grammars do not treat `>`
as a bracket, because it is also an operator.
"""

import re
from collections.abc import Iterator

from lsp_harness.syntax.lexemes import CLOSERS, OPENERS, grammar_keywords
from lsp_harness.syntax.recovery.broken_text import BrokenText, SuspectBracket
from lsp_harness.syntax.recovery.edits.token_layout import insertion_edit, own_line_edit
from lsp_harness.syntax.recovery.token_edit import Trial, decode_token, deletion, replacement
from lsp_harness.text.edit import Edit

TAG = re.compile(
    rb"(?<![\w$)\]])<(?P<end>/?)(?P<name>[A-Za-z][\w.]*)"
    rb"(?:[^<>{}\"'/]|/(?!>)|\"[^\"\n]*\"|'[^'\n]*'|\{(?:[^{}]|\{[^{}]{0,200}\}){0,400}\}){0,400}(?P<empty>/?)>"
)
"""A tag. A `<` after a word is not a tag: it begins type arguments or compares. All parts have a maximum length, which
limits the time."""
MAX_TEXT_BYTES = 100_000


def closing_tags(broken_text: BrokenText) -> Iterator[Trial]:
    """Yield the closing tag of the one element without one.

    It stands at the end of the line of the element if the line has more text, else before the next line that is not
    indented deeper.
    """
    if not broken_text.language.tokens.has_jsx or len(broken_text.data) > MAX_TEXT_BYTES:
        return
    unclosed_tag = _find_unclosed_tag(broken_text.data)
    if unclosed_tag is None:
        return
    data, document = broken_text.data, broken_text.tree.document
    tag = b"</" + unclosed_tag["name"] + b">"
    line = document.line_of(unclosed_tag.start())
    start, end = document.line_span(line)
    rest_of_line = data[unclosed_tag.end() : end]
    if rest_of_line.strip():
        place = unclosed_tag.end() + len(rest_of_line.rstrip())
        yield _make_trial(broken_text, Edit(place, place, tag), tag)
        return
    lead = data[start : start + len(data[start:end]) - len(data[start:end].lstrip())]
    for number in range(line + 1, len(document.line_starts)):
        begin, stop = document.line_span(number)
        text = data[begin:stop]
        if text.strip() and len(text) - len(text.lstrip()) <= len(lead):
            yield _make_trial(broken_text, Edit(begin, begin, lead + tag + b"\n"), tag)
            return


def _find_unclosed_tag(data: bytes) -> re.Match[bytes] | None:
    """Return the tag of the one element that is not closed, or None if there is none or another fault."""
    open_tags: list[re.Match[bytes]] = []
    unclosed_tags: list[re.Match[bytes]] = []
    for tag in TAG.finditer(data):
        if tag["empty"]:
            continue
        if not tag["end"]:
            open_tags.append(tag)
        elif open_tags and open_tags[-1]["name"] == tag["name"]:
            open_tags.pop()
        elif len(open_tags) > 1 and open_tags[-2]["name"] == tag["name"]:
            unclosed_tags.append(open_tags.pop())
            open_tags.pop()
        else:
            return None
    unclosed_tags += open_tags
    return unclosed_tags[0] if len(unclosed_tags) == 1 else None


def _make_trial(broken_text: BrokenText, edit: Edit, tag: bytes) -> Trial:
    gap = next(
        (position for position, token in enumerate(broken_text.tokens) if token.start >= edit.start),
        len(broken_text.tokens),
    )
    return Trial(edit, "insert", tag, gap, -1, "element")


OPERATORS = (b"=>", b"->", b">=", b"<=", b"<<")


def closing_angles(broken_text: BrokenText) -> Iterator[Trial]:
    """Yield a `>` after each word, bracket or `>` of a line near the fault, if the line lacks one `>`."""
    if not broken_text.language.recovery.has_type_arguments:
        return
    document = broken_text.tree.document
    lines = dict.fromkeys(
        document.line_of(broken_text.tokens[position].start) for position in broken_text.nearby_tokens
    )
    for line in lines:
        start, end = document.line_span(line)
        first_open = _first_open(broken_text.data[start:end])
        if first_open < 0:
            continue
        for position, token in enumerate(broken_text.tokens):
            if broken_text.data[token.end : token.end + 1] in (b"<", b":", b"."):
                # the path or the type continues
                continue
            ends = token.kind in ("word", "keyword", "close") or token.text.endswith(b">")
            if ends and start + first_open < token.start and token.end <= end:
                yield Trial(Edit(token.end, token.end, b">"), "insert", b">", position + 1, -1, "type arguments")


def _first_open(text: bytes) -> int:
    """Return the offset of the first `<` of type arguments in a line, if exactly one `>` is missing, else -1."""
    for sign in OPERATORS:
        text = text.replace(sign, b" " * len(sign))
    depth, first = 0, -1
    for position, byte in enumerate(text):
        if (
            byte == ord("<")
            and position
            and (text[position - 1 : position].isalnum() or text[position - 1 : position] in (b"_", b":"))
        ):
            first = position if first < 0 else first
            depth += 1
        elif byte == ord(">") and depth:
            depth -= 1
    return first if depth == 1 else -1


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
        for gap in _find_gaps(broken_text, suspect, closer == b"}"):
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


def _find_gaps(broken_text: BrokenText, suspect: SuspectBracket, block: bool) -> list[int]:
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
