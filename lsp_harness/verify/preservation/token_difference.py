"""The tokens that a change removes and adds."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from lsp_harness.syntax.error_regions import minimize_edits
from lsp_harness.syntax.tokens import Token, read_tokens, scan_tokens
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.edit import differences
from lsp_harness.text.position import Span
from lsp_harness.verify.change import Change

TokenReader = Callable[[Span], list[Token]]
"""Returns the tokens in a span of one of the two texts."""

MAX_LISTED_TOKENS = 4
"""Most tokens that a phrase lists. The others are counted."""
MAX_TOKEN_CHARS = 40
"""Most characters of a token in a phrase."""


@dataclass(frozen=True, slots=True)
class TokenReplacement:
    """A run of tokens that replaces another run. One of the two may be empty."""

    old: tuple[Token, ...]
    new: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class TokenDifference:
    """The tokens that a change removes and adds.

    Attributes:
        replacements: The differences, in the order of the text.
        before: All tokens on the edited lines before the change. They tell what follows or encloses a token.
        after: All tokens on the edited lines after the change.
        place: The first difference, as a byte offset in the text after the change.
    """

    replacements: tuple[TokenReplacement, ...]
    before: tuple[Token, ...]
    after: tuple[Token, ...]
    place: int = 0

    @property
    def old(self) -> list[Token]:
        """The tokens that the change replaces or removes."""
        return [token for replacement in self.replacements for token in replacement.old]

    @property
    def new(self) -> list[Token]:
        """The tokens that the change puts in their place or adds."""
        return [token for replacement in self.replacements for token in replacement.new]

    @property
    def size(self) -> int:
        """The number of replaced and replacing tokens."""
        return len(self.old) + len(self.new)

    def lost_tokens(self) -> list[Token]:
        """Return the replaced tokens without those that only move."""
        return _subtract_tokens(self.old, self.new)

    def gained_tokens(self) -> list[Token]:
        """Return the replacing tokens without those that only move."""
        return _subtract_tokens(self.new, self.old)

    def describe_losses(self) -> str:
        """Return a phrase for the lost tokens, without brackets and commas."""
        return describe_tokens("drops", self.lost_tokens(), self.before)

    def describe_gains(self) -> str:
        """Return a phrase for the gained tokens, without brackets and commas."""
        return describe_tokens("adds", self.gained_tokens(), self.after)

    def describe_lost_comments(self) -> str:
        """Return a phrase for the lost comments."""
        comments = [token for token in self.lost_tokens() if token.kind == "comment"]
        return describe_tokens("drops", comments, self.before)


def compare_tokens(before: SyntaxTree, after: SyntaxTree, change: Change) -> TokenDifference:
    """Return the difference between the tokens of two trees."""
    return _compare(change, lambda span: read_tokens(before, *span), lambda span: read_tokens(after, *span))


def compare_lexemes(change: Change) -> TokenDifference:
    """Return the difference between words and punctuation, for a text that does not parse."""
    return _compare(
        change, lambda span: scan_tokens(change.before.data, *span), lambda span: scan_tokens(change.after.data, *span)
    )


def describe_tokens(verb: str, listed: Iterable[Token], line_tokens: Sequence[Token]) -> str:
    """Return a phrase that names tokens, such as "drops the call `sum()` and `0`".

    Args:
        verb: The first word of the phrase.
        listed: The tokens. Separators are not named.
        line_tokens: All tokens on their lines, which tell calls from other names.

    Returns:
        The phrase, or an empty text if there is nothing to name.
    """
    names = list(dict.fromkeys(_describe_token(token, line_tokens) for token in listed if token.kind != "separator"))
    if not names:
        return ""
    hidden_count = len(names) - MAX_LISTED_TOKENS
    names = names[:MAX_LISTED_TOKENS] + ([f"{hidden_count} more"] if hidden_count > 0 else [])
    return f"{verb} {names[0] if len(names) == 1 else ', '.join(names[:-1]) + ' and ' + names[-1]}"


def _describe_token(token: Token, line_tokens: Sequence[Token]) -> str:
    text = " ".join(token.text.split())
    text = text if len(text) <= MAX_TOKEN_CHARS else f"{text[: MAX_TOKEN_CHARS - 1]}…"
    if token.kind == "comment":
        return f"the comment `{text}`"
    if token.kind == "name" and is_called(token, line_tokens):
        return f"the call `{text}()`"
    return f"`{text}`"


def is_called(token: Token, line_tokens: Sequence[Token]) -> bool:
    """Return whether a token is a name with an opening parenthesis behind it."""
    following = next((other for other in line_tokens if other.start >= token.end), None)
    return following is not None and following.text == "(" and token.kind == "name"


def _subtract_tokens(minuend: Sequence[Token], subtrahend: Sequence[Token]) -> list[Token]:
    """Return the tokens of `minuend` that have no equal token in `subtrahend`."""
    counts = Counter((token.kind, token.text) for token in subtrahend)
    remainder: list[Token] = []
    for token in minuend:
        key = (token.kind, token.text)
        if counts[key] > 0:
            counts[key] -= 1
        else:
            remainder.append(token)
    return remainder


def _compare(change: Change, read_before: TokenReader, read_after: TokenReader) -> TokenDifference:
    replacements: list[TokenReplacement] = []
    before: list[Token] = []
    after: list[Token] = []
    windows = _list_windows(change)
    for old_window, new_window in windows:
        old, new = read_before(old_window), read_after(new_window)
        before += old
        after += new
        keys = [[(token.kind, token.text) for token in side] for side in (old, new)]
        for old_start, old_end, new_start, new_end in differences(*keys):
            replacements.append(TokenReplacement(tuple(old[old_start:old_end]), tuple(new[new_start:new_end])))
    first = next((token.start for replacement in replacements for token in replacement.new), None)
    place = first if first is not None else min((new_window.start for _, new_window in windows), default=0)
    return TokenDifference(tuple(replacements), tuple(before), tuple(after), place)


def _list_windows(change: Change) -> list[tuple[Span, Span]]:
    """Return the lines that each edit touches, before and after the change. Windows that touch are merged."""
    windows: list[tuple[Span, Span]] = []
    shift = 0
    for edit in minimize_edits(change.before.data, change.edits):
        growth = len(edit.new) - (edit.end - edit.start)
        start = change.before.line_span(change.before.line_of(edit.start))[0]
        end = change.before.line_span(change.before.line_of(edit.end))[1]
        window = Span(start, end), Span(start + shift, end + shift + growth)
        shift += growth
        if windows and windows[-1][0].end >= start:
            window = Span(windows[-1][0].start, end), Span(windows[-1][1].start, window[1].end)
            windows[-1] = window
        else:
            windows.append(window)
    return windows
