"""Fits prompts into the model's context and records what each of their sections costs."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lsp_harness.config.schema import Context
from lsp_harness.context.instruction_prompt import InstructionPrompt
from lsp_harness.context.prompt_budget import Allocation, PromptBudget
from lsp_harness.errors import NoAnswer
from lsp_harness.events.code_events import ContextBuilt
from lsp_harness.inference.client import Engine
from lsp_harness.inference.infill_text import file_name_lines, heal
from lsp_harness.inference.prompt_ceilings import PromptLimit
from lsp_harness.inference.request import InfillContext, Props
from lsp_harness.kernel.log.turn import Turn

HOLE_MARK_TOKENS = 3
"""Tokens that mark a hole: where the text before it begins, where the text behind it begins, and where the answer
begins."""


class FittedPrompt(NamedTuple):
    """The text of a prompt, and the numbers of the candidates that fit into the model's context."""

    text: str
    candidates: Sequence[int]


async def create_budget(engine: Engine, settings: Context, answer: int) -> PromptBudget:
    """Return the budget of a prompt in the model's context, of which `answer` tokens are reserved."""
    context = (await engine.props()).n_ctx
    return PromptBudget(settings, context - answer if context else None)


async def fit_prompt(
    engine: Engine,
    prompt: InstructionPrompt,
    limit: PromptLimit,
    answer: int,
    turn: Turn | None = None,
    candidates: Sequence[int] = (),
) -> FittedPrompt:
    """Return the text of an instruction prompt and the candidates that fit beside it. Record its sections in the turn.

    Args:
        engine: The client of the model.
        prompt: The prompt.
        limit: The ceiling of the prompt in tokens.
        answer: The tokens to reserve for each answer.
        turn: The turn, if there is one.
        candidates: The numbers of the planned candidates. All are generated at once.

    Raises:
        NoAnswer: The prompt is above its ceiling, or the context has no room for it and one answer.
    """
    text = await engine.chat_prompt(prompt.messages)
    texts = prompt.texts
    [total, *costs] = await engine.count([text, *texts.values()])
    # a tokenizer of another server may count a mark of the template as several tokens, never as fewer than one
    allocation = Allocation(dict(zip(texts, costs, strict=True)), total, answer, (await engine.props()).n_ctx)
    return FittedPrompt(text, _fit_candidates(allocation, limit, turn, candidates))


async def fit_infill(
    engine: Engine,
    around: InfillContext,
    sections: Mapping[str, int],
    limit: PromptLimit,
    answer: int,
    turn: Turn,
    candidates: Sequence[int],
) -> Sequence[int]:
    """Return the candidates that fit beside an infill prompt. Record its sections in the turn.

    Args:
        engine: The client of the model.
        around: The code around the hole.
        sections: The tokens of each section, by its name.
        limit: The ceiling of the prompt.
        answer: The tokens to reserve for each answer.
        turn: The turn.
        candidates: The numbers of the planned candidates. All are generated at once.

    Raises:
        PromptTooLongError: The prompt is above its ceiling.
        NoAnswer: The context has no room for the prompt and one answer.
    """
    props = await engine.props()
    before, healed = heal(around.prefix)
    # a model without a token that separates files gets no file names
    has_file_names = props.raw.get("fim_tokens", {}).get("sep", 0) >= 0
    names = [line for line in file_name_lines(around) if line and has_file_names]
    parts = [*names, *(text for _, text in around.extra), around.suffix, before]
    # each candidate generates the healed text again
    *costs, healed_tokens = await engine.count([*parts, healed.decode("utf-8", "replace")])
    prompt = sum(costs) + len(names) + count_hole_marks(props)
    allocation = Allocation(dict(sections), prompt, answer + healed_tokens, props.n_ctx)
    return _fit_candidates(allocation, limit, turn, candidates)


def count_hole_marks(props: Props) -> int:
    """Return the number of tokens that mark a hole and that begin every prompt.

    If the server does not say how many begin a prompt, one is assumed.
    """
    return HOLE_MARK_TOKENS + int(props.raw.get("opening", 1))


def _fit_candidates(
    allocation: Allocation, limit: PromptLimit, turn: Turn | None, candidates: Sequence[int]
) -> Sequence[int]:
    """Return the candidates that fit into the context together, and record the prompt. Raises NoAnswer if none fits."""
    limit.require(allocation.prompt)
    if allocation.excess_tokens:
        raise NoAnswer(allocation.excess_message)
    if allocation.context:
        candidates = candidates[: (allocation.context - allocation.prompt) // max(1, allocation.answer)]
    if turn:
        sections, sizes = allocation.sections, (allocation.prompt, allocation.answer, allocation.context)
        turn.append(ContextBuilt(sections, *sizes, candidates=tuple(candidates), template=limit.template))
    return candidates
