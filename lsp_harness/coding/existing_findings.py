"""What else is wrong with code that is to be changed: lines of the task, below what the change is for."""

from collections.abc import Iterator, Sequence

from lsp_harness.coding.turn_context import Job
from lsp_harness.files.secrets import find_secrets
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, encode
from lsp_harness.verify.current_findings import examine_text
from lsp_harness.verify.digest.problem import Problem
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.resolved_check import SHARED_RULES

MOST = 5
"""Lines."""
WIDTH = 240
BROKEN = ("syntax", "invalid-syntax", "E9", "F7", "F82")
"""Codes of what does not run as it is."""


async def beside(job: Job, tree: SyntaxTree | None, span: Span, but: Finding | None = None) -> list[str]:
    """A line for each thing that our checks find in a span, and that the job was told of it by a tool's output; the
    lines they name are counted in it, from 1. Of what is no matter of style, beside a finding that is to be mended,
    `but` for which all count; else only of what is broken: to who is to do something else, the rest would be one more
    thing to do."""
    told = job.output.problems if job.output else ()
    found = (await examine_text(job.document, tree, job.ruff, job.file, job.root)).findings
    said = dict.fromkeys((*_found(job.document, span, found, but), *_told(job.document, span, told, but)))
    return [line for line in said if not find_secrets(encode(line))][:MOST]


def _found(document: Document, span: Span, found: Sequence[Finding], but: Finding | None) -> Iterator[str]:
    first = document.line_of(span.start)
    for one in sorted(found, key=lambda finding: finding.start):
        line = document.line_of(one.start)
        # other tools say it in other words
        place = but and (one.start, one.end) == (but.start, but.end)
        same = place or (but and line == document.line_of(but.start) and one.message == but.message)
        counts = one.code.startswith(("syntax", *SHARED_RULES) if but else BROKEN)
        if span.start <= one.start < span.end and counts and not same:
            yield _line(line - first, one.code, one.message)


def _told(document: Document, span: Span, told: Sequence[Problem], but: Finding | None) -> Iterator[str]:
    first, last = document.line_of(span.start) + 1, document.line_of(max(span.start, span.end - 1)) + 1
    for one in told:
        if but and one.message in but.message:
            continue
        if one.test:
            yield _short(f"TEST FAIL: {one.title} — {one.message}")
        elif first <= one.line <= last:
            yield _line(one.line - first, one.code, one.message)


def _line(below: int, code: str, message: str) -> str:
    return _short(f"Also at line {below + 1}: {code} {message}")


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"
