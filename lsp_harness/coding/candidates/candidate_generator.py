"""Generates candidates for a fix: fills of the statement, new imports, and rewrites of the block.

Small models are best at filling a hole, so most candidates are fills. Only the last ones are rewrites, which get the
findings of the checks in the candidates before them. The first rewrite for a linter's rule gets none.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from lsp_harness.coding.candidates.partial_answer import AskedCode
from lsp_harness.coding.candidates.sampling import (
    Candidate,
    CandidateKind,
    CandidatePlan,
    CandidateRequest,
    Hole,
    HoleFill,
    build_fill,
    generate_candidates,
    reindent,
)
from lsp_harness.coding.finding_location import FindingPlace, describe_existing_findings
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.coding.turn.turn_prompt import create_budget, fit_prompt
from lsp_harness.config.schema import Config
from lsp_harness.context.context_inputs import CodeSelection, InstructionInputs
from lsp_harness.context.instruction_prompt import build_instruction_prompt, fit_task
from lsp_harness.errors import EngineRefused, NoAnswer
from lsp_harness.files.secrets import find_secret_lines, find_secrets
from lsp_harness.inference.grammar import code_block_grammar, find_code_block
from lsp_harness.inference.prompt_ceilings import PromptLimit
from lsp_harness.inference.request import ChatRequest, Usage
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.code_lines import to_lf
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, decode, encode
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.finding_subject import find_subject_kind

SYSTEM = "You repair code. Answer with the corrected code in one code block and nothing else."
DEFAULT_FILLS = 5
"""Fills if neither the settings nor the engine give a number."""
MAX_CANDIDATES = 32
MAX_FILL_TOKENS = 400
MIN_QUOTED_CHARS, MAX_QUOTED_CHARS = 2, 120
"""Lengths of marked code that the prompt of a rewrite quotes."""
EXTRA_TOKENS = 128
"""Tokens that a rewrite may add to the code."""
EXTRA_TEMPERATURE = 0.1
"""Fills are sampled so much above the temperature of the settings: the first of each kind is the most likely text."""
FIRST_REWRITE_SEED = 100


def plan_candidates(
    config: Config, place: FindingPlace, engine_fills: int = 0, *, has_fills: bool = True, first_number: int = 1
) -> tuple[list[CandidatePlan], list[CandidatePlan]]:
    """Return the plans of fills and of rewrites.

    Together they are `generation.candidates`. If this setting is 0, there are as many fills as the engine generates
    best at once, and the rewrites are added. Of each kind of fill, one is the most likely text and the others are
    sampled.

    Args:
        config: The settings.
        place: The place of the finding. Without a block there are no rewrites.
        engine_fills: The number of fills that the engine generates best at once, or 0 if it is unknown.
        has_fills: Whether the model can fill holes. If not, there is at least one rewrite.
        first_number: The number of the first candidate.
    """
    retries = config.generation.max_retries if place.block else 0
    total = min(max(1, config.generation.candidates or MAX_CANDIDATES), MAX_CANDIDATES)
    temperature = config.generation.temperature
    if not has_fills:
        count = min(max(1, retries), total) if place.block else 0
        return [], _plan_rewrites(first_number, count, temperature)
    if config.generation.candidates:
        rewrites = min(retries, total - 1)
        fills = total - rewrites
    else:
        fills = min(engine_fills or DEFAULT_FILLS, MAX_CANDIDATES)
        rewrites = min(retries, MAX_CANDIDATES - fills)
    kinds: list[CandidateKind] = ["fill", "hinted fill"]
    if place.unknown_name:
        kinds = ["fill", "import", "hinted fill", "plain import"]
    plans: list[CandidatePlan] = []
    number = first_number
    for kind_temperature, share in ((0.0, len(kinds)), (temperature + EXTRA_TEMPERATURE, fills - len(kinds))):
        for index, kind in enumerate(kinds):
            # the kinds take turns in `share` candidates; this is the number of those of this kind
            size = len(range(index, min(share, fills), len(kinds)))
            if size:
                # the seed must not change: it is the number of candidates before these
                numbers = tuple(range(number, number + size))
                plans.append(CandidatePlan(kind, kind_temperature, number - 1, numbers))
                number += size
    return plans, _plan_rewrites(number, rewrites, temperature)


def _plan_rewrites(first_number: int, count: int, temperature: float) -> list[CandidatePlan]:
    return [
        CandidatePlan("rewrite", temperature if n else 0.0, FIRST_REWRITE_SEED + n, (first_number + n,))
        for n in range(count)
    ]


class CandidateGenerator:
    """Generates candidates for one finding.

    Args:
        context: The document and the tools.
        tree: The syntax tree of the document.
        place: The place of the finding.
        finding: The finding.

    Attributes:
        refusal: Why the engine takes no instructions or fills no holes, or an empty text.
    """

    def __init__(self, context: TurnContext, tree: SyntaxTree, place: FindingPlace, finding: Finding) -> None:
        self._context = context
        self._engine = context.engine
        self._config = context.config
        self._tree = tree
        self._document = context.document
        self._place = place
        self._finding = finding
        self.refusal = ""

    async def generate(
        self, plan: CandidatePlan, feedback: Sequence[str] = (), on_evaluated: Callable[[], None] = lambda: None
    ) -> AsyncGenerator[Candidate]:
        """Yield the candidates of a plan when they are complete (see `CandidateSource`)."""
        request = await (self._request_rewrite(plan, feedback) if plan.kind == "rewrite" else self._request_fill(plan))
        if request is None:
            for number in plan.numbers:
                yield Candidate(number, plan, (), Usage())
            return
        open_numbers = set(plan.numbers)
        try:
            async with aclosing(generate_candidates(self._engine, plan, request, on_evaluated)) as candidates:
                async for candidate in candidates:
                    open_numbers.discard(candidate.number)
                    yield candidate
        except EngineRefused as error:
            if plan.kind == "rewrite":
                raise
            # some servers say only now that they fill no holes; a rewrite may work nevertheless
            self.refusal = error.message
            for number in sorted(open_numbers):
                yield Candidate(number, plan, (), Usage())

    async def _request_fill(self, plan: CandidatePlan) -> CandidateRequest | None:
        """Return the request to fill a hole, or None if the model's context has no room for it."""
        try:
            if plan.kind in ("import", "plain import"):
                return await self._request_import(plan)
            return await self._request_statement(plan)
        except NoAnswer as error:
            # a rewrite, or another hole, may be shorter
            self.refusal = error.message
            return None

    async def _request_statement(self, plan: CandidatePlan) -> CandidateRequest:
        """Return the request to write the statement again."""
        start, end = self._place.statement
        hint = self._write_hint() if plan.kind == "hinted fill" else ""
        line_count = self._document.data.count(b"\n", start, end) + 1
        fill = await self._build_fill(Hole(self._place.statement, hint, line_count=line_count), plan)
        comment = self._tree.language.comment

        def parse_edit(answer: str) -> Edit | None:
            text = fill.read(answer)
            if not text or (comment and all(line.strip().startswith(comment) for line in text.splitlines())):
                # an edit that removes the statement removes the diagnostic, but it is no repair
                return None
            return Edit(start, end, encode(text))

        return CandidateRequest(fill.request, parse_edit)

    def _write_hint(self) -> str:
        """Return comment lines with the old statement and the finding. They are in the prompt, not in the edit."""
        start, end = self._place.statement
        comment = self._tree.language.comment
        if not comment:
            return ""
        indent = decode(self._document.data[self._document.line_starts[self._document.line_of(start)] : start])
        indent = indent if indent.isspace() else ""
        old = " ".join(decode(self._document.data[start:end]).split())
        return (
            f"{comment} wrong: {old}\n{indent}{comment} error: {self._finding.message}\n"
            f"{indent}{comment} right:\n{indent}"
        )

    def _quote(self) -> str:
        """Return the marked code for the prompt, or an empty text if it is no short piece of one line."""
        code = decode(self._document.data[self._finding.start : self._finding.end])
        is_short = MIN_QUOTED_CHARS <= len(code) <= MAX_QUOTED_CHARS and not {"\n", "`"} & set(code)
        return f", `{code}`" if is_short else ""

    async def _request_import(self, plan: CandidatePlan) -> CandidateRequest:
        """Return the request for a line that imports the unknown name."""
        offset = self._place.imports_end
        lead = "from " if plan.kind == "import" else "import "
        fill = await self._build_fill(Hole(Span(offset, offset), lead, self._document.newline), plan)

        def parse_edit(answer: str) -> Edit | None:
            text = fill.read(answer)
            line = f"{lead}{text}".rstrip()
            if not text or self._place.unknown_name not in line:
                return None
            return Edit(offset, offset, encode(line + self._document.newline))

        return CandidateRequest(fill.request, parse_edit)

    async def _build_fill(self, hole: Hole, plan: CandidatePlan) -> HoleFill:
        return await build_fill(self._context, "fill", self._tree.language, hole, plan, MAX_FILL_TOKENS)

    async def _request_rewrite(self, plan: CandidatePlan, feedback: Sequence[str]) -> CandidateRequest | None:
        """Return the request to rewrite the block, or None if it is too long or contains a secret."""
        assert self._place.block is not None
        if not plan.temperature and find_subject_kind(self._finding) == "rule":
            # a small model that reads of lost code writes the code as it was
            feedback = ()
        context, document = self._context, self._document
        start, end = self._place.block
        old = decode(document.data[start:end])
        # the whole text is searched, too: the function may lie inside a secret of many lines
        lines = range(document.line_of(start), document.line_of(max(start, end - 1)) + 1)
        prompt_texts = [self._finding.message, *feedback, old]
        # this comes before any count, because the tokenizer may be on another machine
        if any(find_secrets(encode(text)) for text in prompt_texts) or not find_secret_lines(document).isdisjoint(
            lines
        ):
            return None
        [size] = await self._engine.count([old])
        if size > self._config.context.code_budget:
            return None
        problem = f"Problem at line {self._place.line_in_block}{self._quote()}: {self._finding.message}"
        count, answer_tokens = self._engine.count, size + EXTRA_TOKENS
        other_findings = await describe_existing_findings(context, self._tree, self._place.block, self._finding)
        # the task names the finding already
        session_lines = [line for line in context.session_lines if self._finding.message not in line]
        try:
            inputs = InstructionInputs(
                CodeSelection(document, self._tree, self._place.block, context.path),
                await create_budget(self._engine, self._config.context, answer_tokens),
                count,
                context.workspace,
                context.packages,
                session=session_lines,
            )
            task = await fit_task(problem, feedback, self._config.context.task_budget, count, other_findings)
            prompt = await build_instruction_prompt(inputs, system=SYSTEM, task=task)
            limit = PromptLimit.of("fix", context.config)
            _, candidates = await fit_prompt(self._engine, prompt, limit, answer_tokens, context.turn, plan.numbers)
        except (EngineRefused, NoAnswer) as error:
            # a base model has no template for instructions, or its context is small; its fills count nevertheless
            self.refusal = error.message
            return None
        sampling = plan.create_sampling(candidates, n_predict=answer_tokens, grammar=code_block_grammar())
        asked = AskedCode(self._tree, self._place.block)

        def parse_edit(answer: str) -> Edit | None:
            # servers without grammars write around the block; an answer that was cut off would remove code
            code = find_code_block(to_lf(answer))
            if code is None:
                return None
            new = reindent(asked.complete(code).rstrip(), old)
            if old.endswith("\n"):
                new += "\n"
            return Edit(start, end, encode(new.replace("\n", document.newline)))

        return CandidateRequest(ChatRequest(prompt.messages, sampling, owner=context.owner), parse_edit)
