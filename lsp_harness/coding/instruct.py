"""Edits lines by an instruction in words, and repairs the closest attempt if it leaves tests failing.

A small model that may answer with anything changes too much. So it gets only the lines, with an outline of the file,
and its answer is these lines, written again.

A small model that is told what is wrong with its code seldom corrects it. The ladder of the repair of failing tests
finds the wrong statement by the tests instead, and tries other texts there.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import ClassVar

from lsp_harness.coding.candidates.candidate_checks import CandidateChecks
from lsp_harness.coding.candidates.checked_candidate import CheckedCandidate
from lsp_harness.coding.candidates.partial_answer import AskedCode
from lsp_harness.coding.candidates.sampling import (
    Candidate,
    CandidatePlan,
    CandidateRequest,
    generate_candidates,
    plan_samples,
    reindent,
)
from lsp_harness.coding.comment_request import has_mark, remove_comments
from lsp_harness.coding.edit_task import EditTask
from lsp_harness.coding.finding_location import describe_existing_findings
from lsp_harness.coding.ladder.repair_tests import RepairTests, find_failures
from lsp_harness.coding.selection import select_code
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.coding.turn.turn_prompt import create_budget, fit_prompt
from lsp_harness.coding.turn.turn_states import TurnStates
from lsp_harness.coding.turn_driver import run_edit_task
from lsp_harness.config.schema import Config
from lsp_harness.context.context_inputs import CodeSelection, InstructionInputs
from lsp_harness.context.instruction_prompt import InstructionPrompt, build_instruction_prompt, fit_task
from lsp_harness.errors import EngineRefused, NoAnswer
from lsp_harness.files.secrets import find_secret_lines, find_secrets
from lsp_harness.inference.grammar import code_block_grammar, find_code_block
from lsp_harness.inference.pace import Pace
from lsp_harness.inference.prompt_ceilings import PromptLimit, PromptName
from lsp_harness.inference.request import ChatRequest, Props, Usage
from lsp_harness.process.offload import offload
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.code_lines import to_lf
from lsp_harness.text.edit import Edit, line_edits
from lsp_harness.text.position import Span, decode, encode
from lsp_harness.verify.check import Check

ATTEMPT_REPAIR_S = 30.0


async def repair_attempt(context: TurnContext, attempt: CheckedCandidate, states: TurnStates) -> Sequence[Edit]:
    """Return the edits of the document that make a failed attempt pass its tests, or none.

    Args:
        context: The document, before the attempt, and the tools.
        attempt: A candidate that failed the tests.
        states: The states of the turn.
    """
    document = attempt.change.after
    # the repair is a part of this turn, as an item of a plan is: it neither completes nor fails it
    inner = replace(context, document=document, base=context.document, states=states, item=context.item or 0)
    titles = {finding.code for finding in attempt.verdict.outcomes[-1].findings}
    try:
        trace = (await find_failures(inner)).limit_to(titles)
        span = attempt.change.new_span
        proposal = await run_edit_task(RepairTests(inner, trace, span, limit_s=ATTEMPT_REPAIR_S))
    except NoAnswer:
        return ()
    return line_edits(context.document.data, proposal.changes.main.after.data)


SYSTEM = "You edit code. Answer with the whole edited code in one code block and nothing else."
DEFAULT_CANDIDATES = 4
"""Candidates of the first round if neither the settings nor the engine give a number."""
EXTRA_TOKENS = 256
"""Tokens that an edit may add to the code."""
FIRST_RETRY_SEED = 100


@dataclass(frozen=True, slots=True)
class Instruct(EditTask):
    """The task that lets the model rewrite a span of a document by an instruction.

    Attributes:
        context: The document and the tools.
        span: The code, or an empty span in it.
        instruction: The words of the user that say what to change.
        comments: Comments that gave the instruction. The edit removes them.
    """

    finishes_edits: ClassVar[bool] = True

    context: TurnContext
    span: Span
    instruction: str
    comments: tuple[str, ...] = ()

    async def create_checks(self) -> list[Check]:
        return self.context.create_checks(wants_repairs=True)

    def create_required_checks(self) -> list[Check]:
        """Return the usual checks. An edit that leaves failing tests failing is only the second choice."""
        return self.context.create_checks()

    async def repair_attempt(self, attempt: CheckedCandidate, states: TurnStates) -> Sequence[Edit]:
        is_wanted = self.context.config.generation.max_retries > 0
        return await repair_attempt(self.context, attempt, states) if is_wanted else ()

    async def plan_rounds(self) -> list[list[CandidatePlan]]:
        return plan_rounds(self.context.config, await self.context.engine.props())

    async def first_prompt(self) -> tuple[InstructionPrompt, int]:
        """Return the first prompt and the most tokens of an answer. Raises NoAnswer."""
        rewriter = await self.create_source()
        return await rewriter.build_prompt(), rewriter.answer_tokens

    async def create_source(self, checked: CandidateChecks | None = None) -> "Rewriter":
        context, document = self.context, self.context.document
        tree = await offload(len(document.data), lambda: parse(document))
        span = select_code(document, tree, self.span)
        if span is None:
            raise NoAnswer("there is no code here to edit; select the lines to change")
        old = decode(document.data[slice(*span)])
        lines = range(document.line_of(span.start), document.line_of(max(span.start, span.end - 1)) + 1)
        if not find_secret_lines(document).isdisjoint(lines) or find_secrets(encode(self.instruction)):
            raise NoAnswer("this code contains what looks like a secret, so it is not sent to the model")
        # the instruction is counted line by line, as `fit_task` does; a part of it would be another instruction
        task_lines = [f"{line}\n" for line in format_task(self.instruction).split("\n")]
        [size, *costs] = await context.engine.count([old, *task_lines])
        settings = context.config.context
        if size > settings.code_budget:
            raise NoAnswer(
                f"the selection has {size} tokens, and context.code_budget allows {settings.code_budget}; select less"
            )
        if sum(costs) > settings.task_budget:
            raise NoAnswer(
                f"the instruction has {sum(costs)} tokens, and context.task_budget allows {settings.task_budget}; "
                "shorten it"
            )
        return Rewriter(context, tree, span, size, self.instruction, self.comments)


def format_task(instruction: str) -> str:
    """Return the task of a prompt."""
    return f"Instruction: {instruction}"


def plan_rounds(config: Config, props: Props) -> list[list[CandidatePlan]]:
    """Return the plans of each round.

    The first round has the most likely text and some samples. Each other round has one candidate, which gets the
    findings in the candidates before it.

    Args:
        config: The settings.
        props: The properties of the engine, which may say how many candidates it generates best at once.
    """
    total = config.generation.candidates or Pace.from_props(props.raw).candidates or DEFAULT_CANDIDATES
    temperature = config.generation.temperature
    retries = [
        [CandidatePlan("rewrite", temperature, FIRST_RETRY_SEED + n, (total + 1 + n,))]
        for n in range(config.generation.max_retries)
    ]
    return [plan_samples("rewrite", temperature, props, total - 1), *retries]


@dataclass(slots=True)
class Rewriter:
    """Generates rewrites of one span by one instruction (see `CandidateSource`).

    Attributes:
        context: The document and the tools.
        tree: The syntax tree of the document, or None if it has none.
        name: The prompt, which has a ceiling.
        system: The system prompt.
        span: The lines to rewrite.
        size: The tokens of these lines.
        instruction: The words of the user that say what to change.
        comments: Comments that an answer must not keep.
        refusal: Why the engine refused a request, or an empty text.
    """

    name: ClassVar[PromptName] = "edit"
    system: ClassVar[str] = SYSTEM

    context: TurnContext
    tree: SyntaxTree | None
    span: Span
    size: int
    instruction: str
    comments: tuple[str, ...] = ()
    refusal: str = field(default="", init=False)
    _asked: AskedCode = field(init=False)

    def __post_init__(self) -> None:
        self._asked = AskedCode(self.tree, self.span)

    async def generate(
        self, plan: CandidatePlan, feedback: Sequence[str] = (), on_evaluated: Callable[[], None] = lambda: None
    ) -> AsyncGenerator[Candidate]:
        try:
            request = await self._create_request(plan, feedback)
            async with aclosing(generate_candidates(self.context.engine, plan, request, on_evaluated)) as candidates:
                async for candidate in candidates:
                    yield candidate
        except (EngineRefused, NoAnswer) as error:
            if isinstance(error, NoAnswer) and not feedback:
                raise
            # a base model has no template for instructions, or there is no room for the feedback
            self.refusal = error.message
            for number in plan.numbers:
                yield Candidate(number, plan, (), Usage())

    @property
    def answer_tokens(self) -> int:
        """The most tokens of an answer."""
        return self.size + EXTRA_TOKENS

    async def build_prompt(self, feedback: Sequence[str] = ()) -> InstructionPrompt:
        """Return the prompt, with the findings in earlier candidates as `feedback`."""
        context, settings = self.context, self.context.config.context
        findings = await describe_existing_findings(context, self.tree, self.span)
        inputs = InstructionInputs(
            CodeSelection(context.document, self.tree, self.span, context.path),
            await create_budget(context.engine, settings, self.answer_tokens),
            context.engine.count,
            context.workspace,
            context.packages,
            self.instruction,
            context.session_lines,
        )
        task = format_task(self.instruction)
        task = await fit_task(task, feedback, settings.task_budget, context.engine.count, findings)
        return await build_instruction_prompt(inputs, system=self.system, task=task)

    async def _create_request(self, plan: CandidatePlan, feedback: Sequence[str]) -> CandidateRequest:
        context = self.context
        prompt = await self.build_prompt(feedback)
        sizes = (PromptLimit.of(self.name, context.config), self.answer_tokens)
        _, candidates = await fit_prompt(context.engine, prompt, *sizes, context.turn, plan.numbers)
        sampling = plan.create_sampling(candidates, n_predict=self.answer_tokens, grammar=code_block_grammar())
        return CandidateRequest(ChatRequest(prompt.messages, sampling, owner=context.owner), self._parse_edit)

    def _parse_edit(self, answer: str) -> Edit | None:
        """Return the edit of an answer, or None if it has no whole code block: a part of one would remove code."""
        code = find_code_block(to_lf(answer))
        if code is None or not code.strip():
            return None
        document = self.context.document
        old = decode(document.data[slice(*self.span)])
        if self.comments:
            code = remove_comments(code, self.comments)
            # to remove the comment is not to do what it says
            is_unchanged = code.strip() == remove_comments(to_lf(old), self.comments).strip()
            if is_unchanged or has_mark(code):
                return None
        new = reindent(self._asked.complete(code).rstrip(), old)
        new += "\n" if old.endswith("\n") else ""
        return Edit(self.span.start, self.span.end, encode(new.replace("\n", document.newline)))
