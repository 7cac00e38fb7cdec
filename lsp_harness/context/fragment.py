"""A piece of what the model sees, with what it costs. Costs are tokens by the model's own tokenizer."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

TokenCounter = Callable[[Sequence[str]], Awaitable[list[int]]]
"""Tokens of each text."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """`origin` is where it comes from, `reason` why it was chosen."""

    text: str
    tokens: int
    origin: str
    reason: str
