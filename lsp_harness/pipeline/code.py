"""A diagnostic → a verified edit: UNDERSTAND, LOCATE, GENERATE, VERIFY, COMPLETE."""

from collections.abc import Sequence
from dataclasses import dataclass

from lsp_harness.context.importing import importing
from lsp_harness.files.secrets import secret_lines
from lsp_harness.pipeline.candidates import Generator, plans
from lsp_harness.pipeline.job import Job
from lsp_harness.pipeline.locate import Place, locate
from lsp_harness.pipeline.offers import Proposal
from lsp_harness.pipeline.pace import Pace
from lsp_harness.pipeline.work import Work
from lsp_harness.syntax.tree import parse
from lsp_harness.text.edit import Edit
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.gate import Check
from lsp_harness.verify.gone import GoneCheck


@dataclass(frozen=True, slots=True)
class Fix:
    """One fix of one finding in one document version; `run` may be awaited once."""

    job: Job
    finding: Finding

    async def run(self, given: Sequence[Edit] = ()) -> Proposal:
        """The proposal. `given` edits (a linter's own fix) are verified instead of generated."""
        work = Work(self.job, self._checks())
        asked = {"kind": "fix", "text": self.finding.message, "source": self.finding.source}
        if given:
            return await work.within(lambda: work.given(given, "the linter's own fix"), **asked)
        return await work.within(lambda: self._generated(work), **asked)

    async def _generated(self, work: Work) -> Proposal:
        work.enter("LOCATE")
        job, document = self.job, self.job.document
        tree = parse(document)
        place = locate(tree, self.finding) if tree else None
        if tree is None or place is None:
            raise work.failed(f"there is no code at this diagnostic that {job.path}'s grammar knows")
        lines = range(document.line_of(place.statement.start), document.line_of(place.statement.end) + 1)
        if not secret_lines(document).isdisjoint(lines):
            raise work.failed("this code holds what looks like a secret and is not given to the model")
        generator = Generator(job, tree, place, self.finding)
        known = generator.knowing(await self._importing(place))
        # no engine is needed for these
        if known and (proposal := await work.attempt(generator, known)):
            return proposal
        pace = Pace.of((await job.engine.props()).raw)
        # what a test fails by elsewhere is said of no statement
        failing = job.output.failing if job.output else frozenset[str]()
        test = self.finding.code in failing and not place.unknown_name
        if test and not place.function:
            raise work.failed("a test fails by no statement here; name a line of the function that it is about")
        fills, rewrites = plans(job.config, place, pace.candidates, fills=pace.fills and not test, after=len(known))
        # all fills are one round; every rewrite is a round of its own, told what failed before it
        rounds = [batch for batch in (fills, *([plan] for plan in rewrites)) if batch]
        if not rounds:
            raise work.failed("this model fills no holes, and there is no function here that it could write again")
        return await work.generate(generator, rounds)

    async def _importing(self, place: Place) -> list[str]:
        """Lines that bring in a name that the file does not know, as other files do."""
        job = self.job
        if not place.unknown_name or job.related is None:
            return []
        return await importing(job.related.known, job.document.uri, job.path, place.unknown_name)

    def _checks(self) -> list[Check]:
        checks = self.job.checks()
        if self.job.config.verification.lint:
            checks.append(GoneCheck(self.job.ruff, self.finding))
        return checks
