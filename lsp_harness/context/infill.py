"""What the model sees around a cursor: an outline of the file, a short suffix, and the near prefix.

The outline comes first because it changes rarely; the prefix comes last because it changes with every keystroke. It
leaves out what the window already shows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lsp_harness.config.schema import Completion
from lsp_harness.context import window
from lsp_harness.context.fragment import Count, Fragment
from lsp_harness.syntax.outline import OutlineLine, outline
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document


@dataclass(frozen=True, slots=True)
class InfillPrompt:
    """The three parts in prompt order."""

    outline: Fragment
    suffix: Fragment
    prefix: Fragment

    @property
    def tokens(self) -> int:
        return self.outline.tokens + self.suffix.tokens + self.prefix.tokens

    def render(self) -> str:
        """For people and tests."""
        return f"{self.outline.text}{self.prefix.text}<FILL>{self.suffix.text}"


async def infill(
    document: Document, tree: SyntaxTree | None, offset: int, path: str, budget: Completion, count: Count
) -> InfillPrompt:
    """Assemble the prompt for `offset`; every part is within its share."""
    start, prefix, prefix_cost = await window.before(document, offset, budget.prefix_tokens, count)
    end, suffix, suffix_cost = await window.after(document, offset, budget.suffix_tokens, count)
    lines: Sequence[OutlineLine] = outline(tree, exclude=(start, end)) if tree and budget.outline_tokens > 0 else ()
    head = await _fitting(lines, start, path, tree.language.comment if tree else "#", budget.outline_tokens, count)
    return InfillPrompt(
        head,
        Fragment(suffix, suffix_cost, path, "what follows the cursor"),
        Fragment(prefix, prefix_cost, path, "what leads to the cursor"),
    )


async def _fitting(
    lines: Sequence[OutlineLine], near: int, path: str, comment: str, budget: int, count: Count
) -> Fragment:
    """The outline within its share: declarations nearest to the window stay longest, imports longer still."""
    if not lines:
        return Fragment("", 0, path, "nothing to outline")
    texts = [line.text + "\n" for line in lines]
    title = f"{comment} {path}\n"
    costs = await count([*texts, title])
    left = budget - costs.pop()
    kept: set[int] = set()
    order = sorted(
        range(len(lines)), key=lambda i: (lines[i].kind != "import", lines[i].depth > 0, abs(lines[i].start - near))
    )
    for i in order:
        if costs[i] <= left:
            kept.add(i)
            left -= costs[i]
    if not kept:
        return Fragment("", 0, path, "no share for an outline")
    text = title + "".join(texts[i] for i in sorted(kept))
    return Fragment(text, budget - left, path, "what else this file declares")
