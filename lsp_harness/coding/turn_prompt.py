"""A prompt on its way to the model: within the model's context, and an event that says what was allotted to whom."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lsp_harness.config.schema import Context
from lsp_harness.context.instruction_prompt import InstructionPrompt
from lsp_harness.context.prompt_budget import Allocation, PromptBudget
from lsp_harness.errors import NoAnswer
from lsp_harness.inference.client import Engine
from lsp_harness.inference.infill_text import file_name_lines, heal
from lsp_harness.inference.request import InfillContext, Props
from lsp_harness.session.log import Turn
from lsp_harness.session.turn_events import ContextBuilt

MARKS = 3
"""Of a hole: where what is before it begins, what is after it, and what goes into it."""


class Prompted(NamedTuple):
    """The text of a prompt, and the candidates that the model's context has room for beside it."""

    text: str
    candidates: Sequence[int]


async def budget(engine: Engine, settings: Context, answer: int) -> PromptBudget:
    """The shares of the settings, in what the model's context has beside an answer of so many tokens."""
    known = (await engine.props()).n_ctx
    return PromptBudget(settings, known - answer if known else None)


async def prompted(
    engine: Engine, asked: InstructionPrompt, answer: int, turn: Turn | None = None, candidates: Sequence[int] = ()
) -> Prompted:
    """The text of a prompt, for as many of the `candidates` as there is room for: all of them are written at once. The
    turn is told of its sections, and of these. Raises NoAnswer where the context has no room for it and one answer."""
    text = await engine.chat_prompt(asked.messages)
    texts = asked.texts
    [whole, *costs] = await engine.count([text, *texts.values()])
    # whoever counts for us may take the template's marks for several tokens each, never for fewer
    allotted = Allocation(dict(zip(texts, costs, strict=True)), whole, answer, (await engine.props()).n_ctx)
    return Prompted(text, _fitting(allotted, turn, candidates))


async def filled(
    engine: Engine,
    around: InfillContext,
    sections: Mapping[str, int],
    answer: int,
    turn: Turn,
    candidates: Sequence[int],
) -> Sequence[int]:
    """The same of what is asked to fill a hole: the candidates that there is room for. Raises NoAnswer."""
    props = await engine.props()
    before, healed = heal(around.prefix)
    # a model that has no token for a file is told no names
    told = props.raw.get("fim_tokens", {}).get("sep", 0) >= 0
    named = [title for title in file_name_lines(around) if title and told]
    parts = [*named, *(text for _, text in around.extra), around.suffix, before]
    # every candidate spells what is healed anew
    *costs, spelled = await engine.count([*parts, healed.decode("utf-8", "replace")])
    allotted = Allocation(dict(sections), sum(costs) + len(named) + marks(props), answer + spelled, props.n_ctx)
    return _fitting(allotted, turn, candidates)


def marks(props: Props) -> int:
    """Tokens that mark a hole, with what the model has before any prompt; who does not say may have one."""
    return MARKS + int(props.raw.get("opening", 1))


def _fitting(allotted: Allocation, turn: Turn | None, candidates: Sequence[int]) -> Sequence[int]:
    """Those that the context has room for, all at once; the turn is told of them.

    Raises NoAnswer where that is none.
    """
    if allotted.excess_tokens:
        raise NoAnswer(allotted.excess_message)
    if allotted.context:
        candidates = candidates[: (allotted.context - allotted.prompt) // max(1, allotted.answer)]
    if turn:
        built = ContextBuilt(allotted.sections, allotted.prompt, allotted.answer, allotted.context, tuple(candidates))
        turn.append(built)
    return candidates
