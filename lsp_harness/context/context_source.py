"""Sources of context, and how they share the tokens of a prompt.

A source is one class in a module of `lsp_harness.context.sources`, and one line in
`lsp_harness.context.source_registry`. An instance serves one prompt.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from lsp_harness.context.context_inputs import CompletionInputs, InstructionInputs
from lsp_harness.context.fragment import Fragment, sum_tokens
from lsp_harness.context.prompt_budget import TOTAL

MIN_FRAGMENT_TOKENS = 24
"""A shorter piece of code helps nobody."""


@dataclass(frozen=True, slots=True)
class Share:
    """The part of the token budgets that one source may use.

    Attributes:
        budgets: The names of the budgets that the tokens are taken from, beside the total of the prompt. They are keys
            of the section `[context]` of the settings. Several sources may share a budget.
        fraction: The part of the tokens that are left at the turn of the source.
        takes_rest: Whether the source gets a second turn, with all tokens that the sources left.
    """

    budgets: tuple[str, ...] = ()
    fraction: float = 1.0
    takes_rest: bool = False


class ContextSource(ABC):
    """A kind of code or text that a prompt may quote, with its part of the token budgets.

    Attributes:
        name: What the documentation calls the source.
        share: Its part of the token budgets.
        order: Its position in the prompt: sources with a lower number come first. What changes most often comes last.
        reasons: The reasons of its fragments, which the preview of a prompt shows.
    """

    name: ClassVar[str]
    share: ClassVar[Share]
    order: ClassVar[int]
    reasons: ClassVar[tuple[str, ...]]

    @abstractmethod
    async def find_fragments(self, budget: int, quoted: Sequence[Fragment]) -> Sequence[Fragment]:
        """Return fragments in prompt order, together at most `budget` tokens.

        Args:
            budget: The tokens, at least one.
            quoted: The fragments that the prompt contains already.
        """


class CompletionSource(ContextSource):
    """A source for completions: code of other files for a cursor."""

    def __init__(self, inputs: CompletionInputs) -> None:
        self._inputs = inputs

    async def ask_index(self) -> None:
        """Ask the index, if the source needs it. The source keeps the answer for `find_fragments`.

        All sources ask before the first one gets tokens, and in the order of the prompt: if time runs out, the sources
        at the end of the prompt get no answer.
        """
        return

    async def _fit_piece(self, origin: str, text: str, reason: str, budget: int) -> list[Fragment]:
        """Return as many lines of a text as fit the budget, below a comment with its path; at most one fragment."""
        lines = [f"{self._inputs.comment} {origin}\n", *(f"{line}\n" for line in text.split("\n"))]
        costs = await self._inputs.count(lines)
        while costs and sum(costs) > budget:
            costs.pop()
        if len(costs) < 2:
            return []
        return [Fragment("".join(lines[: len(costs)]), sum(costs), origin, reason)]

    async def _fit_pieces(self, pieces: Iterable[tuple[str, str]], reason: str, budget: int) -> Sequence[Fragment]:
        """Return as many pieces of code as fit the budget, the last one cut. The first and best piece stands last.

        Args:
            pieces: The origin and the text of each piece.
            reason: Why they are shown.
            budget: The tokens of all together.
        """
        fragments = list[Fragment]()
        for origin, text in pieces:
            tokens_left = budget - sum_tokens(fragments)
            if tokens_left >= MIN_FRAGMENT_TOKENS:
                fragments = [*await self._fit_piece(origin, text, reason, tokens_left), *fragments]
        return fragments


@dataclass(frozen=True, slots=True)
class SectionTitle:
    """The name and the title of a section in an instruction prompt. Several sources may have the same section.

    Attributes:
        name: The name of the section in events.
        title: The line above the section in the prompt.
        is_code: Whether the section is a code block.
    """

    name: str
    title: str
    is_code: bool = True


RELATED_SECTION = SectionTitle("related", "Related code, not to be changed")


class InstructionSource(ContextSource):
    """A source for instructions about a code selection.

    Attributes:
        section: The section of the prompt that its fragments belong to.
    """

    section: ClassVar[SectionTitle]

    def __init__(self, inputs: InstructionInputs) -> None:
        self._inputs = inputs


Source = TypeVar("Source", bound=ContextSource)


async def share_tokens(
    sources: Sequence[Source], budgets: Mapping[str, int]
) -> list[tuple[Source, tuple[Fragment, ...]]]:
    """Return what each source finds within its share of the budgets.

    What one source does not use is left for the sources after it.

    Args:
        sources: The sources, in the order of their turns.
        budgets: The tokens of each budget, by its name. `TOTAL` limits all sources together.

    Returns:
        Pairs of a source and its fragments, in prompt order.
    """
    tokens_left = dict(budgets)
    chosen: dict[Source, tuple[Fragment, ...]] = dict.fromkeys(sources, ())
    turns = [(source, source.share.fraction) for source in sources]
    turns += [(source, 1.0) for source in sources if source.share.takes_rest]
    for source, fraction in turns:
        names = [name for name in (TOTAL, *source.share.budgets) if name in tokens_left]
        budget = int(min(tokens_left[name] for name in names) * fraction)
        if budget <= 0:
            continue
        quoted = [fragment for fragments in chosen.values() for fragment in fragments]
        fragments = tuple(await source.find_fragments(budget, quoted))
        # what a source finds at its second turn is less important, and the most important stands last
        chosen[source] = (*fragments, *chosen[source])
        for name in names:
            tokens_left[name] -= sum_tokens(fragments)
    return sorted(chosen.items(), key=lambda item: item[0].order)
