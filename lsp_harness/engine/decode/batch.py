"""What the next decode step evaluates: the candidates of the most urgent class, and a part of one prompt."""

from dataclasses import dataclass, field
from typing import Any

from lsp_harness.engine.decode.branch import Branch
from lsp_harness.engine.decode.generation import Run
from lsp_harness.engine.decode.kv_cache import Slot
from lsp_harness.engine.decode.llama import Row
from lsp_harness.engine.decode.step_cost import Machine

FREE = 1.1
"""Less urgent candidates ride along when that makes the step at most so much slower: never on a CPU, always on a GPU."""


@dataclass(slots=True)
class Batch:
    """Rows for llama.cpp, and who gets what comes out."""

    rows: list[Row] = field(default_factory=list[Row])
    branches: list[tuple[Branch, int]] = field(default_factory=list[tuple[Branch, int]])
    prompt: tuple[Run, int, bool] | None = None
    """The run whose prompt is read, the number of the part's first token in the batch, whether it is the last part."""
    size: int = 0

    def add(self, branch: Branch) -> None:
        slot = branch.slot
        self.branches.append((branch, self.size))
        self._row(slot, branch.wanted, len(branch.wanted))

    def read(self, run: Run, most: int) -> None:
        slot, tokens, last = run.part(most)
        self.prompt = (run, self.size, last)
        self._row(slot, tokens, int(last))

    def deliver(self) -> None:
        """The batch was evaluated."""
        for branch, at in self.branches:
            branch.evaluated(at)
        if self.prompt:
            run, at, _ = self.prompt
            tokens = self.rows[-1].tokens
            run.evaluated(tokens, at + len(tokens) - 1)

    def _row(self, slot: Slot, tokens: Any, outputs: int) -> None:
        self.rows.append(Row(slot.seq, len(slot.tokens), tokens, outputs))
        self.size += len(tokens)


def compose(urgent: list[Run], others: list[Run], machine: Machine, room: int, chunk: int) -> Batch:
    """A step for the runs of the most `urgent` class, in order of their turn; `room` tokens at most.

    Candidates go first, a token each. Of the prompts only the first in turn is read, `chunk` tokens at a time.
    """
    batch = Batch()
    live = [branch for run in urgent for branch in run.live]
    reading = next((run for run in urgent if run.prompting), None)
    if len(live) == 1 and not reading:
        # drafts pay where nobody else shares the step
        live[0].draft(room - 1)
    for branch in live[: room - 1]:
        batch.add(branch)
    if reading:
        batch.read(reading, max(1, min(chunk, room - batch.size)))
    else:
        for branch in (branch for run in others for branch in run.live):
            if batch.size >= room or machine.cost(batch.size + 1) > FREE * machine.cost(batch.size or 1):
                break
            batch.add(branch)
    return batch
