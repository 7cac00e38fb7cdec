"""Texts that lose their last lines if they do not fit a token budget."""

from collections.abc import Mapping, Sequence

from lsp_harness.context.fragment import TokenCounter


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
