"""A prompt of the driver “code” with what is known of it, its result, and the undo of all edits of a session."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from lsp_harness.errors import UsageError
from lsp_harness.kernel.projections.code_progress import CodeProgress
from lsp_harness.kernel.projections.summary import Summary
from lsp_harness.kernel.results import Proposal


@dataclass(frozen=True, slots=True)
class PromptWork:
    """A prompt, and what is known of it.

    Attributes:
        task: The words of the prompt.
        summary: The history of the session before it.
        known: What an earlier process has found out.
        place: The words that say the place, if those of the prompt do not. It may be empty.
        only_answers: Whether the prompt is a question, whatever its words say.
    """

    task: str
    summary: Summary
    known: CodeProgress
    place: str = ""
    only_answers: bool = False


@dataclass(frozen=True, slots=True)
class CodeResult:
    """The result of a prompt: an answer in words, or a proposal for a place."""

    text: str = ""
    place: str = ""
    proposal: Proposal | None = None


async def undo_all(undo: Callable[[], Awaitable[str]]) -> str:
    """Undo the edits of a session one by one, the last one first, and return what became of them.

    Args:
        undo: Undoes the last edit that is not undone.

    Raises:
        UsageError: There is nothing to undo.
    """
    lines = (await undo()).splitlines()
    while True:
        try:
            lines += (await undo()).splitlines()
        except UsageError:
            return "\n".join(dict.fromkeys(lines))
