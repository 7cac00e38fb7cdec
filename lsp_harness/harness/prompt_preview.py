"""The prompt that the model would see, of a completion at a place or of an edit there, in its parts."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, cast

from lsp_harness.coding.instruct import Instruct
from lsp_harness.coding.turn.turn_prompt import fit_prompt
from lsp_harness.completion.completion_request import CompletionRequest, RequestBuilder
from lsp_harness.context.fragment import Fragment
from lsp_harness.context.prompt_budget import Allocation
from lsp_harness.context.repository_context import RepositoryChoice
from lsp_harness.errors import NoAnswer
from lsp_harness.harness.completion_verbs import CompletionVerbs
from lsp_harness.harness.edits.turns import Turns, TurnWork
from lsp_harness.harness.services import Services
from lsp_harness.inference.infill_text import heal
from lsp_harness.inference.prompt_ceilings import PromptLimit
from lsp_harness.inference.request import ChatRequest, Infill, Sampling, Usage
from lsp_harness.inference.token_estimate import EstimatingEngine
from lsp_harness.text.position import Span
from lsp_harness.text.wording import fence_code
from lsp_harness.workspace.cursor import Cursor
from lsp_harness.workspace.snapshot import Snapshot

MAX_LABEL_CHARS = 40


@dataclass(frozen=True, slots=True)
class Part:
    """One part of an evaluated prompt.

    Attributes:
        origin: The file that the part comes from.
        reason: Why it is in the prompt.
        tokens: Its size in tokens.
        reused: Whether all of it was in the cache of the engine.
        text: The text of the part.
    """

    origin: str
    reason: str
    tokens: int
    reused: bool
    text: str

    @property
    def label(self) -> str:
        """The first words of the part, on one line."""
        line = next((line.strip() for line in self.text.split("\n") if line.strip()), "")
        return line if len(line) <= MAX_LABEL_CHARS else f"{line[: MAX_LABEL_CHARS - 1]}…"


@dataclass(frozen=True, slots=True)
class PreviewedPrompt:
    """A prompt before it is evaluated.

    Attributes:
        title: What the prompt is for.
        text: The text of the whole prompt.
        fragments: The parts in their order.
        texts: The texts of the parts that are evaluated.
        request: Evaluates the prompt without an answer.
        answer: The largest number of tokens of the answer.
        context: The number of tokens of the model's context. 0 if it is not known.
        likelier: Names that are made more likely in the answer, and why.
    """

    title: str
    text: str
    fragments: Sequence[Fragment]
    texts: Sequence[str]
    request: Infill | ChatRequest
    answer: int
    context: int = 0
    likelier: Mapping[str, str] = field(default_factory=dict[str, str])

    def excess_tokens(self, parts: Sequence[Part]) -> int:
        """Return by how many tokens the context is too small for the prompt and the answer."""
        total = sum(part.tokens for part in parts)
        return Allocation({}, total, self.answer, self.context).excess_tokens

    def totals(self, parts: Sequence[Part], usage: Usage) -> Iterator[tuple[str, int, str]]:
        """Yield the lines below the parts: a description, a number of tokens, and a remark."""
        total = sum(part.tokens for part in parts)
        yield "whole prompt", total, f"{usage.evaluated:,} evaluated, {usage.reused:,} reused"
        yield "reserved for the answer, at most", self.answer, ""
        if self.context:
            excess = self.excess_tokens(parts)
            yield "the model's context", self.context, f"{excess:,} too small" if excess else ""
        if self.likelier:
            names = ", ".join(f"{name} ({reason})" for name, reason in self.likelier.items())
            yield "names that are made more likely", len(self.likelier), names


class PromptPreviews:
    """Builds and evaluates prompts without asking for an answer.

    Args:
        services: The settings, documents, engine and checks that all parts of the harness share.
        turns: Begins the turn that an edit would be.
        completions: Knows the code of other files that a completion sees.
        engine: Counts the tokens. It estimates them if the real engine does not answer soon.
    """

    def __init__(
        self, services: Services, turns: Turns, completions: CompletionVerbs, engine: EstimatingEngine
    ) -> None:
        self._services = services
        self._turns = turns
        self._completions = completions
        self._engine = engine

    @property
    def estimate_reason(self) -> str:
        """Why the numbers of tokens are estimates. Empty if the model counted them."""
        return self._engine.reason

    async def completion(self, snapshot: Snapshot, offset: int) -> PreviewedPrompt:
        """Return the prompt of a completion at a byte offset.

        Args:
            snapshot: The text.
            offset: The byte offset.

        Raises:
            NoAnswer: No model may see this file.
        """
        self._check_private(snapshot)
        engine, services = self._engine, self._services
        repository = self._completions.repository()
        if repository:
            repository = repository.with_counter(engine.count)
        requests = RequestBuilder(engine, services.config.completion, repository=repository)
        cursor = Cursor(snapshot.document, services.documents.tree(snapshot.document), offset, snapshot.path)
        completion = await requests.build(cursor, RepositoryChoice())
        prompt = completion.prompts[0]
        # the word that is being typed is no part of the prompt: the answer begins with it
        texts = [*(fragment.text for fragment in prompt.fragments[:-1]), heal(prompt.prefix.text)[0]]
        [request] = completion.evaluation_infills([prompt])
        props = await engine.props()
        return PreviewedPrompt(
            title="Completion",
            text=prompt.render(),
            fragments=prompt.fragments,
            texts=texts,
            request=request,
            answer=completion.urgent_infill("quick").sampling.n_predict,
            context=props.n_ctx,
            likelier=_likelier_names(completion) if props.features.get("expected") else {},
        )

    async def edit(self, snapshot: Snapshot, span: Span, task: str) -> PreviewedPrompt:
        """Return the prompt of an edit by an instruction.

        Args:
            snapshot: The text.
            span: The lines to edit, in bytes.
            task: The instruction of the user.

        Raises:
            NoAnswer: No model may see this file, or there is no code to edit.
            BinaryDocument: The file is binary.
            UsageError: The workspace is not trusted.
        """
        self._check_private(snapshot)
        self._turns.require_editable(snapshot)
        engine = self._engine
        work = TurnWork("edit", task, snapshot, lambda progress: None)
        # a preview leaves no events
        turn = self._services.session.log.turn(is_saved=False)
        context = replace(self._turns.create_context(work, turn), engine=engine)
        instruction, answer = await Instruct(context, span, task).first_prompt()
        text, _ = await fit_prompt(engine, instruction, PromptLimit.of("edit", context.config), answer)
        return PreviewedPrompt(
            title=f"Edit: {task}",
            text=text,
            fragments=instruction.fragments,
            texts=[fragment.text for fragment in instruction.fragments],
            request=ChatRequest(
                instruction.messages, Sampling(n_predict=0), priority="background", owner=context.owner
            ),
            answer=answer,
            context=(await engine.props()).n_ctx,
        )

    async def evaluate(self, prompt: PreviewedPrompt) -> tuple[list[Part], Usage]:
        """Evaluate a prompt.

        Returns:
            The parts of the whole prompt, together with the marks between them, and the work that it took.
        """
        usage = Usage()
        async with aclosing(cast("Any", self._engine.stream(prompt.request))) as chunks:
            async for chunk in chunks:
                usage = chunk.usage
        return list(_list_parts(prompt, await self._engine.count(prompt.texts), usage)), usage

    def render(self, prompt: PreviewedPrompt, parts: Sequence[Part], usage: Usage) -> str:
        """Return a Markdown document with a table of the parts, and the prompt."""
        rows = [
            f"| {_escape_cell(part.label)} | {_escape_cell(part.origin)} | {part.reason} "
            f"| {part.tokens} | {_name_source(part)} |"
            for part in parts
        ]
        totals = prompt.totals(parts, usage)
        rows += [f"| | | {description} | {tokens} | {remark} |" for description, tokens, remark in totals]
        head = ["| fragment | origin | reason | tokens | |", "| --- | --- | --- | ---: | --- |"]
        warning = [f"Token counts are estimates: {self.estimate_reason}.", ""] if self.estimate_reason else []
        return "\n".join([f"# {prompt.title}", "", *warning, *head, *rows, "", *fence_code(prompt.text), ""])

    def _check_private(self, snapshot: Snapshot) -> None:
        if reason := self._services.workspace.private_reason(snapshot):
            raise NoAnswer(f"{snapshot.path} is {reason}")


def _likelier_names(request: CompletionRequest) -> dict[str, str]:
    needed = request.missing_names.names
    return dict.fromkeys(request.expected_names, "imported and not used") | dict.fromkeys(needed, "needed below")


def _list_parts(prompt: PreviewedPrompt, costs: Sequence[int], usage: Usage) -> Iterator[Part]:
    marks = max(0, usage.evaluated + usage.reused - sum(costs))
    fragments = [Fragment("", marks, "", "marks between the parts")] if marks else []
    fragments += [replace(fragment, tokens=cost) for fragment, cost in zip(prompt.fragments, costs, strict=True)]
    ends = accumulate(fragment.tokens for fragment in fragments)
    for fragment, end in zip(fragments, ends, strict=True):
        yield Part(fragment.origin, fragment.reason, fragment.tokens, end <= usage.reused, fragment.text)


def _name_source(part: Part) -> str:
    return "reused" if part.reused else "evaluated"


def _escape_cell(text: str) -> str:
    return f"`{text.replace('`', ' ').replace('|', ' ')}`" if text else ""
