"""Code → what it does, in words. Nothing checks words; the answer says that it is the model's."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

from lsp_harness.config.schema import Config
from lsp_harness.errors import NoAnswer
from lsp_harness.files.secrets import secret_lines
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import Chunk, Continuation, Owner, Sampling
from lsp_harness.pipeline.offers import Progress, Report
from lsp_harness.pipeline.selection import chosen
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, decode

SYSTEM = "You explain code to a programmer: first in one sentence what it does, then in a few what is worth knowing."
TOKENS = 220


@dataclass(frozen=True, slots=True)
class Explain:
    """What the lines of `span` do."""

    engine: Engine
    config: Config
    document: Document
    span: Span
    report: Report
    persist: bool = False

    async def run(self) -> str:
        """Markdown. Raises NoAnswer."""
        document = self.document
        place, hidden = chosen(document, parse(document), self.span), secret_lines(document)
        if place is None:
            raise NoAnswer("There is nothing here to explain; select the lines it is about")
        if not hidden.isdisjoint(range(document.line_of(place.start), document.line_of(place.end) + 1)):
            raise NoAnswer("This holds what looks like a secret and is not given to the model")
        code = decode(document.data[slice(*place)])
        [size] = await self.engine.count([code])
        if size > (most := self.config.context.code_budget):
            raise NoAnswer(f"{size} tokens are selected, context.code_budget is {most}; select less")
        user = f"```{document.language}\n{code}\n```\n\nExplain this code."
        prompt = await self.engine.chat_prompt([("system", SYSTEM), ("user", user)])
        owner = Owner(persist=self.persist and not hidden, affinity=document.uri)
        text = await self._read(Continuation(prompt, Sampling(n_predict=TOKENS), owner=owner))
        if not text:
            raise NoAnswer("The model had nothing to say of it")
        return f"{text}\n\n*The model's words; nothing has checked them.*\n"

    async def _read(self, request: Continuation) -> str:
        text, stop = "", None
        async with aclosing(cast("Any", self.engine.stream(request))) as chunks:
            async for chunk in cast("AsyncIterator[Chunk]", chunks):
                text, stop = text + chunk.text, chunk.stop
                self.report(Progress(f"{len(text.split())} words"))
                if stop:
                    break
        # cut off by the limit, it ends with its last whole sentence
        whole = max(text.rfind(mark) for mark in (". ", ".\n"))
        return text[: whole + 1].strip() if stop == "limit" and whole > 0 else text.strip()
