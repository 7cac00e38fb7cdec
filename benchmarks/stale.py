"""An independent test whether the ghost text on the screen belongs to the text, from the answers and the marks.

A suggestion belongs to a text when a server's answer, given for an earlier state of that text, begins with what was put
in at the cursor since; what is left of it is what must be drawn, at the cursor.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

BLANKS = re.compile(r"[ \t]+")


@dataclass(frozen=True, slots=True)
class Place:
    """A text and the cursor in it."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Offer:
    """An answer of the server for a place: texts to insert there."""

    place: Place
    texts: tuple[str, ...]
    id: str = ""
    number: int = 0
    """Of all answers, from 1."""

    def rests(self, now: Place) -> list[str]:
        """Yield what remains of each text after its typed beginning. Texts that differ from it yield nothing."""
        if now.after != self.place.after or not now.before.startswith(self.place.before):
            return []
        since = now.before[len(self.place.before) :]
        return [text[len(since) :] for text in self.texts if text.startswith(since) and text != since]


@dataclass(frozen=True, slots=True)
class Mark:
    """Ghost text on the screen, at a row and a byte of it."""

    row: int
    col: int
    text: str


@dataclass(frozen=True, slots=True)
class View:
    """Everything that is visible on the screen at one time."""

    place: Place
    row: int
    col: int
    inserting: bool
    marks: tuple[Mark, ...] = ()
    offered: int = 10**9
    """How many answers there were by then: a later one accounts for nothing that was drawn before it."""


def find_ghost_text(view: View, offers: Iterable[Offer]) -> str | None:
    """Return the drawn text as it would be inserted, or None if nothing is drawn that belongs here."""
    if find_fault(view, offers := list(offers)):
        return None
    return next(
        (
            rest
            for mark in view.marks
            for _, rest in _find_matching_offers(view, offers)
            if _is_drawn_text(rest, mark.text)
        ),
        None,
    )


def find_source(view: View, offers: Iterable[Offer]) -> str | None:
    """Return the id of the suggestion whose text is drawn."""
    return next(
        (
            o.id
            for mark in view.marks
            for o, rest in _find_matching_offers(view, offers)
            if _is_drawn_text(rest, mark.text)
        ),
        None,
    )


def find_fault(view: View, offers: Iterable[Offer]) -> str:
    """Return why the drawn text is stale, or an empty text."""
    if not view.marks:
        return ""
    if not view.inserting:
        return "drawn outside insert mode"
    mark, *more = view.marks
    if more:
        return "more than one piece, for what is put in at one place"
    if (mark.row, mark.col) != (view.row, view.col):
        return f"drawn at {mark.row}:{mark.col}, the cursor is at {view.row}:{view.col}"
    if not any(_is_drawn_text(rest, mark.text) for _, rest in _find_matching_offers(view, offers)):
        return "no answer for this text says so"
    return ""


def _find_matching_offers(view: View, offers: Iterable[Offer]) -> list[tuple[Offer, str]]:
    known = (offer for offer in offers if offer.number <= view.offered)
    return [(offer, rest) for offer in known for rest in offer.rests(view.place)]


def _is_drawn_text(rest: str, drawn: str) -> bool:
    """Return whether a rest is drawn as this text. A tab is drawn as blanks."""
    return rest == drawn or ("\t" in rest and BLANKS.sub(" ", rest) == BLANKS.sub(" ", drawn))
