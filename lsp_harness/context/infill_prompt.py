"""The prompt for a cursor: an outline of the file, the text after the cursor, and the text before it.

The outline comes first because it changes rarely. The prefix comes last because it changes with every key press. The
outline omits what the window around the cursor contains. No part contains a line with a secret.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lsp_harness.config.schema import Completion
from lsp_harness.context import window
from lsp_harness.context.fragment import Fragment, TokenCounter, sum_tokens
from lsp_harness.context.lookup.outline_cache import OutlineCache
from lsp_harness.errors import NoAnswer
from lsp_harness.files.secrets import find_secret_lines
from lsp_harness.inference.request import InfillContext
from lsp_harness.syntax.outline import OutlineLine
from lsp_harness.workspace.cursor import Cursor

MIN_PROMPT_TOKENS = 48
"""The smallest budget of the shortest prompt: the line of the cursor and a few lines around it."""


@dataclass(frozen=True, slots=True)
class InfillPrompt:
    """The parts of a fill-in-the-middle prompt, in prompt order: what changes rarely comes first."""

    outline: Fragment
    suffix: Fragment
    prefix: Fragment
    repository: tuple[Fragment, ...] = ()

    @property
    def fragments(self) -> tuple[Fragment, ...]:
        """All parts in prompt order, without an empty outline."""
        return (*self.repository, *([self.outline] if self.outline.text else []), self.suffix, self.prefix)

    @property
    def tokens(self) -> int:
        """The cost of the whole prompt."""
        return sum_tokens(self.fragments)

    @property
    def sections(self) -> dict[str, int]:
        """The cost of each section that is not empty, by the name of its setting."""
        costs = {
            "repository": sum_tokens(self.repository),
            "outline": self.outline.tokens,
            "suffix": self.suffix.tokens,
            "prefix": self.prefix.tokens,
        }
        return {name: tokens for name, tokens in costs.items() if tokens}

    @property
    def extra_files(self) -> tuple[tuple[str, str], ...]:
        """The texts that stand before the hole, as pairs of file name and text."""
        return tuple((fragment.origin, fragment.text) for fragment in self.fragments[:-2])

    @property
    def engine_input(self) -> InfillContext:
        """The prompt in the form of an engine request."""
        return InfillContext(self.prefix.text, self.suffix.text, self.extra_files)

    def render(self) -> str:
        """Return the prompt as one text, for people and tests."""
        return "".join(text for _, text in self.extra_files) + f"{self.prefix.text}<FILL>{self.suffix.text}"


async def build_infill_prompt(
    cursor: Cursor, settings: Completion, count: TokenCounter, outlines: OutlineCache | None = None
) -> InfillPrompt:
    """Build the prompt for a cursor, without context from other files.

    Args:
        cursor: The place to complete at.
        settings: The token budgets of the prefix, the suffix and the outline.
        count: The tokenizer of the model.
        outlines: The cache to take the outline from. Without one the outline is computed.

    Raises:
        NoAnswer: The line of the cursor contains a secret.
    """
    document, tree, offset = cursor.document, cursor.tree, cursor.offset
    hidden = find_secret_lines(document)
    if document.line_of(offset) in hidden:
        raise NoAnswer("this line contains what looks like a secret, so it is not sent to the model")
    start, prefix, prefix_tokens = await window.read_prefix(document, offset, settings.prefix_tokens, count, hidden)
    end, suffix, suffix_tokens = await window.read_suffix(document, offset, settings.suffix_tokens, count, hidden)
    outline = Fragment("", 0, cursor.path, "nothing to outline")
    if tree and settings.outline_tokens > 0:
        lines = (outlines or OutlineCache()).find_outline(tree, (start, end))
        outline = await _fit_outline(lines, cursor, start, settings.outline_tokens, count)
    return InfillPrompt(
        outline,
        Fragment(suffix, suffix_tokens, cursor.path, "text after the cursor"),
        Fragment(prefix, prefix_tokens, cursor.path, "text before the cursor"),
    )


async def build_prompt_ladder(
    cursor: Cursor,
    settings: Completion,
    min_tokens: int,
    count: TokenCounter,
    outlines: OutlineCache | None = None,
    repository: Sequence[Fragment] = (),
) -> tuple[InfillPrompt, ...]:
    """Build the full prompt and cheaper prompts for the same cursor.

    The engine uses the longest one that it has time for.

    Args:
        cursor: The place to complete at.
        settings: The token budgets of the full prompt.
        min_tokens: The budget of the cheapest prompt; a quarter of it is for the text after the cursor.
        count: The tokenizer of the model.
        outlines: The cache to take the outline from.
        repository: Context from other files. Only the full prompt contains it.

    Returns:
        The prompts, longest first; each costs fewer tokens than the one before. The second has no code of other files.
        The next one has half of the prefix and the suffix, and no outline.

    Raises:
        NoAnswer: The line of the cursor contains a secret.
    """
    min_tokens = max(MIN_PROMPT_TOKENS, min_tokens)
    full = await build_infill_prompt(cursor, settings, count, outlines)
    prompts = [replace(full, repository=tuple(repository)), *([full] if repository else [])]
    half_budget = (settings.prefix_tokens // 2, settings.suffix_tokens // 2)
    min_budget = (min_tokens - min_tokens // 4, min_tokens // 4)
    for prefix_tokens, suffix_tokens in (half_budget, min_budget):
        smaller = replace(
            settings,
            prefix_tokens=min(prefix_tokens, settings.prefix_tokens),
            suffix_tokens=min(suffix_tokens, settings.suffix_tokens),
            outline_tokens=0,
        )
        prompt = await build_infill_prompt(cursor, smaller, count)
        if prompt.tokens < prompts[-1].tokens:
            prompts.append(prompt)
    return tuple(prompts)


async def _fit_outline(
    lines: Sequence[OutlineLine], cursor: Cursor, window_start: int, budget: int, count: TokenCounter
) -> Fragment:
    """Return the outline below the path. If it is too long, imports are kept first, then the nearest declarations."""
    if not lines:
        return Fragment("", 0, cursor.path, "nothing to outline")
    title = f"{cursor.tree.language.comment if cursor.tree else '#'} {cursor.path}\n"
    texts = [line.text + "\n" for line in lines]
    costs = await count([*texts, title])
    tokens_left = budget - costs.pop()
    kept_indices: set[int] = set()
    by_importance = sorted(
        range(len(lines)),
        key=lambda i: (lines[i].kind != "import", lines[i].depth > 0, abs(lines[i].start - window_start)),
    )
    for i in by_importance:
        if costs[i] <= tokens_left:
            kept_indices.add(i)
            tokens_left -= costs[i]
    if not kept_indices:
        return Fragment("", 0, cursor.path, "the outline does not fit its budget")
    text = title + "".join(texts[i] for i in sorted(kept_indices))
    return Fragment(text, budget - tokens_left, cursor.path, "other declarations of this file")
