"""Explains code in words. Nothing can check words, so the answer says that the model wrote it."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, cast

from lsp_harness.coding.selection import select_code
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.coding.turn.turn_prompt import create_budget, fit_prompt
from lsp_harness.context.context_inputs import CodeSelection, InstructionInputs
from lsp_harness.context.instruction_prompt import build_instruction_prompt, fit_task
from lsp_harness.errors import NoAnswer
from lsp_harness.files.secrets import find_secret_lines, find_secrets
from lsp_harness.inference.prompt_ceilings import PromptLimit
from lsp_harness.inference.request import ChatRequest, Chunk, Sampling
from lsp_harness.kernel.results import Progress
from lsp_harness.process.offload import offload
from lsp_harness.syntax.tree import parse
from lsp_harness.text.position import Span, decode, encode
from lsp_harness.text.wording import format_count

SYSTEM = "You explain code to a programmer: first in one sentence what it does, then in a few what is worth knowing."
ANSWER_TOKENS = 220


@dataclass(frozen=True, slots=True)
class Explain:
    """The task that lets the model explain the lines of a span, or answer a question about them. Run it once."""

    context: TurnContext
    span: Span
    question: str = ""

    async def run(self) -> str:
        """Return the explanation as Markdown. Raises NoAnswer."""
        context, document = self.context, self.context.document
        tree = await offload(len(document.data), lambda: parse(document))
        span, lines_with_secrets = select_code(document, tree, self.span), find_secret_lines(document)
        if span is None:
            raise NoAnswer("there is no code here to explain; select the lines")
        lines = range(document.line_of(span.start), document.line_of(span.end) + 1)
        if not lines_with_secrets.isdisjoint(lines) or find_secrets(encode(self.question)):
            raise NoAnswer("this code contains what looks like a secret, so it is not sent to the model")
        # examples of the project's style do not explain this code
        settings, count = replace(context.config.context, few_shot_examples=0), context.engine.count
        [size] = await count([decode(document.data[slice(*span)])])
        if size > (budget := settings.code_budget):
            raise NoAnswer(f"the selection has {size} tokens, and context.code_budget allows {budget}; select less")
        inputs = InstructionInputs(
            CodeSelection(document, tree, span, context.path),
            await create_budget(context.engine, settings, ANSWER_TOKENS),
            count,
            context.workspace,
            context.packages,
        )
        question = f"Answer this question about the code: {self.question}" if self.question else "Explain this code."
        task = await fit_task(question, (), settings.task_budget, count)
        prompt = await build_instruction_prompt(inputs, system=SYSTEM, task=task)
        limit = PromptLimit.of("explain", context.config)
        await fit_prompt(context.engine, prompt, limit, ANSWER_TOKENS, context.turn)
        sampling = Sampling(n_predict=ANSWER_TOKENS)
        text = await self._read_answer(ChatRequest(prompt.messages, sampling, owner=context.owner))
        if not text:
            raise NoAnswer("The model gave no explanation")
        return f"{text}\n\n*This text is the model's. It has not been checked.*\n"

    async def _read_answer(self, request: ChatRequest) -> str:
        text, stop = "", None
        async with aclosing(cast("Any", self.context.engine.stream(request))) as chunks:
            async for chunk in cast("AsyncIterator[Chunk]", chunks):
                text, stop = text + chunk.text, chunk.stop
                self.context.report(Progress(format_count(len(text.split()), "word")))
                if stop:
                    break
        # an answer that reached the limit ends with its last whole sentence
        sentence_end = max(text.rfind(mark) for mark in (". ", ".\n"))
        return text[: sentence_end + 1].strip() if stop == "limit" and sentence_end > 0 else text.strip()
