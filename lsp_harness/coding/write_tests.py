"""A function → tests of it, at the end of the module's test file. The harness writes the imports and the names; the
model only goes on. Tests are parsed and linted; nobody runs them but the user.

Python only: what a test looks like and where it goes is each language's own affair.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import NamedTuple

from lsp_harness.coding.finding_location import imports_end
from lsp_harness.coding.sampling import Asked, Candidate, Plan, made, sampled
from lsp_harness.coding.turn_context import Job
from lsp_harness.coding.turn_driver import Tried, Work
from lsp_harness.coding.turn_prompt import filled, marks
from lsp_harness.context import window
from lsp_harness.context.code_selection import CodeSelection
from lsp_harness.context.context_inputs import InstructionInputs
from lsp_harness.context.fragment import Fragment
from lsp_harness.context.prompt_budget import FRAME_TOKENS, PromptBudget
from lsp_harness.context.sources.related_code_source import RelatedCodeSource
from lsp_harness.files.secrets import find_secrets, secret_lines
from lsp_harness.inference.request import Infill, InfillContext, Sampling
from lsp_harness.session.results import Proposal
from lsp_harness.session.turn_events import InvocationReceived
from lsp_harness.syntax import scope
from lsp_harness.syntax.syntax_errors import find_faults
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.code_lines import to_lf
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, decode, encode

TOKENS = 240


@dataclass(frozen=True, slots=True)
class Subject:
    """What is to be tested: its source, how a test imports it, and what its tests are called; `span` of a file's
    `tree`."""

    tree: SyntaxTree
    span: Span
    path: str
    source: str
    module: str
    name: str
    test: str


def subject(tree: SyntaxTree, offset: int, path: str) -> Subject | None:
    """The function around an offset, by its class where it is a method; None where no test could call it."""
    function = scope.enclosing_function(tree, offset)
    if function is None or tree.language.id != "python" or not function.name:
        return None
    holder = scope.enclosing_class(tree, function.start)
    if _column(tree, function.start) != (_column(tree, holder.body_start) if holder else 0):
        # inside of another function nobody can reach it
        return None
    if holder and _column(tree, holder.start):
        return None
    if not PurePosixPath(path).name:
        # a client may name the workspace folder itself as a document
        return None
    name = holder.name if holder else function.name
    span = scope.function_text_span(tree, offset) if not holder else (holder.start, holder.end)
    parts = [part for part in PurePosixPath(path).with_suffix("").parts if part != "src"]
    test = f"{_lower(holder.name)}_{function.name.strip('_')}" if holder else function.name.strip("_")
    if span is None:
        return None
    source, module = decode(tree.data[slice(*span)]), ".".join(parts).removesuffix(".__init__")
    return Subject(tree, Span(*span), path, source, module, name, test)


def _column(tree: SyntaxTree, offset: int) -> int:
    return offset - tree.document.line_starts[tree.document.line_of(offset)]


def _whole(before: str, text: str, uri: str) -> str:
    """The leading lines of `text` that are whole after `before`: one that was cut off ends within a statement."""
    lines = text.rstrip().split("\n")
    while lines:
        rest = "\n".join(lines).rstrip()
        tree = parse(Document.from_text(uri, f"{before}{rest}\n", language="python"))
        if tree and not find_faults(tree):
            return rest
        lines.pop()
    return ""


def _lower(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() and at else c.lower() for at, c in enumerate(name))


def most(passed: Sequence[Tried]) -> Tried:
    """The one with most assertions: a test that asserts nothing passes always."""
    return max(passed, key=lambda t: (t.change.after.data.count(b"assert"), -t.candidate.number))


@dataclass(frozen=True, slots=True)
class WriteTests:
    """Tests of `subject`, into the job's document: the test file as it is, empty where there is none."""

    job: Job
    subject: Subject

    async def run(self) -> Proposal:
        """The proposal. Raises NoAnswer."""
        work = Work(self.job, self.job.checks(), most, every=True)
        return await work.within(
            lambda: self._generated(work), InvocationReceived("tests", f"of {self.subject.name}", self.job.path)
        )

    async def _generated(self, work: Work) -> Proposal:
        work.enter("LOCATE")
        source = self.subject.source
        if find_secrets(encode(source)) or secret_lines(self.job.document):
            raise work.failed("this contains what looks like a secret, so it is not sent to the model")
        [size] = await self.job.engine.count([source])
        if size > (budget := self.job.config.context.code_budget):
            raise work.failed(
                f"{self.subject.name} has {size} tokens, and context.code_budget allows {budget}; raise that setting"
            )
        begun = _begun(self.job.document, self.subject)
        props, share = await self.job.engine.props(), self.job.config.completion.prefix_tokens
        # the test file, and then what is around the source, has what the model's context has besides
        room = props.n_ctx - marks(props) - FRAME_TOKENS - size - TOKENS if props.n_ctx else share + budget
        near, cost = await self._near(work, begun.text, max(0, min(share, room)))
        around = await self._around(min(budget - size, room - cost))
        shown = {"related": sum(one.tokens for one in around), "code": size, "prefix": cost}
        sections = {name: tokens for name, tokens in shown.items() if tokens}
        plans = sampled("fill", self.job.config.generation.temperature)
        return await work.generate(_Continuer(self.job, self.subject, begun, around, near, sections), [plans])

    async def _near(self, work: Work, text: str, share: int) -> tuple[str, int]:
        """The last whole lines of the test file, as a completion there has them, and what they cost."""
        document = Document.from_text(self.job.document.uri, text, language="python")
        _, near, cost = await window.read_prefix(document, len(document.data), share, self.job.engine.count)
        if not near.endswith(line := text.rpartition("\n")[2]):
            raise work.failed(
                f"there is no room for {line} in {share} tokens; raise completion.prefix_tokens or model.context_length"
            )
        return near, cost

    async def _around(self, left: int) -> tuple[Fragment, ...]:
        """What the source uses, and how it is used and tested elsewhere."""
        job, subject, settings = self.job, self.subject, self.job.config.context
        code = CodeSelection(subject.tree.document, subject.tree, subject.span, subject.path)
        source = RelatedCodeSource(InstructionInputs(code, PromptBudget(settings), job.engine.count, job.workspace))
        share = min(left, settings.related_budget)
        return tuple(await source.find_fragments(share, ())) if share > 0 else ()


