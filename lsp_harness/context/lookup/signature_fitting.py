"""Signatures of definitions, as many as fit a token budget."""

from collections import Counter
from collections.abc import Iterable

from lsp_harness.context.fragment import Fragment, TokenCounter
from lsp_harness.index.query.definition_lines import DefinitionLine

DEFINITION_REASON = "defines what is used here"


async def fit_signatures(
    lines: Iterable[DefinitionLine], budget: int, count: TokenCounter, comment: str
) -> list[Fragment]:
    """Return the most important lines that fit the budget.

    Args:
        lines: The lines of definitions.
        budget: The most tokens of all fragments together.
        count: The tokenizer of the model.
        comment: The marker of a line comment, for the path above each fragment.

    Returns:
        A fragment for each file. Their order does not depend on the cursor, so that the prompt stays the same.
    """
    ranked = sorted(set(lines), key=lambda line: (line.rank, line.path, line.start))
    paths = sorted({line.path for line in ranked})
    costs = await count([*(line.text + "\n" for line in ranked), *(f"{comment} {path}\n" for path in paths)])
    title_costs = dict(zip(paths, costs[len(ranked) :], strict=True))
    lines_by_path: dict[str, list[DefinitionLine]] = {}
    tokens_by_path: Counter[str] = Counter()
    for line, cost in zip(ranked, costs, strict=False):
        cost += title_costs[line.path] if line.path not in lines_by_path else 0
        if cost <= budget:
            budget -= cost
            tokens_by_path[line.path] += cost
            lines_by_path.setdefault(line.path, []).append(line)
    fragments: list[Fragment] = []
    for path in sorted(lines_by_path):
        in_file_order = sorted(lines_by_path[path], key=lambda line: line.start)
        text = f"{comment} {path}\n" + "".join(line.text + "\n" for line in in_file_order)
        fragments.append(Fragment(text, tokens_by_path[path], path, DEFINITION_REASON))
    return fragments
