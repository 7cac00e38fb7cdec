"""Calls of one source of context, as a prompt makes them."""

from collections.abc import Sequence

from lsp_harness.config.schema import Context
from lsp_harness.context.context_inputs import CodeSelection, InstructionInputs, WorkspaceScope
from lsp_harness.context.context_source import InstructionSource
from lsp_harness.context.fragment import Fragment
from lsp_harness.context.prompt_budget import PromptBudget
from tests.context.counting import count_words


def make_inputs(
    code: CodeSelection, workspace: WorkspaceScope, settings: Context | None = None, *, search_text: str = ""
) -> InstructionInputs:
    """Return inputs of an instruction in which each word is a token."""
    return InstructionInputs(code, PromptBudget(settings or Context()), count_words, workspace, search_text=search_text)


async def read_fragments(
    create: type[InstructionSource], read: InstructionInputs, budget: int, quoted: Sequence[Fragment] = ()
) -> tuple[Fragment, ...]:
    """Return the fragments of a source. A source without tokens is not asked."""
    return tuple(await create(read).find_fragments(budget, quoted)) if budget > 0 else ()