class _Begun(NamedTuple):
    """The test file so far, up to the name of the test; from which byte on it is another one than before, and that
    place in characters."""

    text: str
    start: int
    tail: int


def _begun(document: Document, subject: Subject) -> _Begun:
    lead, wanted = f"def test_{subject.test}", f"from {subject.module} import {subject.name}"
    text = to_lf(document.text).rstrip("\n")
    if wanted in text.split("\n") or not text:
        return _Begun(f"{text or wanted}\n\n\n{lead}", len(document.data.rstrip(b"\r\n")), len(text))
    tree = parse(document)
    at = imports_end(tree) if tree else 0
    above = to_lf(decode(document.data[:at]))
    return _Begun(f"{above}{wanted}\n{text[len(above) :]}\n\n\n{lead}", at, len(above))


@dataclass(slots=True)
class _Continuer:
    """Lets the model go on from `def test_…`."""

    job: Job
    subject: Subject
    begun: _Begun
    around: tuple[Fragment, ...]
    near: str
    sections: dict[str, int]
    refused: str = field(default="", init=False)

    async def make(
        self, plan: Plan, feedback: Sequence[str] = (), begun: Callable[[], None] = lambda: None
    ) -> AsyncGenerator[Candidate]:
        job, subject = self.job, self.subject
        before, start, tail = self.begun
        shown = [(one.origin, one.text) for one in self.around]
        extra = (*shown, (subject.module.replace(".", "/") + ".py", subject.source))
        around = InfillContext(self.near, "", extra)
        fitting = await filled(job.engine, around, self.sections, TOKENS, job.turn, plan.numbers)
        sampling = Sampling(
            n_predict=TOKENS,
            temperature=plan.temperature,
            seed=plan.seed,
            n=len(fitting),
            stop=("\nif __name__", "\nclass ", "\nprint(", "\n#"),
        )
        request = Infill(around, sampling=sampling, priority="normal", owner=job.owner)

        def edit(raw: str) -> Edit | None:
            rest = _whole(before, to_lf(raw), job.document.uri)
            if "assert" not in rest:
                return None
            text = f"{before}{rest}\n"
            return Edit(start, len(job.document.data), encode(text[tail:].replace("\n", job.document.newline)))

        async with aclosing(made(job.engine, plan, Asked(request, edit), begun)) as candidates:
            async for candidate in candidates:
                yield candidate
