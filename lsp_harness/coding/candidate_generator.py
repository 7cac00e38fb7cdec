"""Candidates for one fix: the statement filled in again, its imports completed, the function rewritten.

What small models can do is fill a hole; so most candidates are holes, and only the last few ask for a rewrite, told
what was wrong with the ones before.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any

from lsp_harness.coding.existing_findings import beside
from lsp_harness.coding.finding_location import Place
from lsp_harness.coding.sampling import Asked, Candidate, Kind, Plan, hole, made, reindented
from lsp_harness.coding.turn_context import Job
from lsp_harness.coding.turn_prompt import budget, prompted
from lsp_harness.completion.rules.ghost_text import Ghost
from lsp_harness.completion.rules.shaping import shape
from lsp_harness.config.schema import Config
from lsp_harness.context.code_selection import CodeSelection
from lsp_harness.context.context_inputs import InstructionInputs
from lsp_harness.context.instruction_prompt import build_instruction_prompt, fit_task
from lsp_harness.errors import EngineRefused, NoAnswer
from lsp_harness.files.secrets import find_secrets, secret_lines
from lsp_harness.inference.grammar import code_block_grammar, find_code_block
from lsp_harness.inference.request import ChatRequest, Infill, Sampling, Usage
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.code_lines import to_lf
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import decode, encode
from lsp_harness.verify.finding import Finding

SYSTEM = "You repair code. Answer with the corrected code in one code block and nothing else."
USUAL = 5
"""Fills where neither the settings nor the engine say how many."""
MOST = 32
ROOM = 128
"""Tokens a rewrite may add to what is there."""
WARMER = 0.1
"""Above the set temperature: the first of each kind has shown what the model thinks best."""


def plans(
    config: Config, place: Place, best: int = 0, *, fills: bool = True, after: int = 0
) -> tuple[list[Plan], list[Plan]]:
    """Fills and rewrites, together `generation.candidates`; rewrites are the retries that get feedback.

    A model that does not do `fills` makes rewrites only: at least one, and no more than either setting allows.

    For the setting 0 it is `best` fills, the number the engine makes best at once, and the rewrites come on top. Of
    each kind of fill one is the model's best guess, then the rest are drawn warmer, all of a kind at once. Their
    numbers go on `after` so many.
    """
    retries = config.generation.max_retries if place.function else 0
    total = min(max(1, config.generation.candidates or MOST), MOST)
    if not fills:
        count = min(max(1, retries), total) if place.function else 0
        return [], _rewrites(after, count, config.generation.temperature)
    if config.generation.candidates:
        rewrites = min(retries, total - 1)
        left = total - rewrites
    else:
        left = min(best or USUAL, MOST)
        rewrites = min(retries, MOST - left)
    heat = config.generation.temperature
    kinds: list[Kind] = ["fill", "hinted fill"]
    if place.unknown_name:
        kinds = ["fill", "import", "hinted fill", "plain import"]
    holes: list[Plan] = []
    made = after
    for temperature, share in ((0.0, len(kinds)), (heat + WARMER, left - len(kinds))):
        for n, kind in enumerate(kinds):
            # of `share` candidates dealt out to the kinds in turn, those of this kind
            size = len(range(n, min(share, left), len(kinds)))
            if size:
                holes.append(Plan(kind, temperature, made, tuple(range(made + 1, made + 1 + size))))
                made += size
    return holes, _rewrites(made, rewrites, heat)


def _rewrites(made: int, count: int, heat: float) -> list[Plan]:
    return [Plan("rewrite", 0.0 if n == 0 else heat, 100 + n, (made + 1 + n,)) for n in range(count)]


class Generator:
    """Makes candidates for one place of a job's document, of which `tree` is the syntax."""

    def __init__(self, job: Job, tree: SyntaxTree, place: Place, finding: Finding) -> None:
        self._job = job
        self._engine = job.engine
        self._config = job.config
        self._tree = tree
        self._document = job.document
        self._place = place
        self._finding = finding
        self._lines: dict[int, str] = {}
        """Import lines that the workspace knows, by the numbers of their candidates."""
        self.refused = ""
        """Why the engine takes no instructions, or fills no holes, once it has said so."""

    def knowing(self, lines: Sequence[str]) -> list[list[Plan]]:
        """A round for each import line, which no model has to write."""
        self._lines = dict(enumerate(lines, 1))
        return [[Plan("known import", 0.0, 0, (number,))] for number in self._lines]

    async def make(
        self, plan: Plan, feedback: Sequence[str] = (), begun: Callable[[], None] = lambda: None
    ) -> AsyncGenerator[Candidate]:
        """The plan's candidates, each as it is finished; leaving early ends the others.

        `feedback` lines are what the gates said of earlier ones; `begun` is called when the prompt is evaluated.
        """
        if plan.kind == "known import":
            begun()
            at = self._place.imports_end
            for number in plan.numbers:
                line = self._lines[number] + self._document.newline
                yield Candidate(number, plan, (Edit(at, at, encode(line)),), Usage())
            return
        asked = await (self._rewrite(plan, feedback) if plan.kind == "rewrite" else self._filling(plan))
        if asked is None:
            for number in plan.numbers:
                yield Candidate(number, plan, (), Usage())
            return
        left = set(plan.numbers)
        try:
            async with aclosing(made(self._engine, plan, asked, begun)) as candidates:
                async for candidate in candidates:
                    left.discard(candidate.number)
                    yield candidate
        except EngineRefused as error:
            if plan.kind == "rewrite":
                raise
            # a server may know only when it is asked that it fills no holes; a rewrite may do all the same
            self.refused = error.message
            for number in sorted(left):
                yield Candidate(number, plan, (), Usage())

    async def _filling(self, plan: Plan) -> Asked | None:
        """A hole; None where the model's context has no room for it."""
        try:
            return await (self._import(plan) if plan.kind in ("import", "plain import") else self._fill(plan))
        except NoAnswer as error:
            # a rewrite, or another hole, may be shorter
            self.refused = error.message
            return None

    async def _fill(self, plan: Plan) -> Asked:
        """The statement, taken out and written again."""
        start, end = self._place.statement
        hint = self._hint() if plan.kind == "hinted fill" else ""
        old_lines = self._document.data.count(b"\n", start, end) + 1
        request, shaped = await self._hole(start, end, hint, plan, lines=old_lines)
        comment = self._tree.language.comment

        def edit(raw: str) -> Edit | None:
            text = shaped(raw)
            if not text or (comment and all(line.strip().startswith(comment) for line in text.splitlines())):
                # throwing the statement away silences the diagnostic, but is no repair
                return None
            return Edit(start, end, encode(text))

        return Asked(request, edit)

    def _hint(self) -> str:
        """Comment lines that tell what was there and what is wrong with it; part of the prompt, not of the edit."""
        start, end = self._place.statement
        comment = self._tree.language.comment
        if not comment:
            return ""
        indent = decode(self._document.data[self._document.line_starts[self._document.line_of(start)] : start])
        indent = indent if indent.isspace() else ""
        old = " ".join(decode(self._document.data[start:end]).split())
        return f"{comment} wrong: {old}\n{indent}{comment} error: {self._finding.message}\n{indent}{comment} right:\n{indent}"

    async def _import(self, plan: Plan) -> Asked:
        """A line among the imports that brings the unknown name in."""
        at = self._place.imports_end
        lead = "from " if plan.kind == "import" else "import "
        request, shaped = await self._hole(at, at, lead, plan, lines=1, newline=True)

        def edit(raw: str) -> Edit | None:
            text = shaped(raw)
            line = f"{lead}{text}".rstrip()
            if not text or self._place.unknown_name not in line:
                return None
            return Edit(at, at, encode(line + self._document.newline))

        return Asked(request, edit)

    async def _hole(
        self, start: int, end: int, lead: str, plan: Plan, *, lines: int, newline: bool = False
    ) -> tuple[Infill, Callable[[str], str]]:
        """Ask to fill `start`..`end` of the document, as if `lead` had been typed there (on a line of its own:
        `newline`); and how the answer is shaped."""
        tail = self._document.newline if newline else ""
        answer = min(self._config.completion.max_tokens * lines, 400)
        around, fitting = await hole(self._job, (start, end), (lead, tail), plan, answer)
        sampling = self._sampling(
            plan,
            len(fitting),
            n_predict=answer,
            stop=("\n",) if lines == 1 else ("\n\n",),
        )
        ghost = Ghost(
            *(around.prefix, around.suffix, "", "line" if lines == 1 else "block"),
            *(self._tree.language.id, self._document.newline),
        )
        request = Infill(around, sampling=sampling, priority="normal", owner=self._job.owner)
        return request, lambda raw: shape(ghost.with_text(raw)).text or ""

    async def _rewrite(self, plan: Plan, feedback: Sequence[str]) -> Asked | None:
        """The whole enclosing function, by instruction; None where it is too long or holds a secret."""
        assert self._place.function is not None
        start, end = self._place.function
        old = decode(self._document.data[start:end])
        # by line too: a function may lie inside what only the whole text shows to be a secret
        lines = range(self._document.line_of(start), self._document.line_of(max(start, end - 1)) + 1)
        given = [self._finding.message, *feedback, old]
        # before anything is counted: the tokenizer may be on another machine
        if any(find_secrets(encode(text)) for text in given) or not secret_lines(self._document).isdisjoint(lines):
            return None
        [size] = await self._engine.count([old])
        if size > self._config.context.code_budget:
            return None
        problem = f"Problem at line {self._place.line_in_function}: {self._finding.message}"
        count, answer = self._engine.count, size + ROOM
        wrong = await beside(self._job, self._tree, self._place.function, self._finding)
        # the task says it
        session = [line for line in self._job.session if self._finding.message not in line]
        try:
            inputs = InstructionInputs(
                CodeSelection(self._document, self._tree, self._place.function, self._job.path),
                await budget(self._engine, self._config.context, answer),
                count,
                self._job.workspace,
                self._job.packages,
                session=session,
            )
            task = await fit_task(problem, feedback, self._config.context.task_budget, count, wrong)
            asked = await build_instruction_prompt(inputs, system=SYSTEM, task=task)
            _, fitting = await prompted(self._engine, asked, answer, self._job.turn, plan.numbers)
        except (EngineRefused, NoAnswer) as error:
            # a base model has no template for instructions, or a small context; what it filled in counts all the same
            self.refused = error.message
            return None
        sampling = self._sampling(plan, len(fitting), n_predict=answer, grammar=code_block_grammar())

        def edit(raw: str) -> Edit | None:
            # servers without grammars write around the block; one that was cut off would take code away
            found = find_code_block(to_lf(raw))
            if found is None:
                return None
            new = reindented(found.rstrip(), old)
            if old.endswith("\n"):
                new += "\n"
            return Edit(start, end, encode(new.replace("\n", self._document.newline)))

        return Asked(ChatRequest(asked.messages, sampling, owner=self._job.owner), edit)

    def _sampling(self, plan: Plan, n: int, **more: Any) -> Sampling:
        return Sampling(temperature=plan.temperature, seed=plan.seed, n=n, **more)
