"""A function → the same function with a docstring: a hole between the two marks, which nothing else can get out of."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from lsp_harness.coding.sampling import Asked, Candidate, Plan, hole, made, sampled
from lsp_harness.coding.turn_context import Job
from lsp_harness.coding.turn_driver import Work, likeliest
from lsp_harness.files.secrets import secret_lines
from lsp_harness.inference.request import Infill, Sampling
from lsp_harness.languages.declaration_traits import CommentStyle
from lsp_harness.process.offload import offload
from lsp_harness.session.results import Proposal
from lsp_harness.session.turn_events import InvocationReceived
from lsp_harness.syntax import scope
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.code_lines import to_lf
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, decode, encode

TOKENS = 120
WIDTH = 100
"""Characters of a line; a model that goes on and on in one is not describing a function."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where the docstring goes: a line's start, and the indentation its lines get."""

    at: int
    indent: str
    marks: CommentStyle


def spot(tree: SyntaxTree, offset: int) -> Spot | None:
    """None where there is no function, it has one already, or we do not know how the language writes them."""
    marks = tree.language.declarations.documentation
    function = scope.enclosing_function(tree, offset)
    if marks is None or function is None:
        return None
    document = tree.document
    if marks.is_inside:
        line = document.line_of(function.body_start)
        at = document.line_starts[line]
        before = decode(document.data[at : function.body_start])
        # a body on the line of its `def` has no place for it
        body = document.data[function.body_start : function.body_start + 8].lstrip(b"rRbBuU")
        if before.strip() or line == document.line_of(function.start) or body.startswith((b'"', b"'")):
            return None
        return Spot(at, before, marks)
    whole = scope.function_text_span(tree, offset)
    if whole is None or decode(document.data[whole.start : function.start]).lstrip().startswith(_COMMENTS):
        return None
    at = document.line_starts[document.line_of(whole.start)]
    text = decode(document.data[at : document.line_span(document.line_of(at))[1]])
    return Spot(at, text[: len(text) - len(text.lstrip())], marks)


_COMMENTS = ("//", "/*", "#", "--")


@dataclass(frozen=True, slots=True)
class Describe:
    """A docstring for the function at `span`; `run` may be awaited once."""

    job: Job
    span: Span

    async def run(self) -> Proposal:
        """The proposal. Raises NoAnswer."""
        work = Work(self.job, self.job.checks(), likeliest)
        return await work.within(
            lambda: self._generated(work), InvocationReceived("docstring", "a docstring", self.job.path)
        )

    async def _generated(self, work: Work) -> Proposal:
        work.enter("LOCATE")
        document = self.job.document
        tree = await offload(len(document.data), lambda: parse(document))
        place = spot(tree, self.span.start) if tree else None
        if place is None:
            raise work.failed("there is no function here without a docstring")
        if document.line_of(place.at) in secret_lines(document):
            raise work.failed("this line contains what looks like a secret, so it is not sent to the model")
        plans = sampled("fill", self.job.config.generation.temperature)
        return await work.generate(_Filler(self.job, place), [plans])


@dataclass(slots=True)
class _Filler:
    """Fills in what stands between the marks."""

    job: Job
    spot: Spot
    refused: str = field(default="", init=False)

    async def make(
        self, plan: Plan, feedback: Sequence[str] = (), begun: Callable[[], None] = lambda: None
    ) -> AsyncGenerator[Candidate]:
        job, at, marks = self.job, self.spot.at, self.spot.marks
        newline, indent = job.document.newline, self.spot.indent
        typed = (self._indented(marks.before), self._indented(marks.after, first=False) + newline)
        around, fitting = await hole(job, (at, at), typed, plan, TOKENS)
        sampling = Sampling(
            n_predict=TOKENS,
            temperature=plan.temperature,
            seed=plan.seed,
            n=len(fitting),
            # what ends the text; a line of its own is all that a comment without an end mark can be
            stop=(marks.after.strip(),) if marks.after else ("\n",),
        )
        request = Infill(around, sampling=sampling, priority="normal", owner=job.owner)

        def edit(raw: str) -> Edit | None:
            lines = to_lf(raw).strip().split("\n")
            # a line as the model writes it has the indentation, and what each line begins with
            words = [line.removeprefix(indent).rstrip() for line in lines]
            if marks.between:
                words = [line.strip().removeprefix(marks.between.strip()).strip() for line in words]
            if not "".join(words) or any(len(indent + line) > WIDTH for line in words):
                return None
            body = f"\n{marks.between}".join(words)
            close = f"\n{marks.after}" if marks.is_inside and len(words) > 1 else marks.after
            text = "\n".join((indent + line).rstrip() for line in f"{marks.before}{body}{close}".split("\n"))
            return Edit(at, at, encode((text + "\n").replace("\n", newline)))

        async with aclosing(made(job.engine, plan, Asked(request, edit), begun)) as candidates:
            async for candidate in candidates:
                yield candidate

    def _indented(self, text: str, *, first: bool = True) -> str:
        """Each line with the spot's indentation; where it goes on from the hole, not the `first`."""
        head, *rest = text.split("\n")
        lines = [self.spot.indent + head if first else head, *(self.spot.indent + line for line in rest)]
        return self.job.document.newline.join(lines)
