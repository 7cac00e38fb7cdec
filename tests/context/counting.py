"""Tokenizers with counts that are easy to check."""

from collections.abc import Awaitable, Callable, Sequence

Counter = Callable[[Sequence[str]], Awaitable[list[int]]]


async def count_words(texts: Sequence[str]) -> list[int]:
    """Count each word as a token."""
    return [len(text.split()) for text in texts]


async def count_characters(texts: Sequence[str]) -> list[int]:
    """Count each character as a token."""
    return [len(text) for text in texts]
