"""An instruction in words → a verified edit of the lines it is about.

A small model that may answer with anything changes what it should not; so it is given the lines alone, what the file
has besides as an outline, and answers with these lines, written again.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from lsp_harness.coding.existing_findings import beside
from lsp_harness.coding.sampling import Asked, Candidate, Plan, made, reindented, sampled
from lsp_harness.coding.selection import chosen
from lsp_harness.coding.turn_context import Job
from lsp_harness.coding.turn_driver import Work, likeliest
from lsp_harness.coding.turn_prompt import budget, prompted
from lsp_harness.config.schema import Config
from lsp_harness.context.code_selection import CodeSelection
from lsp_harness.context.context_inputs import InstructionInputs
from lsp_harness.context.instruction_prompt import InstructionPrompt, build_instruction_prompt, fit_task
from lsp_harness.errors import EngineRefused, NoAnswer
from lsp_harness.files.secrets import find_secrets, secret_lines
from lsp_harness.inference.grammar import code_block_grammar, find_code_block
from lsp_harness.inference.pace import Pace
from lsp_harness.inference.request import ChatRequest, Sampling, Usage
from lsp_harness.process.offload import offload
from lsp_harness.session.results import Proposal
from lsp_harness.session.turn_events import InvocationReceived
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.code_lines import to_lf
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
        return await work.within(
            lambda: self._generated(work), InvocationReceived("edit", self.instruction, self.job.path)
        )

    async def asked(self) -> tuple[InstructionPrompt, int]:
        """What the model is asked first, and how many tokens the answer has at most. Raises NoAnswer."""
        rewriter = await self._rewriter()
        return await rewriter.prompt(), rewriter.answer

    async def _generated(self, work: Work) -> Proposal:
        work.enter("LOCATE")
        try:
            rewriter = await self._rewriter()
        except NoAnswer as error:
            raise work.failed(error.message) from error
        best = Pace.from_props((await self.job.engine.props()).raw).candidates
        return await work.generate(rewriter, rounds(self.job.config, best))

    async def _rewriter(self) -> "Rewriter":
        job, document = self.job, self.job.document
        tree = await offload(len(document.data), lambda: parse(document))
        place = chosen(document, tree, self.span)
        if place is None:
            raise NoAnswer("there is no code here to edit; select the lines to change")
        old = decode(document.data[slice(*place)])
        lines = range(document.line_of(place.start), document.line_of(max(place.start, place.end - 1)) + 1)
        if not secret_lines(document).isdisjoint(lines) or find_secrets(encode(self.instruction)):
            raise NoAnswer("this contains what looks like a secret, so it is not sent to the model")
        # by lines, as it is fitted in: cut short it would be another instruction
        [size, *words] = await job.engine.count([old, *(f"{line}\n" for line in task(self.instruction).split("\n"))])
        shares = job.config.context
        if size > shares.code_budget:
            raise NoAnswer(
                f"the selection has {size} tokens, and context.code_budget allows {shares.code_budget}; select less"
            )
        if sum(words) > shares.task_budget:
            raise NoAnswer(
                f"the instruction has {sum(words)} tokens, and context.task_budget allows {shares.task_budget}; shorten it"
            )
        return Rewriter(job, tree, place, size, self.instruction)


def task(instruction: str) -> str:
    """What the model is told to do."""
    return f"Instruction: {instruction}"


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
    tree: SyntaxTree | None
    place: Span
    size: int
    instruction: str
    refused: str = field(default="", init=False)

    async def make(
        self, plan: Plan, feedback: Sequence[str] = (), begun: Callable[[], None] = lambda: None
    ) -> AsyncGenerator[Candidate]:
        try:
            asked = await self._asked(plan, feedback)
            async with aclosing(made(self.job.engine, plan, asked, begun)) as candidates:
                async for candidate in candidates:
                    yield candidate
        except (EngineRefused, NoAnswer) as error:
            if isinstance(error, NoAnswer) and not feedback:
                raise
            # a base model has no template for instructions, or there is no room for what is said of earlier attempts
            self.refused = error.message
            for number in plan.numbers:
                yield Candidate(number, plan, (), Usage())

    @property
    def answer(self) -> int:
        """Tokens it has at most."""
        return self.size + ROOM

    async def prompt(self, feedback: Sequence[str] = ()) -> InstructionPrompt:
        """What the model is asked, told what was wrong with earlier candidates."""
        job, shares = self.job, self.job.config.context
        wrong = await beside(job, self.tree, self.place)
        inputs = InstructionInputs(
            CodeSelection(job.document, self.tree, self.place, job.path),
            await budget(job.engine, shares, self.answer),
            job.engine.count,
            job.workspace,
            job.packages,
            self.instruction,
            job.session,
        )
        fitted = await fit_task(task(self.instruction), feedback, shares.task_budget, job.engine.count, wrong)
        return await build_instruction_prompt(inputs, system=SYSTEM, task=fitted)

    async def _asked(self, plan: Plan, feedback: Sequence[str]) -> Asked:
        job, document = self.job, self.job.document
        old = decode(document.data[slice(*self.place)])
        instruction = await self.prompt(feedback)
        _, fitting = await prompted(job.engine, instruction, self.answer, job.turn, plan.numbers)
        sampling = Sampling(
            n_predict=self.answer,
            temperature=plan.temperature,
            seed=plan.seed,
            n=len(fitting),
            grammar=code_block_grammar(),
        )

        def edit(raw: str) -> Edit | None:
            # one that was cut off would take code away
            found = find_code_block(to_lf(raw))
            if found is None or not found.strip():
                return None
            new = reindented(found.rstrip(), old)
            new += "\n" if old.endswith("\n") else ""
            return Edit(self.place.start, self.place.end, encode(new.replace("\n", document.newline)))

        return Asked(ChatRequest(instruction.messages, sampling, owner=job.owner), edit)
