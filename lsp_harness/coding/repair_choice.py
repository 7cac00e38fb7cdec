"""The choice among equally likely repairs: by failing tests, else by the model.

A small model cannot judge a repair, but it knows which text is more usual. So it fills the changed lines again, and the
grammar allows only the texts of the repairs. A repair is made only if two independent judges agree: the model writes
it, and no other repair costs less by the evidence in the code. Measured on 332 files with one fault: where they agree,
17 of 17 repairs are right; where they do not, 2 of 6.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

from lsp_harness.coding.candidates.checked_candidate import CheckedCandidate
from lsp_harness.coding.candidates.sampling import CandidatePlan, build_hole
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.errors import EngineError, HarnessError
from lsp_harness.events.code_events import ChoiceFailed, ChoiceMade
from lsp_harness.files.secrets import secret_lines
from lsp_harness.inference.grammar import one_of_grammar
from lsp_harness.inference.pace import Pace
from lsp_harness.inference.request import Chunk, Infill, Sampling
from lsp_harness.text.edit import common_prefix_length
from lsp_harness.text.position import Span, decode
from lsp_harness.verify.check import Check

MAX_CHOICE_BYTES = 2000
"""Most bytes of the changed lines that a model chooses by."""
EXTRA_TOKENS = 8
"""Tokens of an answer beside one for each byte."""


@dataclass(frozen=True, slots=True)
class RepairChooser:
    """Lets the failing tests choose a repair, and the model if there are none or if several repairs pass them.

    Attributes:
        context: The document and the tools.
        is_model_allowed: Whether the model may see the document. If not, it chooses no repair.
        find_test_checks: Returns the slow checks that a repair must pass if tests fail because of the finding.
    """

    context: TurnContext
    is_model_allowed: bool = True
    find_test_checks: Callable[[], Awaitable[Sequence[Check]]] | None = None

    async def create_checks(self) -> Sequence[Check]:
        """Return the checks by failing tests, or none."""
        return await self.find_test_checks() if self.find_test_checks else ()

    async def choose(self, passed: Sequence[CheckedCandidate]) -> CheckedCandidate | None:
        """Return the repair that the model writes, or None if there is no choice or the judges do not agree."""
        if not self.is_model_allowed:
            return None
        span, texts = _changed_lines(passed)
        document, turn = self.context.document, self.context.turn
        lines = range(document.line_of(span.start), document.line_of(span.end) + 1)
        if span.end - span.start > MAX_CHOICE_BYTES or not secret_lines(document).isdisjoint(lines):
            return None
        try:
            if not Pace.from_props((await self.context.engine.props()).raw).can_infill:
                return None
            choice = await self._ask_model(span, texts)
        except HarnessError as error:
            turn.append(ChoiceFailed(error.message))
            return None
        chosen_result = passed[choice]
        is_agreed = chosen_result.candidate.cost <= min(result.candidate.cost for result in passed)
        costs = {result.candidate.number: round(result.candidate.cost, 2) for result in passed}
        turn.append(ChoiceMade(chosen_result.candidate.number, costs, is_agreed))
        return chosen_result if is_agreed else None

    async def _ask_model(self, span: Span, texts: Sequence[str]) -> int:
        """Return the index of the text that the model writes in place of a span. Raises HarnessError."""
        # the texts begin and end alike: only the part between differs
        start = _shared_prefix_length(texts)
        end = _shared_prefix_length([text[start:][::-1] for text in texts])
        stems = [text[start : len(text) - end] for text in texts]
        head, tail = texts[0][:start], texts[0][len(texts[0]) - end :]
        # a grammar has no empty answer: for a removed line, the answer ends at once
        options = [f"{stem}{tail}" or "\n" for stem in stems]
        size = max(len(option.encode("utf-8", "replace")) for option in options) + EXTRA_TOKENS
        plan = CandidatePlan("choice", 0.0, 0, (0,))
        around, _ = await build_hole(self.context, "repair choice", span, (head, ""), plan, size)
        sampling = Sampling(n_predict=size, grammar=one_of_grammar(options))
        request = Infill(around, heal=False, sampling=sampling, priority="normal", owner=self.context.owner)
        answer = ""
        async with aclosing(cast("Any", self.context.engine.stream(request))) as chunks:
            async for chunk in cast("AsyncIterator[Chunk]", chunks):
                answer += chunk.text
                if chunk.stop:
                    break
        if answer not in options:
            raise EngineError("the model chose none of the repairs")
        return options.index(answer)


def _changed_lines(passed: Sequence[CheckedCandidate]) -> tuple[Span, list[str]]:
    """Return the span of all lines that a repair changes, without the last line end, and its text after each repair."""
    document = passed[0].change.before
    edits = [edit for result in passed for edit in result.change.edits]
    first, last = document.line_of(min(e.start for e in edits)), document.line_of(max(e.end for e in edits))
    span = Span(document.line_span(first)[0], document.line_span(last)[1])
    texts: list[str] = []
    for result in passed:
        after = result.change.after.data
        growth = len(after) - len(document.data)
        texts.append(decode(after[span.start : span.end + growth]))
    return span, texts


def _shared_prefix_length(texts: Sequence[str]) -> int:
    """Return the number of characters that all texts begin with."""
    return common_prefix_length(min(texts), max(texts))
