"""An instruction in words → a verified edit of the lines it is about.

A small model that may answer with anything changes what it should not; so it is given the lines alone, what the file
has besides as an outline, and answers with these lines, written again.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from lsp_harness.config.schema import Config
from lsp_harness.errors import EngineRefused
from lsp_harness.files.secrets import secret_lines, spans
from lsp_harness.inference.grammar import code_block, find_code_block
from lsp_harness.inference.request import Continuation, Sampling, Usage
from lsp_harness.pipeline.asking import Asked, Candidate, Plan, fitting, made, reindented, sampled
from lsp_harness.pipeline.job import Job
from lsp_harness.pipeline.lines import to_lf
from lsp_harness.pipeline.offers import Proposal
from lsp_harness.pipeline.pace import Pace
from lsp_harness.pipeline.selection import chosen
from lsp_harness.pipeline.work import Work, likeliest
from lsp_harness.syntax.tree import parse
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, decode, encode

SYSTEM = "You edit code. Answer with the whole edited code in one code block and nothing else."
USUAL = 4
"""Candidates of the first round where neither the settings nor the engine say how many."""
ROOM = 256
"""Tokens an edit may add to what is there."""


@dataclass(frozen=True, slots=True)
class Instruct:
    """One instruction about a span of one document version; `run` may be awaited once."""

    job: Job
    span: Span
    instruction: str

    async def run(self) -> Proposal:
        """The proposal. Raises NoAnswer."""
        work = Work(self.job, self.job.checks(), likeliest)
        return await work.within(lambda: self._generated(work), kind="edit", text=self.instruction)

    async def _generated(self, work: Work) -> Proposal:
        work.enter("LOCATE")
        job, document = self.job, self.job.document
        place = chosen(document, parse(document), self.span)
        if place is None:
            raise work.failed("there is nothing here to edit; select the lines it is about")
        old = decode(document.data[slice(*place)])
        lines = range(document.line_of(place.start), document.line_of(max(place.start, place.end - 1)) + 1)
        if not secret_lines(document).isdisjoint(lines) or spans(encode(self.instruction)):
            raise work.failed("this holds what looks like a secret and is not given to the model")
        [size, told] = await job.engine.count([old, self.instruction])
        budget = job.config.context
        if size > budget.code_budget:
            raise work.failed(f"{size} tokens are selected, context.code_budget is {budget.code_budget}; select less")
        if told > budget.task_budget:
            raise work.failed(f"the instruction has {told} tokens, context.task_budget is {budget.task_budget}")
        best = Pace.of((await job.engine.props()).raw).candidates
        return await work.generate(Rewriter(job, place, size, self.instruction, told), rounds(job.config, best))


def rounds(config: Config, best: int = 0) -> list[list[Plan]]:
    """The likeliest and some drawn beside it; then one after the other, told what was wrong with those before."""
    total = config.generation.candidates or best or USUAL
    heat = config.generation.temperature
    retries = [[Plan("rewrite", heat, 100 + n, (total + 1 + n,))] for n in range(config.generation.max_retries)]
    return [sampled("rewrite", heat, total - 1), *retries]


@dataclass(slots=True)
class Rewriter:
    """Makes candidates of one span by one instruction."""

    job: Job
    place: Span
    size: int
    instruction: str
    told: int
    """Tokens of the instruction."""
    refused: str = field(default="", init=False)

    async def make(
        self, plan: Plan, feedback: Sequence[str] = (), begun: Callable[[], None] = lambda: None
    ) -> AsyncGenerator[Candidate]:
        try:
            asked = await self._asked(plan, feedback)
            async with aclosing(made(self.job.engine, plan, asked, begun)) as candidates:
                async for candidate in candidates:
                    yield candidate
        except EngineRefused as error:
            # a base model has no template for instructions
            self.refused = error.message
            for number in plan.numbers:
                yield Candidate(number, plan, None, Usage())

    async def _asked(self, plan: Plan, feedback: Sequence[str]) -> Asked:
        job, document = self.job, self.job.document
        old = decode(document.data[slice(*self.place)])
        # what changes from one round to the next comes last, so that the rest is resident
        task = f"```{document.language}\n{old}\n```\n\nInstruction: {self.instruction}"
        if feedback:
            room = job.config.context.task_budget - self.told
            lines = await fitting(job.engine, ["Earlier attempts failed:", *feedback], room)
            # a headline without a line below it says nothing
            task += "\n\n" + "\n".join(lines) if len(lines) > 1 else ""
        prompt = await job.engine.chat_prompt([("system", SYSTEM), ("user", task)])
        sampling = Sampling(
            n_predict=self.size + ROOM,
            temperature=plan.temperature,
            seed=plan.seed,
            n=len(plan.numbers),
            grammar=code_block(),
        )

        def edit(raw: str) -> Edit | None:
            # one that was cut off would take code away
            found = find_code_block(to_lf(raw))
            if found is None or not found.strip():
                return None
            new = reindented(found.rstrip(), old)
            new += "\n" if old.endswith("\n") else ""
            return Edit(self.place.start, self.place.end, encode(new.replace("\n", document.newline)))

        return Asked(Continuation(prompt, sampling, owner=job.owner), edit)
