"""A prompt by instruction on its way to the model: within the model's context, and an event that says what was allotted to whom."""

from collections.abc import Sequence
from typing import NamedTuple

from lsp_harness.config.schema import Context
from lsp_harness.context.budget import Allocation, Budget
from lsp_harness.context.instruction import Instruction
from lsp_harness.errors import NoAnswer
from lsp_harness.inference.client import Engine
from lsp_harness.session.log import Turn


class Prompted(NamedTuple):
    """The text of a prompt, and the candidates that the model's context has room for beside it."""

    text: str
    candidates: Sequence[int]


async def budget(engine: Engine, settings: Context, answer: int) -> Budget:
    """The shares of the settings, in what the model's context has beside an answer of so many tokens."""
    known = (await engine.props()).n_ctx
    return Budget(settings, known - answer if known else None)


async def prompted(
    engine: Engine, asked: Instruction, answer: int, turn: Turn | None = None, candidates: Sequence[int] = ()
) -> Prompted:
    """The text of a prompt, for as many of the `candidates` as there is room for: all of them are written at once. The turn is told
    of its sections, and of these. Raises NoAnswer where the context has no room for it and one answer."""
    text = await engine.chat_prompt(asked.messages)
    sections = asked.sections
    [whole, *costs] = await engine.count([text, *sections.values()])
    tokens = dict(zip(sections, costs, strict=True))
    allotted = Allocation(tokens, whole, answer, (await engine.props()).n_ctx)
    # whoever counts for us may take the template's marks for several tokens each, never for fewer
    if allotted.over:
        raise NoAnswer(allotted.why)
    if allotted.context:
        candidates = candidates[: (allotted.context - whole) // max(1, answer)]
    if turn:
        tell_built(turn, allotted, candidates)
    return Prompted(text, candidates)


def tell_built(turn: Turn, allotted: Allocation, candidates: Sequence[int] = ()) -> None:
    """Append `context.built`: what each section of a prompt that is sent has, and what is kept for the answer."""
    more = {"answer": allotted.answer, "context": allotted.context, "candidates": list(candidates)}
    turn.tell("context.built", sections=allotted.sections, prompt=allotted.prompt, **more)
