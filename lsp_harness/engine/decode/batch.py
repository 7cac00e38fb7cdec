"""The contents of the next decode step: candidates of the most urgent class and a part of one prompt."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from lsp_harness.engine.cache.slot_table import Slot
from lsp_harness.engine.decode.branch import Branch
from lsp_harness.engine.decode.generation import RunningRequest
from lsp_harness.engine.decode.llama import TokenRow
from lsp_harness.engine.decode.step_cost import StepCost

MAX_RIDE_ALONG_SLOWDOWN = 1.1
"""Less urgent candidates join a step if it takes at most this many times as long: never on a CPU, always on a GPU."""


@dataclass(frozen=True, slots=True)
class PromptPart:
    """A part of a prompt in a batch."""

    generation: RunningRequest
    first_index: int
    """Index in the batch of its first token."""


@dataclass(slots=True)
class Batch:
    """The rows of a decode step, and who gets the results."""

    rows: list[TokenRow] = field(default_factory=list[TokenRow])
    branches: list[tuple[Branch, int]] = field(default_factory=list[tuple[Branch, int]])
    """The candidates, each with the index in the batch of its first token."""
    prompt_part: PromptPart | None = None
    size: int = 0
    """Number of tokens."""

    def add_branch(self, branch: Branch) -> None:
        """Add the next tokens of a candidate."""
        self.branches.append((branch, self.size))
        self._add_row(branch.slot, branch.next_tokens, len(branch.next_tokens))

    def add_prompt_part(self, generation: RunningRequest, max_tokens: int) -> None:
        """Add the next part of a prompt. No row may be added after it."""
        slot, tokens, is_last = generation.next_part(max_tokens)
        self.prompt_part = PromptPart(generation, self.size)
        self._add_row(slot, tokens, int(is_last))

    def deliver(self) -> None:
        """Tell the candidates and the prompt that their tokens were evaluated."""
        for branch, first_index in self.branches:
            branch.on_evaluated(first_index)
        if self.prompt_part:
            tokens = self.rows[-1].tokens
            last_index = self.prompt_part.first_index + len(tokens) - 1
            self.prompt_part.generation.on_evaluated(tokens, last_index)

    def _add_row(self, slot: Slot, tokens: Sequence[int], outputs: int) -> None:
        self.rows.append(TokenRow(slot.seq, len(slot.tokens), tokens, outputs))
        self.size += len(tokens)


def compose_batch(
    urgent: list[RunningRequest], others: list[RunningRequest], step_cost: StepCost, max_tokens: int, chunk_tokens: int
) -> Batch:
    """Return the next step. Each candidate adds a token, and the first unread prompt adds a part.

    Args:
        urgent: The requests of the most urgent class, in the order of their turns.
        others: Less urgent requests.
        step_cost: The time of a step.
        max_tokens: Number of tokens of the step at most.
        chunk_tokens: Number of tokens of the part of a prompt at most.
    """
    batch = Batch()
    live = [branch for generation in urgent for branch in generation.live_branches]
    reading = next((generation for generation in urgent if generation.is_reading_prompt), None)
    if len(live) == 1 and not reading:
        # A draft gains time only if no other request shares the step.
        live[0].add_draft(max_tokens - 1)
    for branch in live[: max_tokens - 1]:
        batch.add_branch(branch)
    if reading:
        batch.add_prompt_part(reading, max(1, min(chunk_tokens, max_tokens - batch.size)))
    else:
        for branch in (branch for generation in others for branch in generation.live_branches):
            max_step_ms = MAX_RIDE_ALONG_SLOWDOWN * step_cost.step_ms(batch.size or 1)
            if batch.size >= max_tokens or step_cost.step_ms(batch.size + 1) > max_step_ms:
                break
            batch.add_branch(branch)
    return batch
