"""Rewrites of the target by one call of the model, without the harness: the baseline that the harness has to beat."""

import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, cast

from benchmarks.evaluation.suites.eval_task import splice
from benchmarks.evaluation.target_code import find_code_span
from benchmarks.evaluation.task_workspace import OpenTask
from lsp_harness.inference.grammar import find_code_block
from lsp_harness.inference.request import ChatRequest, Chunk, Sampling
from lsp_harness.text.code_lines import to_lf
from lsp_harness.text.position import Span, decode
from lsp_harness.verify.project_tests.confined_tests import SuiteRun

SYSTEM = "You are an expert programmer. Answer with the whole new code in one code block and nothing else."
EXTRA_TOKENS = 256
"""Tokens that a rewrite may add to the code."""
MIN_ANSWER_TOKENS = 768
MAX_FAILURES = 3
"""Failing tests that the prompt names, as the prompt of the harness does."""
ENDLESS = "TEST FAIL: the tests do not end, because of an endless loop or recursion, or they cannot be imported"
CODE_LINE = re.compile(r"^\s*(def |class |import |from |@|async def |return )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Rewrite:
    """The whole text of the target with one answer of the model.

    Attributes:
        text: The text, or an empty one if the answer has no code.
        is_cut: Whether the answer ended at the limit of tokens.
    """

    text: str
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class RewriteRequest:
    """The prompt for one target. `span` are the bytes of the old code."""

    span: Span
    request: ChatRequest


async def build_rewrite(opened: OpenTask) -> RewriteRequest:
    """Return the prompt. It has the code, the request, and the failing visible tests."""
    task, document = opened.task, opened.snapshot.document
    span = find_code_span(task, document)
    old = decode(document.data[slice(*span)])
    run = await opened.run_visible_tests(task.source) if task.kind == "fix" else None
    failures = describe_failures(run) if run else []
    rest = decode(document.data[: span.start] + document.data[span.end :]).strip()
    parts = [
        f"{'Repair this code' if task.kind == 'fix' else 'Change this code'}: {task.text}",
        *failures,
        *([f"The rest of the file, for information:\n```\n{rest}\n```"] if rest else []),
        f"The code:\n```\n{old.rstrip()}\n```",
    ]
    [size] = await opened.meter.count([old])
    sampling = Sampling(n_predict=max(size + EXTRA_TOKENS, MIN_ANSWER_TOKENS))
    return RewriteRequest(span, ChatRequest((("system", SYSTEM), ("user", "\n\n".join(parts))), sampling))


def describe_failures(run: SuiteRun) -> list[str]:
    """Return the failing tests as lines, or a line that says that the tests do not end."""
    if not run.is_complete:
        return [ENDLESS]
    return run.digest.lines(MAX_FAILURES) if run.digest.problems else []


async def generate_rewrites(
    opened: OpenTask, rewrite: RewriteRequest, *, temperature: float, seed: int, count: int
) -> AsyncGenerator[Rewrite]:
    """Yield rewrites when they are complete."""
    sampling = replace(rewrite.request.sampling, temperature=temperature, seed=seed, n=count)
    texts = [""] * count
    async with aclosing(cast("Any", opened.meter.stream(replace(rewrite.request, sampling=sampling)))) as chunks:
        async for chunk in cast("AsyncIterator[Chunk]", chunks):
            texts[chunk.index] += chunk.text
            if chunk.stop:
                code = find_code(texts[chunk.index])
                text = splice(opened.task.source, rewrite.span, code) if code else ""
                yield Rewrite(text, is_cut=not code and chunk.stop == "limit")


def find_code(answer: str) -> str:
    """Return the code of an answer, which may stand in a block or alone. Empty if there is none."""
    answer = to_lf(answer)
    code = find_code_block(answer)
    if code is None and "```" not in answer and CODE_LINE.search(answer):
        code = answer
    return f"{code.rstrip()}\n" if code and code.strip() else ""
