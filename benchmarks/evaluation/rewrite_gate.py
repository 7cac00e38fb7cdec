"""The gate of rewrites that do not come from the harness: its checks, and then the visible tests."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from benchmarks.evaluation.task_workspace import OpenTask
from lsp_harness.harness.edits.turns import TurnWork
from lsp_harness.kernel.results import Progress
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.check import Check, run_checks
from lsp_harness.verify.finding_subject import find_subject

TESTS = "tests"


@dataclass(frozen=True, slots=True)
class GateResult:
    """The result of the gate. `checks` maps the name of each check to its status."""

    passed: bool
    reason: str = ""
    checks: Mapping[str, str] = field(default_factory=dict[str, str])


class RewriteGate:
    """Judges rewrites of the target by the checks that the settings enable, and by the visible tests.

    Args:
        opened: The task.
    """

    def __init__(self, opened: OpenTask) -> None:
        self._opened = opened
        self._seen: set[str] = set()
        self._checks: list[Check] | None = None

    async def judge(self, text: str) -> GateResult:
        """Return whether a text of the target passes.

        Raises:
            ToolMissing: The visible tests cannot run here.
        """
        opened = self._opened
        if not text:
            return GateResult(False, "the answer has no code")
        if text in self._seen or text == opened.task.source:
            return GateResult(False, "the same text as before")
        self._seen.add(text)
        snapshot = opened.snapshot
        after = Document.from_text(snapshot.document.uri, text, language=snapshot.document.language, version=1)
        change = Change.from_documents(snapshot.document, after, snapshot.tool_path, snapshot.root)
        verdict = await run_checks(ChangeSet.of(change), self._create_checks())
        checks: dict[str, str] = {outcome.check: outcome.status for outcome in verdict.outcomes}
        if not verdict.passed:
            failed = next((outcome for outcome in verdict.outcomes if outcome.status == "failed"), None)
            return GateResult(False, "; ".join(failed.lines) if failed else "no check could run", checks)
        run = await opened.run_visible_tests(text)
        if run is None:
            return GateResult(True, "", checks)
        is_passed = run.is_complete and not run.digest.failed
        reason = "" if is_passed else "; ".join(run.digest.lines(1)) if run.is_complete else "the tests did not end"
        return GateResult(is_passed, reason, {**checks, TESTS: "passed" if is_passed else "failed"})

    def _create_checks(self) -> list[Check]:
        if self._checks is None:
            opened = self._opened
            snapshot, services = opened.snapshot, opened.harness.services
            work = TurnWork("edit", opened.task.text, snapshot, _ignore)
            context = opened.harness.turns.create_context(work, services.session.log.turn(is_saved=False))
            finding = opened.task.finding.locate(snapshot.document) if opened.task.finding else None
            subject = find_subject(finding, snapshot.document, parse(snapshot.document)) if finding else None
            checks = context.create_checks(finding, subject)
            # the visible tests are run here, on each text once
            self._checks = [check for check in checks if check.name != TESTS]
        return self._checks


def _ignore(progress: Progress) -> None:
    del progress
