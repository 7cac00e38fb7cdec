"""Candidates for one fix: the statement filled in again, its imports completed, the function rewritten.

What small models can do is fill a hole; so most candidates are holes, and only the last few ask for a rewrite, told
what was wrong with the ones before.
"""

import re
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Literal, cast

from lsp_harness.config.resources import resource
from lsp_harness.config.schema import Config
from lsp_harness.context.infill import infill
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import Around, Continuation, Infill, Sampling, Usage
from lsp_harness.pipeline.ghost import Ghost
from lsp_harness.pipeline.lines import to_lf
from lsp_harness.pipeline.locate import Place
from lsp_harness.pipeline.shape import shape
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import decode, encode
from lsp_harness.verify.finding import Finding

Kind = Literal["fill", "hinted fill", "import", "rewrite"]
FENCE = re.compile(r"```[^\n]*\n(.*?)(?:\n```|\Z)", re.DOTALL)
SYSTEM = "You repair code. Answer with the corrected code in one code block and nothing else."


@dataclass(frozen=True, slots=True)
class Plan:
    """How one candidate is to be made."""

    kind: Kind
    temperature: float
    seed: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """One proposed replacement; `edit` is None when the model gave nothing usable."""

    number: int
    plan: Plan
    edit: Edit | None
    usage: Usage


