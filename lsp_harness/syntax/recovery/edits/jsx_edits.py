"""The closing tag of an element of JSX that has none."""

import re
from collections.abc import Iterator

from lsp_harness.syntax.recovery.broken_text import BrokenText
from lsp_harness.syntax.recovery.token_edit import Trial
from lsp_harness.text.edit import Edit

JSX_LANGUAGES = frozenset({"javascript", "tsx"})
TAG = re.compile(
    rb"(?<![\w$)\]])<(?P<end>/?)(?P<name>[A-Za-z][\w.]*)"
    rb"(?:[^<>{}\"'/]|/(?!>)|\"[^\"\n]*\"|'[^'\n]*'|\{(?:[^{}]|\{[^{}]{0,200}\}){0,400}\}){0,400}(?P<empty>/?)>"
)
"""A tag; behind a word `<` begins type arguments, or compares. All parts have a longest length, so that no text takes long."""
MAX_TEXT_BYTES = 100_000


def closing_tags(scene: BrokenText) -> Iterator[Trial]:
    """The tag that closes the one element without one: behind what is on its line, else before the next line that is not indented deeper."""
    if scene.language not in JSX_LANGUAGES or len(scene.data) > MAX_TEXT_BYTES:
        return
    opened = _unclosed(scene.data)
    if opened is None:
        return
    data, document = scene.data, scene.tree.document
    tag = b"</" + opened["name"] + b">"
    line = document.line_of(opened.start())
    start, end = document.line_span(line)
    behind = data[opened.end() : end]
    if behind.strip():
        place = opened.end() + len(behind.rstrip())
        yield _trial(scene, Edit(place, place, tag), tag)
        return
    lead = data[start : start + len(data[start:end]) - len(data[start:end].lstrip())]
    for number in range(line + 1, len(document.starts)):
        begin, stop = document.line_span(number)
        text = data[begin:stop]
        if text.strip() and len(text) - len(text.lstrip()) <= len(lead):
            yield _trial(scene, Edit(begin, begin, lead + tag + b"\n"), tag)
            return


def _unclosed(data: bytes) -> re.Match[bytes] | None:
    """The tag of the one element that is not closed; None where there is none, or another fault."""
    open_tags: list[re.Match[bytes]] = []
    found: list[re.Match[bytes]] = []
    for tag in TAG.finditer(data):
        if tag["empty"]:
            continue
        if not tag["end"]:
            open_tags.append(tag)
        elif open_tags and open_tags[-1]["name"] == tag["name"]:
            open_tags.pop()
        elif len(open_tags) > 1 and open_tags[-2]["name"] == tag["name"]:
            found.append(open_tags.pop())
            open_tags.pop()
        else:
            return None
    found += open_tags
    return found[0] if len(found) == 1 else None


def _trial(scene: BrokenText, edit: Edit, tag: bytes) -> Trial:
    gap = next((at for at, token in enumerate(scene.tokens) if token.start >= edit.start), len(scene.tokens))
    return Trial(edit, "insert", tag, gap, -1, "element")
