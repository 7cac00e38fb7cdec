"""Insertion of the missing closing tag of a JSX element."""

import re
from collections.abc import Iterator

from lsp_harness.syntax.recovery.broken_text import BrokenText
from lsp_harness.syntax.recovery.token_edit import Trial
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
        yield _trial(broken_text, Edit(place, place, tag), tag)
        return
    lead = data[start : start + len(data[start:end]) - len(data[start:end].lstrip())]
    for number in range(line + 1, len(document.line_starts)):
        begin, stop = document.line_span(number)
        text = data[begin:stop]
        if text.strip() and len(text) - len(text.lstrip()) <= len(lead):
            yield _trial(broken_text, Edit(begin, begin, lead + tag + b"\n"), tag)
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


def _trial(broken_text: BrokenText, edit: Edit, tag: bytes) -> Trial:
    gap = next(
        (position for position, token in enumerate(broken_text.tokens) if token.start >= edit.start),
        len(broken_text.tokens),
    )
    return Trial(edit, "insert", tag, gap, -1, "element")
