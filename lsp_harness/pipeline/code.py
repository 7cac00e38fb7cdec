"""A diagnostic → a verified edit: UNDERSTAND, LOCATE, GENERATE, VERIFY, COMPLETE."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.config.schema import Config
from lsp_harness.context.secrets import secret_lines, secret_path
from lsp_harness.inference.client import Engine
from lsp_harness.pipeline.candidates import Generator, plans
from lsp_harness.pipeline.locate import locate
from lsp_harness.pipeline.offers import Proposal
from lsp_harness.pipeline.pace import Pace
from lsp_harness.pipeline.work import Report, Work
from lsp_harness.session.log import Turn
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.gate import Check
from lsp_harness.verify.gone import GoneCheck
from lsp_harness.verify.lint import LintCheck
from lsp_harness.verify.ruff import Ruff
from lsp_harness.verify.syntax import SyntaxCheck


@dataclass(frozen=True, slots=True)
class Fix:
    """One fix of one finding in one document version; `run` may be awaited once."""

    engine: Engine
    config: Config
    ruff: Ruff
    turn: Turn
    document: Document
    file: Path
    root: Path | None
    path: str
    finding: Finding
    report: Report
    persist: bool = False
    """What the engine makes of this document may be written to disk."""

    async def run(self, given: Sequence[Edit] = ()) -> Proposal:
        """The proposal. `given` edits (a linter's own fix) are verified instead of generated."""
        work = Work(self.turn, self.document, self.file, self.root, self.path, self._checks(), self.report)
        asked = {"kind": "fix", "text": self.finding.message, "source": self.finding.source}
        if given:
            return await work.within(lambda: work.given(given, "the linter's own fix"), **asked)
        return await work.within(lambda: self._generated(work), **asked)

    async def _generated(self, work: Work) -> Proposal:
        if secret_path(str(self.file)):
            raise work.failed(f"{self.path} holds secrets by its name and is not given to the model")
        work.enter("LOCATE")
        tree = parse(self.document)
        place = locate(tree, self.finding) if tree else None
        if tree is None or place is None:
            raise work.failed(f"there is no code at this diagnostic that {self.path}'s grammar knows")
        hidden = secret_lines(self.document)
        lines = range(self.document.line_of(place.statement.start), self.document.line_of(place.statement.end) + 1)
        if not hidden.isdisjoint(lines):
            raise work.failed("this code holds what looks like a secret and is not given to the model")
        persist = self.persist and not hidden
        pace = Pace.of((await self.engine.props()).raw)
        fills, rewrites = plans(self.config, place, pace.candidates, fills=pace.fills)
        # all fills are one round; every rewrite is a round of its own, told what failed before it
        rounds = [batch for batch in (fills, *([plan] for plan in rewrites)) if batch]
        if not rounds:
            raise work.failed("this model fills no holes, and there is no function here that it could write again")
        generator = Generator(self.engine, self.config, tree, place, self.finding, self.path, persist)
        return await work.generate(generator, rounds)

    def _checks(self) -> list[Check]:
        checks = gates(self.config, self.ruff)
        if self.config.verification.lint:
            checks.append(GoneCheck(self.ruff, self.finding))
        return checks


def gates(config: Config, ruff: Ruff) -> list[Check]:
    """The checks that any edit must pass, as the settings have it."""
    checks: list[Check] = []
    if config.verification.parse_check:
        checks.append(SyntaxCheck())
    if config.verification.lint:
        checks.append(LintCheck(ruff))
    return checks
