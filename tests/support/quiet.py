"""Scenarios of the quiet gate: what a user did, in readable files, and whether something should be suggested then.

    -- Backspace within a word (a.py) --
    total = summ<|>
    -- then --
    total = sum<|>
    -- silent: after_deletion --
    who takes away is not finished

A scenario is the texts that followed each other, `<|>` for the cursor; each follows from the one before by one edit.
Before the first one stands what the last key changed: the character before its cursor was typed, unless the header says
`moved`, for a cursor that came there without an edit. `-- dismissed --` says that a suggestion was taken off the screen
there. The last part says `suggest` or `silent` with the rules that may say so, and why in its text. Where it says `--
model --` a model wrote that, `¦` between its tokens, each with its probability before it: `0.9:foo¦0.2:bar`. Marks as
in `golden`: `⇥` is a tab, `␣` a blank, `␊` a newline.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lsp_harness.completion.trigger_policy import TriggerPolicy
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import decode, encode
from lsp_harness.workspace.cursor import Cursor
from lsp_harness.workspace.edit_history import EditHistory, RejectedPlace
from lsp_harness.workspace.typed_text import TypingRhythm

MARK = "<|>"
HEADER = re.compile(r"^-- (.+?) --$")
NAMED = re.compile(r"(.+?) \(([^()]+)\)")
MARKS = {"⇥": "\t", "␣": " ", "␊": "\n"}


@dataclass
class Scenario:
    """A scenario of a user. `texts` are the texts in their order; `dismissals` counts dismissed suggestions before
    them.
    """

    file: str
    name: str
    path: str
    moved: bool
    texts: list[str] = field(default_factory=list[str])
    dismissals: set[int] = field(default_factory=set[int])
    model: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])
    rules: tuple[str, ...] | None = None
    """The rules by which it is silent, any of them; None where something should be suggested."""
    reason: str = ""

    @property
    def silent(self) -> bool:
        return self.rules is not None

    def cursor(self) -> Cursor:
        """Return the cursor of the user at the end."""
        document, offset = self._documents()[-1]
        return Cursor(document, parse(document), offset, self.path)

    def live(self, history: EditHistory) -> None:
        """Record everything that happened in a history."""
        states = self._documents()
        first, offset = states[0]
        states = states if self.moved or not offset else [(_remove_last_character(first, offset), 0), *states]
        shift = len(states) - len(self.texts)
        for number, (document, at) in enumerate(states):
            if number:
                before = states[number - 1][0]
                history.add(before, Edit(0, len(before.data), document.data), document)
            if number - shift + 1 in self.dismissals:
                history.reject(RejectedPlace.at(document, at))

    def rule(self, policy: TriggerPolicy) -> str:
        """Return the rule that suppresses a suggestion at the end, before a model is asked."""
        history = EditHistory(TypingRhythm())
        self.live(history)
        return policy.find_rule(self.cursor(), history)

    def _documents(self) -> list[tuple[Document, int]]:
        items: list[tuple[Document, int]] = []
        for version, text in enumerate(self.texts, 1):
            before, after = text.split(MARK)
            items.append(
                (Document.from_text(f"file:///w/{self.path}", before + after, version=version), len(encode(before)))
            )
        return items


def _remove_last_character(document: Document, offset: int) -> Document:
    """Return the text without the character before the cursor."""
    start = offset - len(encode(decode(document.data[:offset])[-1]))
    return document.apply_edit(Edit(start, offset, b""), 0)


def read(path: Path) -> list[Scenario]:
    items: list[Scenario] = []
    for title, body in _split_parts(path):
        now = items[-1] if items else None
        if (named := NAMED.fullmatch(title)) and (now is None or now.reason or now.model):
            options = [option.strip() for option in named[2].split(",")]
            items.append(Scenario(path.stem, named[1], options[0], "moved" in options[1:], [body]))
            continue
        assert now, f"{path.name} begins with {title!r}"
        match title.split(":", 1):
            case ["then"]:
                now.texts.append(body)
            case ["dismissed"]:
                now.dismissals.add(len(now.texts))
            case ["model"]:
                tokens = (token.split(":", 1) for token in body.split("¦"))
                now.model = [(text, float(probability)) for probability, text in tokens]
            case ["suggest"]:
                now.rules, now.reason = None, body
            case ["silent", rules]:
                now.rules, now.reason = tuple(rule.strip() for rule in rules.split(",")), body
            case _:
                raise AssertionError(f"{path.name}: what is {title!r}?")
    assert all(result.reason for result in items), f"{path.name}: a scenario has no reason"
    return items


def _split_parts(path: Path) -> Iterator[tuple[str, str]]:
    title, lines = "", list[str]()
    for line in [*path.read_text(encoding="utf-8").split("\n"), "-- end --"]:
        if header := HEADER.match(line):
            if title:
                body = "\n".join(lines).rstrip("\n")
                for mark, char in MARKS.items():
                    body = body.replace(mark, char)
                yield title, body
            title, lines = header[1], []
        else:
            lines.append(line)
