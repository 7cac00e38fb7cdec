"""Code → what it does, in words. Nothing checks words; the answer says that it is the model's."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, cast

from lsp_harness.coding.selection import chosen
from lsp_harness.coding.turn_context import Job
from lsp_harness.coding.turn_prompt import budget, prompted
from lsp_harness.context.code_selection import CodeSelection
from lsp_harness.context.context_inputs import InstructionInputs
from lsp_harness.context.instruction_prompt import build_instruction_prompt, fit_task
from lsp_harness.errors import NoAnswer
from lsp_harness.files.secrets import secret_lines
from lsp_harness.inference.request import ChatRequest, Chunk, Sampling
from lsp_harness.process.offload import offload
from lsp_harness.session.results import Progress
from lsp_harness.session.turn_events import InvocationReceived
from lsp_harness.syntax.tree import parse
from lsp_harness.text.position import Span, decode
from lsp_harness.text.wording import format_count

SYSTEM = "You explain code to a programmer: first in one sentence what it does, then in a few what is worth knowing."
TOKENS = 220


@dataclass(frozen=True, slots=True)
class Explain:
    """What the lines of `span` do."""

    job: Job
    span: Span

    async def run(self) -> str:
        """Markdown. Raises NoAnswer."""
        job, document = self.job, self.job.document
        job.turn.append(InvocationReceived("explain", "what this does", job.path))
        tree = await offload(len(document.data), lambda: parse(document))
        place, hidden = chosen(document, tree, self.span), secret_lines(document)
        if place is None:
            raise NoAnswer("There is no code here to explain; select the lines")
        if not hidden.isdisjoint(range(document.line_of(place.start), document.line_of(place.end) + 1)):
            raise NoAnswer("This contains what looks like a secret, so it is not sent to the model")
        # how such code is written here says nothing of what this does
        shares, count = replace(job.config.context, few_shot_examples=0), job.engine.count
        [size] = await count([decode(document.data[slice(*place)])])
        if size > (most := shares.code_budget):
            raise NoAnswer(f"the selection has {size} tokens, and context.code_budget allows {most}; select less")
        inputs = InstructionInputs(
            CodeSelection(document, tree, place, job.path),
            await budget(job.engine, shares, TOKENS),
            count,
            job.workspace,
            job.packages,
        )
        task = await fit_task("Explain this code.", (), shares.task_budget, count)
        asked = await build_instruction_prompt(inputs, system=SYSTEM, task=task)
        await prompted(job.engine, asked, TOKENS, job.turn)
        text = await self._read(ChatRequest(asked.messages, Sampling(n_predict=TOKENS), owner=job.owner))
        if not text:
            raise NoAnswer("The model gave no explanation")
        return f"{text}\n\n*This text is the model's. It has not been checked.*\n"

    async def _read(self, request: ChatRequest) -> str:
        text, stop = "", None
        async with aclosing(cast("Any", self.job.engine.stream(request))) as chunks:
            async for chunk in cast("AsyncIterator[Chunk]", chunks):
                text, stop = text + chunk.text, chunk.stop
                self.job.report(Progress(format_count(len(text.split()), "word")))
                if stop:
                    break
        # cut off by the limit, it ends with its last whole sentence
        whole = max(text.rfind(mark) for mark in (". ", ".\n"))
        return text[: whole + 1].strip() if stop == "limit" and whole > 0 else text.strip()
