"""The model's choice among repairs that are as likely as each other: it may write one of them in their place, and
nothing else.

A small model cannot judge a repair, but it knows which text is more usual. The texts of the changed lines are the only
answers that the grammar allows. A repair is made only if two independent judges agree: the model writes it, and none of
the others costs less by what the code shows. Measured on 332 files with one fault: where they agree, 17 of 17 are
right; where they do not, 2 of 6 are.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

from lsp_harness.coding.sampling import Plan, hole
from lsp_harness.coding.turn_context import Job
from lsp_harness.coding.turn_driver import Tried
from lsp_harness.errors import EngineError, HarnessError
from lsp_harness.files.secrets import secret_lines
from lsp_harness.inference.grammar import one_of_grammar
from lsp_harness.inference.pace import Pace
from lsp_harness.inference.request import Chunk, Infill, Sampling
from lsp_harness.session.turn_events import ChoiceFailed, ChoiceMade
from lsp_harness.text.edit import common_prefix_length
from lsp_harness.text.position import Span, decode

MAX_CHOICE_BYTES = 2000
"""Bytes of the changed lines that a model is asked to choose by."""


@dataclass(frozen=True, slots=True)
class Chooser:
    """Asks the model of a job; takes nothing where there is none, or the lines must not be given to it."""

    job: Job
    allowed: bool = True

    async def __call__(self, passed: Sequence[Tried]) -> Tried | None:
        if not self.allowed:
            return None
        span, texts = _texts(passed)
        document = self.job.document
        lines = range(document.line_of(span.start), document.line_of(span.end) + 1)
        if span.end - span.start > MAX_CHOICE_BYTES or not secret_lines(document).isdisjoint(lines):
            return None
        try:
            if not Pace.from_props((await self.job.engine.props()).raw).can_infill:
                return None
            choice = await self._asked(span, texts)
        except HarnessError as error:
            self.job.turn.append(ChoiceFailed(error.message))
            return None
        taken = passed[choice]
        agreed = taken.candidate.cost <= min(tried.candidate.cost for tried in passed)
        costs = {tried.candidate.number: round(tried.candidate.cost, 2) for tried in passed}
        self.job.turn.append(ChoiceMade(taken.candidate.number, costs, agreed))
        return taken if agreed else None

    async def _asked(self, span: Span, texts: Sequence[str]) -> int:
        """The place of the text that the model writes."""
        # what all of them begin and end with is no choice
        start = _shared(texts)
        end = _shared([text[start:][::-1] for text in texts])
        stems = [text[start : len(text) - end] for text in texts]
        head, tail = texts[0][:start], texts[0][len(texts[0]) - end :]
        # a grammar knows no empty answer: a line that is taken away ends at once
        options = [f"{stem}{tail}" or "\n" for stem in stems]
        size = max(len(option.encode("utf-8", "replace")) for option in options) + 8
        around, _ = await hole(self.job, (span.start, span.end), (head, ""), Plan("choice", 0.0, 0, (0,)), size)
        sampling = Sampling(n_predict=size, grammar=one_of_grammar(options))
        request = Infill(around, heal=False, sampling=sampling, priority="normal", owner=self.job.owner)
        said = ""
        async with aclosing(cast("Any", self.job.engine.stream(request))) as chunks:
            async for chunk in cast("AsyncIterator[Chunk]", chunks):
                said += chunk.text
                if chunk.stop:
                    break
        if said not in options:
            raise EngineError("the model chose none of the repairs")
        return options.index(said)


def _texts(passed: Sequence[Tried]) -> tuple[Span, list[str]]:
    """The lines that any of the repairs changes, without their last terminator, and what each makes of them."""
    document = passed[0].change.before
    edits = [edit for tried in passed for edit in tried.change.edits]
    first, last = document.line_of(min(e.start for e in edits)), document.line_of(max(e.end for e in edits))
    span = Span(document.line_span(first)[0], document.line_span(last)[1])
    texts: list[str] = []
    for tried in passed:
        after, grown = tried.change.after.data, len(tried.change.after.data) - len(document.data)
        texts.append(decode(after[span.start : span.end + grown]))
    return span, texts


def _shared(texts: Sequence[str]) -> int:
    """How many characters all of the texts begin with."""
    return common_prefix_length(min(texts), max(texts))
