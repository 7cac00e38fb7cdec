"""What the model sees around a cursor: an outline of the file, a short suffix, and the near prefix.

The outline comes first because it changes rarely; the prefix comes last because it changes with every keystroke. It
leaves out what the window already shows. Lines that hold a secret are in no part of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lsp_harness.config.schema import Completion
from lsp_harness.context import window
from lsp_harness.context.fragment import Fragment, TokenCounter
from lsp_harness.context.sources.outline_cache import OutlineCache
from lsp_harness.errors import NoAnswer
from lsp_harness.files.secrets import secret_lines
from lsp_harness.inference.request import Around
from lsp_harness.syntax.outline import OutlineLine
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document

MIN_PROMPT_TOKENS = 48
"""Tokens of the shortest prompt worth asking with: the cursor's line and a few around it."""


@dataclass(frozen=True, slots=True)
class InfillPrompt:
    """The parts in prompt order: what changes rarely comes first."""

    outline: Fragment
    suffix: Fragment
    prefix: Fragment
    repository: tuple[Fragment, ...] = ()

    @property
    def fragments(self) -> tuple[Fragment, ...]:
        return (*self.repository, *([self.outline] if self.outline.text else []), self.suffix, self.prefix)

    @property
    def tokens(self) -> int:
        return sum(fragment.tokens for fragment in self.fragments)

    @property
    def sections(self) -> dict[str, int]:
        """The tokens of each that has some, by the name of its share."""
        parts = {
            "repository": sum(fragment.tokens for fragment in self.repository),
            "outline": self.outline.tokens,
            "suffix": self.suffix.tokens,
            "prefix": self.prefix.tokens,
        }
        return {name: tokens for name, tokens in parts.items() if tokens}

    @property
    def extra(self) -> tuple[tuple[str, str], ...]:
        """What comes before the hole, as (file name, text)."""
        return tuple((fragment.origin, fragment.text) for fragment in self.fragments[:-2])

    @property
    def around(self) -> Around:
        """As the engine is asked."""
        return Around(self.prefix.text, self.suffix.text, self.extra)

    def render(self) -> str:
        """For people and tests."""
        return "".join(text for _, text in self.extra) + f"{self.prefix.text}<FILL>{self.suffix.text}"


async def build_infill_prompt(
    document: Document,
    tree: SyntaxTree | None,
    offset: int,
    path: str,
    budget: Completion,
    count: TokenCounter,
    outlines: OutlineCache | None = None,
) -> InfillPrompt:
    """Assemble the prompt for `offset`; every part is within its share. Raises NoAnswer on a line with a secret."""
    hidden = secret_lines(document)
    if document.line_of(offset) in hidden:
        raise NoAnswer("this line contains what looks like a secret, so it is not sent to the model")
    start, prefix, prefix_cost = await window.read_prefix(document, offset, budget.prefix_tokens, count, hidden)
    end, suffix, suffix_cost = await window.read_suffix(document, offset, budget.suffix_tokens, count, hidden)
    lines: Sequence[OutlineLine] = ()
    if tree and budget.outline_tokens > 0:
        lines = (outlines or OutlineCache()).of(tree, (start, end))
    head = await _fitting(lines, start, path, tree.language.comment if tree else "#", budget.outline_tokens, count)
    return InfillPrompt(
        head,
        Fragment(suffix, suffix_cost, path, "text after the cursor"),
        Fragment(prefix, prefix_cost, path, "text before the cursor"),
    )


async def build_prompt_ladder(
    document: Document,
    tree: SyntaxTree | None,
    offset: int,
    path: str,
    budget: Completion,
    least: int,
    count: TokenCounter,
    outlines: OutlineCache | None = None,
    repository: Sequence[Fragment] = (),
) -> tuple[InfillPrompt, ...]:
    """The full prompt and cheaper ones for the same hole, longest first, each cheaper than the one before.

    Only the full one has what other files say, the `repository`. The second is the near half without an outline, the
    last has about `least` tokens, a quarter of them after the cursor.
    """
    least = max(MIN_PROMPT_TOKENS, least)
    half = (budget.prefix_tokens // 2, budget.suffix_tokens // 2)
    whole = await build_infill_prompt(document, tree, offset, path, budget, count, outlines)
    rungs = [replace(whole, repository=tuple(repository))]
    for prefix_tokens, suffix_tokens in (half, (least - least // 4, least // 4)):
        share = replace(
            budget,
            prefix_tokens=min(prefix_tokens, budget.prefix_tokens),
            suffix_tokens=min(suffix_tokens, budget.suffix_tokens),
            outline_tokens=0,
        )
        rung = await build_infill_prompt(document, tree, offset, path, share, count)
        if rung.tokens < rungs[-1].tokens:
            rungs.append(rung)
    return tuple(rungs)


async def _fitting(
    lines: Sequence[OutlineLine], near: int, path: str, comment: str, budget: int, count: TokenCounter
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
    return Fragment(text, budget - left, path, "other declarations of this file")
