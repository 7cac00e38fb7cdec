"""A part of a prompt with its cost in tokens."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
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


def sum_tokens(fragments: Sequence[Fragment]) -> int:
    """Return the cost of all fragments together."""
    return sum(fragment.tokens for fragment in fragments)


async def count_lines(lines: Sequence[str], count: TokenCounter) -> dict[str, int]:
    """Return the tokens of each line with its line end."""
    return dict(zip(lines, await count([f"{line}\n" for line in lines]), strict=True))


def fit_lines(lines: Sequence[str], costs: Mapping[str, int], budget: int) -> tuple[list[str], int]:
    """Return the first lines that fit the budget, and the tokens left."""
    kept_lines = list[str]()
    for line in lines:
        if costs[line] > budget:
            break
        budget -= costs[line]
        kept_lines.append(line)
    return kept_lines, budget
