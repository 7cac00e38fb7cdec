"""A part of a prompt with its cost in tokens."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

TokenCounter = Callable[[Sequence[str]], Awaitable[list[int]]]
"""Returns the number of tokens of each text, as the model's own tokenizer counts them."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of code or text that a source adds to a prompt, with its origin and its cost in tokens.

    Attributes:
        text: The text as it stands in the prompt.
        tokens: The cost of `text`.
        origin: The file or package that the text comes from.
        reason: Why the text was chosen, for people who read the prompt.
    """

    text: str
    tokens: int
    origin: str
    reason: str


def total_tokens(fragments: Sequence[Fragment]) -> int:
    """Return the cost of all fragments together."""
    return sum(fragment.tokens for fragment in fragments)
