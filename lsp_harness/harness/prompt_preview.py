"""What the model would see: the prompt of a completion at a place, or of an edit there, in its parts."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, cast

from lsp_harness.coding.instruct import Instruct
from lsp_harness.coding.turn_prompt import fit_prompt
from lsp_harness.completion.request.completion_request import CompletionRequest, RequestBuilder
from lsp_harness.context.fragment import Fragment
from lsp_harness.context.prompt_budget import Allocation
from lsp_harness.context.repository_context import RepositoryChoice
from lsp_harness.errors import NoAnswer
from lsp_harness.harness.harness import Harness
from lsp_harness.inference.client import Engine
from lsp_harness.inference.infill_text import heal
from lsp_harness.inference.request import ChatRequest, Infill, Sampling, Usage
from lsp_harness.text.markdown import fence_code
from lsp_harness.text.position import Span
from lsp_harness.workspace.cursor import Cursor
from lsp_harness.workspace.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Prompt:
    """Its parts in prompt order, the `texts` of them that are evaluated, the `request` that has that done, and how many tokens the
    `answer` has at most."""

    title: str
    text: str
    fragments: Sequence[Fragment]
    texts: Sequence[str]
    request: Infill | ChatRequest
    answer: int
    context: int = 0
    """Tokens that the model's context has; 0 where nobody says."""
    likelier: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names that are made likelier in the answer, and why."""

    def over(self, parts: "Sequence[Part]") -> int:
        """How many of them are too few for the prompt and the answer."""
        whole = sum(part.tokens for part in parts)
        return Allocation({}, whole, self.answer, self.context).excess_tokens


@dataclass(frozen=True, slots=True)
class Part:
    """One part of an evaluated prompt; `reused` where all of it was resident."""

    origin: str
    reason: str
    tokens: int
    reused: bool
    text: str

    @property
    def first(self) -> str:
        """The first words of it, on a line."""
        line = next((line.strip() for line in self.text.split("\n") if line.strip()), "")
        return line if len(line) <= 40 else f"{line[:39]}…"


async def completion(harness: Harness, engine: Engine, snapshot: Snapshot, offset: int) -> Prompt:
    """Return the prompt of a completion at a byte offset, as it would be requested now.

    Args:
        harness: The harness with the settings and the index.
        engine: Counts the tokens.
        snapshot: The document.
        offset: The byte offset of the cursor.

    Raises:
        NoAnswer: No model may see the file.
    """
    _check(harness, snapshot)
    repository = harness.services.ready_completer().repository
    if repository:
        repository = repository.with_counter(engine.count)
    requests = RequestBuilder(engine, harness.config.completion, repository=repository)
    cursor = Cursor(snapshot.document, harness.tree(snapshot), offset, snapshot.path)
    completion_request = await requests.build(cursor, RepositoryChoice())
    prompt = completion_request.prompts[0]
    # the word that is being typed is no part of the prompt, the answer begins with it
    texts = [*(fragment.text for fragment in prompt.fragments[:-1]), heal(prompt.prefix.text)[0]]
    [request] = completion_request.evaluation_infills([prompt])
    tokens = completion_request.urgent_infill().sampling.n_predict
    props = await engine.props()
    likelier = _likelier(completion_request) if props.features.get("expected") else {}
    return Prompt("Completion", prompt.render(), prompt.fragments, texts, request, tokens, props.n_ctx, likelier)


def _likelier(request: CompletionRequest) -> dict[str, str]:
    needed = (name.rpartition(" ")[2] for name in request.unbound_names)
    return dict.fromkeys(request.expected_names, "imported and not used") | dict.fromkeys(needed, "needed below")


async def edit(harness: Harness, engine: Engine, snapshot: Snapshot, span: Span, task: str) -> Prompt:
    """Return the prompt of an edit by instruction.

    Args:
        harness: The harness with the settings and the index.
        engine: Counts the tokens.
        snapshot: The document.
        span: The bytes to edit.
        task: The instruction.

    Raises:
        NoAnswer: No model may see the file.
        BinaryDocument: The document is not text.
        UsageError: The workspace is not trusted.
    """
    _check(harness, snapshot)
    harness.check(snapshot)
    job = replace(harness.job(snapshot, lambda progress: None), engine=engine)
    asked, answer = await Instruct(job, span, task).first_prompt()
    (text, _), context = await fit_prompt(engine, asked, answer), (await engine.props()).n_ctx
    texts = [fragment.text for fragment in asked.fragments]
    request = ChatRequest(asked.messages, Sampling(n_predict=0), priority="background", owner=job.owner)
    return Prompt(f"Edit: {task}", text, asked.fragments, texts, request, answer, context)


async def evaluated(engine: Engine, prompt: Prompt) -> tuple[list[Part], Usage]:
    """Has it evaluated: its parts, together all of it to the token, with what marks where they begin, and what that cost."""
    usage = Usage()
    async with aclosing(cast("Any", engine.stream(prompt.request))) as chunks:
        async for chunk in chunks:
            usage = chunk.usage
    return list(_parts(prompt, await engine.count(prompt.texts), usage)), usage


def document(prompt: Prompt, parts: Sequence[Part], usage: Usage, guess: str = "") -> str:
    """Markdown: a table of the parts, and the prompt; `guess` says why its numbers are estimates."""
    rows = [
        f"| {_cell(part.first)} | {_cell(part.origin)} | {part.reason} | {part.tokens} | {_how(part)} |"
        for part in parts
    ]
    rows += [f"| | | {what} | {tokens} | {how} |" for what, tokens, how in sums(prompt, parts, usage)]
    head = ["| fragment | origin | reason | tokens | |", "| --- | --- | --- | ---: | --- |"]
    said = [f"Token counts are estimates: {guess}.", ""] if guess else []
    return "\n".join([f"# {prompt.title}", "", *said, *head, *rows, "", *fence_code(prompt.text), ""])


def sums(prompt: Prompt, parts: Sequence[Part], usage: Usage) -> Iterator[tuple[str, int, str]]:
    """What stands below the parts: what it is, its tokens, and what is to be said of them."""
    total = sum(part.tokens for part in parts)
    yield "whole prompt", total, f"{usage.evaluated:,} evaluated, {usage.reused:,} reused"
    yield "reserved for the answer, at most", prompt.answer, ""
    if prompt.context:
        over = prompt.over(parts)
        yield "the model's context", prompt.context, f"{over:,} too small" if over else ""
    if prompt.likelier:
        names = ", ".join(f"{name} ({why})" for name, why in prompt.likelier.items())
        yield "names that are made more likely", len(prompt.likelier), names


def _check(harness: Harness, snapshot: Snapshot) -> None:
    if why := harness.workspace.private_reason(snapshot):
        raise NoAnswer(f"{snapshot.path} is {why}")


def _parts(prompt: Prompt, costs: Sequence[int], usage: Usage) -> Iterator[Part]:
    marks = max(0, usage.evaluated + usage.reused - sum(costs))
    fragments = [Fragment("", marks, "", "marks between the parts")] if marks else []
    fragments += [replace(one, tokens=cost) for one, cost in zip(prompt.fragments, costs, strict=True)]
    behind = accumulate(one.tokens for one in fragments)
    for one, end in zip(fragments, behind, strict=True):
        yield Part(one.origin, one.reason, one.tokens, end <= usage.reused, one.text)


def _how(part: Part) -> str:
    return "reused" if part.reused else "evaluated"


def _cell(text: str) -> str:
    return f"`{text.replace('`', ' ').replace('|', ' ')}`" if text else ""
