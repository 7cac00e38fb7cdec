"""What is asked of the model for some candidates, and the candidates its answers make."""

import math
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

from lsp_harness.coding.turn_context import Job
from lsp_harness.coding.turn_prompt import filled, marks
from lsp_harness.context.infill_prompt import build_infill_prompt
from lsp_harness.context.repository_context import RepositoryContext
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import Chunk, InfillContext, ModelRequest, Usage
from lsp_harness.process.offload import offload
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode
from lsp_harness.verify.change import Author
from lsp_harness.workspace.cursor import Cursor

Kind = str
"""How a candidate came about, as a user reads it: "fill", "hinted fill", "import", "plain import", "rewrite" are asked
of the model; "known import" is of the index; the kinds of `coding.repair` need no model either."""

MODEL_COST = 9.0
"""The cost of what a model wrote: dearer than any repair that was found in the text."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Candidates over one prompt, `numbers` by name; the first has `seed`, the others those after it."""

    kind: Kind
    temperature: float
    seed: int
    numbers: tuple[int, ...]


def sampled(kind: Kind, temperature: float, drawn: int = 2) -> list[Plan]:
    """The likeliest answer, and so many `drawn` beside it."""
    likeliest = Plan(kind, 0.0, 0, (1,))
    return [likeliest, Plan(kind, temperature, 1, tuple(range(2, 2 + drawn)))] if drawn else [likeliest]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One proposal, before it is checked. `edits` is empty when the model gave nothing usable.

    `author` is who made it, which decides how much it may change; `cost` orders repairs made without a model, the
    likeliest first.
    """

    number: int
    plan: Plan
    edits: tuple[Edit, ...]
    usage: Usage
    author: Author = "repair"
    cost: float = MODEL_COST

    @property
    def seed(self) -> int:
        return self.plan.seed + self.plan.numbers.index(self.number)


class Asked(NamedTuple):
    """A request, and what edit an answer to it makes; None for an answer of no use."""

    request: ModelRequest
    edit: Callable[[str], Edit | None]


async def made(engine: Engine, plan: Plan, asked: Asked, begun: Callable[[], None]) -> AsyncGenerator[Candidate]:
    """The plan's candidates in the order in which they end; leaving early ends the others.

    `begun` is called when the prompt is evaluated.
    """
    texts = [""] * asked.request.sampling.n
    left = set(range(len(texts)))

    def candidate(index: int, text: str, usage: Usage) -> Candidate:
        edit = asked.edit(text)
        return Candidate(plan.numbers[index], plan, (edit,) if edit else (), usage)

    async with aclosing(cast("Any", engine.stream(asked.request))) as chunks:
        async for chunk in cast("AsyncIterator[Chunk]", chunks):
            begun()
            if chunk.index not in left:
                continue
            texts[chunk.index] += chunk.text
            if chunk.stop:
                left.discard(chunk.index)
                yield candidate(chunk.index, texts[chunk.index], chunk.usage)
            if not left:
                break
    # a server may have room for fewer than were asked for
    for index in sorted(left):
        yield candidate(index, "", Usage())


class Hole(NamedTuple):
    """What is around it, and the candidates that the model's context has room for beside that."""

    around: InfillContext
    candidates: Sequence[int]


async def hole(job: Job, span: tuple[int, int], typed: tuple[str, str], plan: Plan, answer: int) -> Hole:
    """The surroundings of `span`, taken out, as if the two parts of `typed` stood there, around the hole, and what
    other files say of it, as far as the context has room for that; the turn is told what they cost, beside the tokens
    that are kept for the `answer`. Raises NoAnswer where they and one answer are too much."""
    document, (start, end), (lead, tail) = job.document, span, typed
    data = document.data[:start] + encode(lead + tail) + document.data[end:]
    holed = Document.from_text(document.uri, data, language=document.language)
    at = start + len(encode(lead))
    tree, shares = await offload(len(holed.data), lambda: parse(holed)), job.config.completion
    prompt = await build_infill_prompt(Cursor(holed, tree, at, job.path), shares, job.engine.count)
    props = await job.engine.props()
    # what other files say gives way first
    room = props.n_ctx - prompt.tokens - marks(props) - answer if props.n_ctx else shares.repository_tokens
    if job.workspace and room > 0:
        # as a completion here has it, but for what was edited lately; chosen without what is typed and with time, so that all that is
        # asked about this place begins alike and is evaluated once
        elsewhere = RepositoryContext(job.workspace.index, job.engine.count, timeout_s=math.inf)
        bare = Document.from_text(document.uri, document.data[:start] + document.data[end:], language=document.language)
        bare_tree = await offload(len(bare.data), lambda: parse(bare))
        bare_cursor = Cursor(bare, bare_tree, start, job.path)
        found = await elsewhere.find_fragments(bare_cursor, min(room, shares.repository_tokens))
        prompt = replace(prompt, repository=found)
    fitting = await filled(job.engine, prompt.engine_input, prompt.sections, answer, job.turn, plan.numbers)
    return Hole(prompt.engine_input, fitting)


def reindented(new: str, old: str) -> str:
    """`new` with the indentation of `old`'s first line: models like to start at the margin."""
    have = new[: len(new) - len(new.lstrip(" \t"))]
    want = old[: len(old) - len(old.lstrip(" \t"))]
    if have == want:
        return new
    return "\n".join(want + line.removeprefix(have) if line.strip() else line for line in new.split("\n"))
