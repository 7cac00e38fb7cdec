"""Explains code in a few sentences of the model. Nothing can check them, so the answer says that the model wrote them.

A sentence that names something which the code does not have is invented, and is left out.
"""

import re
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
ANSWER_TOKENS = 140
MAX_SENTENCES = 3
MARK = "*These sentences are the model's. They have not been checked.*"
NOTHING_LEFT = "The model wrote only sentences about names that this code does not have, so none is shown."
SENTENCE_END = re.compile(r"(?<=[.!?])[\"'`)]*\s+(?=[\"'`(*\-\d]*[A-Z\d`*-])|\n+")
NAME_IN_PROSE = re.compile(
    r"`([^`]+)`|\b([A-Za-z_]\w*(?=\())|\b(\w*[a-z0-9]_\w+|_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|\d+(?:\.\d+)?)\b"
)
"""Matches a name or a number in a sentence: in backticks, before a bracket, or with the form of a name."""


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
            raise NoAnswer(
                f"this code has {size} tokens, and context.code_budget allows {budget}; select or name a part of it"
            )
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
        sentences = keep_supported_sentences(text, f"{context.path}\n{decode(document.data[slice(*span)])}")
        return f"{' '.join(sentences)}\n\n{MARK}\n" if sentences else f"{NOTHING_LEFT}\n"

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


def keep_supported_sentences(text: str, code: str) -> list[str]:
    """Return the first sentences of an explanation whose names and numbers are all in the code.

    Args:
        text: The explanation.
        code: The code with the path of its file.
    """
    known = set(re.findall(r"\w+", code))
    sentences = [part.strip(" \t-*#").strip() for part in SENTENCE_END.split(text)]
    supported = [one for one in sentences if re.search(r"\w", one) and _list_names(one) <= known]
    # a heading such as “Here is what it does:” says nothing without its list
    return [one for one in supported if not one.endswith(":")][:MAX_SENTENCES]


def _list_names(sentence: str) -> set[str]:
    found = {name for match in NAME_IN_PROSE.finditer(sentence) for name in match.groups() if name}
    return {word for name in found for word in re.findall(r"\w+", name)}
