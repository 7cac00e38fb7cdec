"""The tokens that a change removes and adds, wherever its edits are."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from lsp_harness.syntax.error_regions import refined
from lsp_harness.syntax.tokens import Token, lexemes, tokens
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.edit import differences
from lsp_harness.text.position import Span
from lsp_harness.verify.change import Change

Reader = Callable[[Span], list[Token]]
"""Reads the tokens of a stretch of one of the two texts."""

LISTED_LOSSES = 4
"""Things that one sentence names; the others are counted."""


@dataclass(frozen=True, slots=True)
class TokenReplacement:
    """A run of tokens that another run took the place of; one of the two may be empty."""

    old: tuple[Token, ...]
    new: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class TokenDifference:
    """What a change does to the tokens of a text. `place`: the byte of the text after it where it begins.

    `before`: the tokens around the edits as they were, to see what follows or encloses one.
    """

    replacements: tuple[TokenReplacement, ...]
    before: tuple[Token, ...]
    after: tuple[Token, ...]
    place: int = 0

    @property
    def old(self) -> list[Token]:
        return [token for each in self.replacements for token in each.old]

    @property
    def new(self) -> list[Token]:
        return [token for each in self.replacements for token in each.new]

    @property
    def size(self) -> int:
        return len(self.old) + len(self.new)

    def lost(self) -> list[Token]:
        """Tokens that are removed and stand nowhere else in the change: what only moves is not lost."""
        return _beyond(self.old, self.new)

    def gained(self) -> list[Token]:
        return _beyond(self.new, self.old)

    def losses(self) -> str:
        """What is lost, in words, brackets and commas left aside."""
        return describe_tokens("drops", self.lost(), self.before)

    def gains(self) -> str:
        return describe_tokens("adds", self.gained(), self.after)

    def lost_comments(self) -> str:
        return describe_tokens("drops", [token for token in self.lost() if token.kind == "comment"], self.before)


def compare_tokens(before: SyntaxTree, after: SyntaxTree, change: Change) -> TokenDifference:
    """The difference by the tokens of two trees."""
    return _compared(change, lambda span: tokens(before, *span), lambda span: tokens(after, *span))


def compare_lexemes(change: Change) -> TokenDifference:
    """The difference by words and marks alone, for a text that does not parse."""
    return _compared(
        change, lambda span: lexemes(change.before.data, *span), lambda span: lexemes(change.after.data, *span)
    )


def describe_tokens(verb: str, found: Iterable[Token], around: Sequence[Token]) -> str:
    """A phrase that names tokens: "drops the call `sum()` and `0`"."""
    words = list(dict.fromkeys(_named(token, around) for token in found if token.kind != "separator"))
    if not words:
        return ""
    more = len(words) - LISTED_LOSSES
    listed = words[:LISTED_LOSSES] + ([f"{more} more"] if more > 0 else [])
    return f"{verb} {listed[0] if len(listed) == 1 else ', '.join(listed[:-1]) + ' and ' + listed[-1]}"


def _named(token: Token, around: Sequence[Token]) -> str:
    text = " ".join(token.text.split())
    text = text if len(text) <= 40 else f"{text[:39]}…"
    if token.kind == "comment":
        return f"the comment `{text}`"
    if token.kind == "name" and is_called(token, around):
        return f"the call `{text}()`"
    return f"`{text}`"


def is_called(token: Token, around: Sequence[Token]) -> bool:
    """Whether a token is followed by an opening parenthesis."""
    behind = next((other for other in around if other.start >= token.end), None)
    return behind is not None and behind.text == "(" and token.kind == "name"


def _beyond(some: Sequence[Token], others: Sequence[Token]) -> list[Token]:
    left = Counter((token.kind, token.text) for token in others)
    found: list[Token] = []
    for token in some:
        key = (token.kind, token.text)
        if left[key] > 0:
            left[key] -= 1
        else:
            found.append(token)
    return found


def _compared(change: Change, old: Reader, new: Reader) -> TokenDifference:
    replacements: list[TokenReplacement] = []
    before: list[Token] = []
    after: list[Token] = []
    for was, now in _windows(change):
        a, b = old(was), new(now)
        before += a
        after += b
        keys = [[(token.kind, token.text) for token in side] for side in (a, b)]
        for i1, i2, j1, j2 in differences(*keys):
            replacements.append(TokenReplacement(tuple(a[i1:i2]), tuple(b[j1:j2])))
    first = next((token.start for each in replacements for token in each.new), None)
    place = first if first is not None else min((now.start for _, now in _windows(change)), default=0)
    return TokenDifference(tuple(replacements), tuple(before), tuple(after), place)


def _windows(change: Change) -> list[tuple[Span, Span]]:
    """The lines that each edit touches, before and after; edits on neighbouring lines are one window."""
    found: list[tuple[Span, Span]] = []
    shift = 0
    for edit in refined(change.before.data, change.edits):
        grown = len(edit.new) - (edit.end - edit.start)
        start = change.before.line_span(change.before.line_of(edit.start))[0]
        end = change.before.line_span(change.before.line_of(edit.end))[1]
        window = Span(start, end), Span(start + shift, end + shift + grown)
        shift += grown
        if found and found[-1][0].end >= start:
            window = Span(found[-1][0].start, end), Span(found[-1][1].start, window[1].end)
            found[-1] = window
        else:
            found.append(window)
    return found