def plans(config: Config, place: Place) -> tuple[list[Plan], list[Plan]]:
    """Fills and rewrites, together `generation.candidates`; rewrites are the retries that get feedback."""
    total = max(1, config.generation.candidates)
    rewrites = min(config.generation.max_retries, total - 1) if place.function else 0
    heat = config.generation.temperature
    kinds: list[Kind] = ["fill", "hinted fill"]
    if place.unknown_name:
        kinds = ["fill", "import", "hinted fill", "import"]
    fills: list[Plan] = []
    for n in range(total - rewrites):
        kind = kinds[n % len(kinds)]
        # the first of each kind is the model's best guess, the others are drawn warmer and warmer
        first = n < len(kinds) and kind not in [p.kind for p in fills]
        fills.append(Plan(kind, 0.0 if first else heat + 0.1 * (n // len(kinds)), n))
    return fills, [Plan("rewrite", 0.0 if n == 0 else heat, 100 + n) for n in range(rewrites)]


class Generator:
    """Makes candidates for one place of one document."""

    def __init__(
        self, engine: Engine, config: Config, tree: SyntaxTree, place: Place, finding: Finding, path: str
    ) -> None:
        self._engine = engine
        self._config = config
        self._tree = tree
        self._document = tree.document
        self._place = place
        self._finding = finding
        self._path = path

    async def make(self, number: int, plan: Plan, feedback: Sequence[str] = ()) -> Candidate:
        """One candidate; `feedback` lines are what the gates said of earlier ones."""
        if plan.kind == "rewrite":
            edit, usage = await self._rewrite(plan, feedback)
        elif plan.kind == "import":
            edit, usage = await self._import(plan)
        else:
            edit, usage = await self._fill(plan)
        return Candidate(number, plan, edit, usage)

    async def _fill(self, plan: Plan) -> tuple[Edit | None, Usage]:
        """The statement, taken out and written again."""
        start, end = self._place.statement
        hint = self._hint() if plan.kind == "hinted fill" else ""
        old_lines = self._document.data.count(b"\n", start, end) + 1
        text, usage = await self._hole(start, end, hint, plan, lines=old_lines)
        comment = self._tree.language.comment
        if not text or (comment and all(line.strip().startswith(comment) for line in text.splitlines())):
            # throwing the statement away silences the diagnostic, but is no repair
            return None, usage
        return Edit(start, end, encode(text)), usage

    def _hint(self) -> str:
        """Comment lines that tell what was there and what is wrong with it; part of the prompt, not of the edit."""
        start, end = self._place.statement
        comment = self._tree.language.comment
        if not comment:
            return ""
        indent = decode(self._document.data[self._document.starts[self._document.line_of(start)] : start])
        indent = indent if indent.isspace() else ""
        old = " ".join(decode(self._document.data[start:end]).split())
        return f"{comment} wrong: {old}\n{indent}{comment} error: {self._finding.message}\n{indent}{comment} right:\n{indent}"

    async def _import(self, plan: Plan) -> tuple[Edit | None, Usage]:
        """A line among the imports that brings the unknown name in."""
        at = self._place.imports_end
        lead = "import " if plan.seed % 4 == 3 else "from "
        text, usage = await self._hole(at, at, lead, plan, lines=1, newline=True)
        line = f"{lead}{text}".rstrip()
        if not text or self._place.unknown_name not in line:
            return None, usage
        return Edit(at, at, encode(line + self._document.newline)), usage

    async def _hole(
        self, start: int, end: int, lead: str, plan: Plan, *, lines: int, newline: bool = False
    ) -> tuple[str, Usage]:
        """Fill `start`..`end` of the document, as if `lead` had been typed there (on a line of its own: `newline`)."""
        typed, tail = encode(lead), encode(self._document.newline if newline else "")
        data = self._document.data
        holed = Document.of(
            self._document.uri, data[:start] + typed + tail + data[end:], language=self._document.language
        )
        at = start + len(typed)
        prompt = await infill(holed, parse(holed), at, self._path, self._config.completion, self._engine.count)
        sampling = Sampling(
            n_predict=min(self._config.completion.max_tokens * lines, 400),
            temperature=plan.temperature,
            seed=plan.seed,
            stop=("\n",) if lines == 1 else ("\n\n",),
        )
        extra = ((prompt.outline.origin, prompt.outline.text),) if prompt.outline.text else ()
        raw, usage = await self._ask(
            Infill(Around(prompt.prefix.text, prompt.suffix.text, extra), sampling=sampling, priority="normal")
        )
        mode = "line" if lines == 1 else "block"
        language = self._tree.language.id
        ghost = Ghost(prompt.prefix.text, prompt.suffix.text, raw, mode, language, self._document.newline)
        return shape(ghost).text or "", usage

    async def _rewrite(self, plan: Plan, feedback: Sequence[str]) -> tuple[Edit | None, Usage]:
        """The whole enclosing function, by instruction."""
        assert self._place.function is not None
        start, end = self._place.function
        old = decode(self._document.data[start:end])
        lines = [f"Problem at line {self._place.line_in_function}: {self._finding.message}"]
        if feedback:
            lines += ["Earlier attempts failed:", *feedback]
        task = "\n".join(lines)
        [cost] = await self._engine.count([task])
        if cost > self._config.context.task_budget:
            task = lines[0]
        [size] = await self._engine.count([old])
        if size > self._config.context.code_budget:
            return None, Usage()
        language = self._tree.language.id
        user = f"{task}\n\n```{language}\n{old}\n```"
        prompt = await self._engine.chat_prompt([("system", SYSTEM), ("user", user)])
        grammar = resource("gbnf", "code_block.gbnf").read_text()
        sampling = Sampling(n_predict=size + 128, temperature=plan.temperature, seed=plan.seed, grammar=grammar)
        raw, usage = await self._ask(Continuation(prompt, sampling))
        found = FENCE.search(to_lf(raw))
        if not found:
            return None, usage
        new = _reindented(found.group(1).rstrip(), old)
        if old.endswith("\n"):
            new += "\n"
        return Edit(start, end, encode(new.replace("\n", self._document.newline))), usage

    async def _ask(self, request: Continuation | Infill) -> tuple[str, Usage]:
        text, usage = "", Usage()
        async with aclosing(cast("Any", self._engine.stream(request))) as chunks:
            async for chunk in chunks:
                text += chunk.text
                usage = chunk.usage if chunk.stop else usage
        return text, usage


def _reindented(new: str, old: str) -> str:
    """`new` with the indentation of `old`'s first line: models like to start at the margin."""
    have = new[: len(new) - len(new.lstrip(" \t"))]
    want = old[: len(old) - len(old.lstrip(" \t"))]
    if have == want:
        return new
    return "\n".join(want + line.removeprefix(have) if line.strip() else line for line in new.split("\n"))
