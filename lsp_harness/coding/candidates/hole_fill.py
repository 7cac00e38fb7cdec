"""The request to fill a hole in a document, and the reading of its answers by the rules of completion."""

from dataclasses import dataclass

from lsp_harness.coding.candidates.sampling import CandidatePlan, build_hole
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.completion.rules.ghost_text import Ghost
from lsp_harness.completion.rules.shaping import shape
from lsp_harness.inference.prompt_ceilings import PromptName
from lsp_harness.inference.request import Infill
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.text.position import Span


@dataclass(frozen=True, slots=True)
class HoleFill:
    """A request to fill a hole.

    Attributes:
        request: The request.
        ghost: The hole, without a text in it.
    """

    request: Infill
    ghost: Ghost

    def read(self, answer: str) -> str:
        """Return the part of an answer that belongs into the hole. It may be empty."""
        return shape(self.ghost.with_text(answer)).text or ""


@dataclass(frozen=True, slots=True)
class Hole:
    """A hole in a document.

    Attributes:
        span: The code that the hole replaces.
        lead: The text directly before the hole.
        tail: The text directly behind the hole.
        line_count: The number of lines of an answer.
    """

    span: Span
    lead: str = ""
    tail: str = ""
    line_count: int = 1


async def build_fill(
    context: TurnContext, name: PromptName, language: LanguageSpec, hole: Hole, plan: CandidatePlan, max_tokens: int
) -> HoleFill:
    """Return the request to fill a hole. Record what its prompt costs.

    Args:
        context: The document and the tools.
        name: The prompt, which has a ceiling.
        language: The language of the document.
        hole: The hole.
        plan: The candidates.
        max_tokens: Most tokens of an answer of any number of lines.

    Raises:
        NoAnswer: The prompt is above its ceiling, or the model's context has no room for it and one answer.
    """
    answer_tokens = min(context.config.completion.max_tokens * hole.line_count, max_tokens)
    around, candidates = await build_hole(context, name, hole.span, (hole.lead, hole.tail), plan, answer_tokens)
    is_line = hole.line_count == 1
    stop = ("\n",) if is_line else ("\n\n",)
    sampling = plan.create_sampling(candidates, n_predict=answer_tokens, stop=stop)
    mode = "line" if is_line else "block"
    ghost = Ghost(around.prefix, around.suffix, "", mode, language.id, context.document.newline)
    return HoleFill(Infill(around, sampling=sampling, priority="normal", owner=context.owner), ghost)
