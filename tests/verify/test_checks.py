"""The registry of checks: one entry changes every place that shows checks."""

from dataclasses import fields
from pathlib import Path

import pytest
from rich.console import Console

from lsp_harness.cli.proposal_output import VerdictTable
from lsp_harness.config.schema import Verification
from lsp_harness.config.setting_values import WORDS
from lsp_harness.events.code_events import ChecksCompleted
from lsp_harness.harness.verification.verdict_document import render_document as verdict_document
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.text.document import Document
from lsp_harness.verify import checks
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.check import CheckContext, CheckTools, DocumentCheck, run_checks
from lsp_harness.verify.checks import CHECKS, create_checks
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.finding_subject import find_subject
from lsp_harness.verify.ruff_linter import Ruff
from tools import checks_page

FINDING = Finding(0, 1, "Undefined name `x`", "ruff", "F821")


class TodoCheck(DocumentCheck):
    """Fails an edit that leaves a reminder."""

    name = "todo"
    title = "no TODO"
    feedback_label = "REMINDER"
    criterion = "the edit leaves no `TODO`"

    async def run(self, change: Change) -> Outcome:
        place = change.after.data.find(b"TODO")
        findings = (Finding(place, place + 4, "leaves a TODO", "lsp-harness", self.name),) if place >= 0 else ()
        return Outcome(self.name, "failed" if findings else "passed", findings)


async def test_a_registered_check_is_in_every_place_that_shows_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "CHECKS", (*CHECKS, TodoCheck))
    before = Document.from_text("file:///a.txt", "x\n")
    change = Change.from_documents(before, Document.from_text("file:///a.txt", "x  TODO\n"), Path("/a.txt"))
    verdict = await run_checks(ChangeSet.of(change), create_checks(Verification(), CheckContext(CheckTools(Ruff()))))
    line = "REMINDER: todo leaves a TODO"
    assert verdict.outcomes[-1].lines == (line,)
    assert verdict.marks.startswith("parse –")
    assert verdict.marks.endswith(", no TODO ✗")
    assert [(finding.source, finding.code) for finding in verdict.findings] == [("lsp-harness", "todo")]

    log, verdicts = SessionLog(is_saved=False), VerdictTable()
    log.listeners.append(verdicts)
    turn = log.turn()
    turn.append(ChecksCompleted.from_verdict(verdict, candidate=1))
    terminal = Console(width=200)
    with terminal.capture() as capture:
        terminal.print(verdicts.render())
    assert all(title in capture.get() for title in ("parse", "lint", "no TODO"))
    assert "✗" in capture.get()

    page = verdict_document(f"{log.id}/{turn.number}", log)
    assert "| no TODO | ✗ failed |" in page
    assert line in page
    assert "| `todo` | all edits | always on | the edit leaves no `TODO` | `REMINDER` |" in checks_page.render()


def test_each_check_has_a_switch_in_the_settings() -> None:
    switches = {field.name for field in fields(Verification) if field.type in ("bool", bool)}
    switches |= {name.removeprefix("verification.") for name in WORDS if name.startswith("verification.")}
    # the last two decide when checks run, not which
    assert {check.setting for check in CHECKS} - {""} == switches - {"on_save", "on_open"}


@pytest.mark.parametrize(
    ("settings", "for_finding", "names"),
    [
        (Verification(), False, ["syntax", "lint"]),
        (Verification(), True, ["syntax", "kept", "lint", "gone"]),
        (Verification(lint=False), True, ["syntax", "kept"]),
        (Verification(parse_check=False, kept=False), True, ["lint", "gone"]),
        (Verification(type_check="auto"), False, ["syntax", "lint", "types"]),
    ],
)
def test_the_settings_and_the_purpose_choose_the_checks_of_an_edit(
    settings: Verification, for_finding: bool, names: list[str]
) -> None:
    text = Document.from_text("file:///a.py", "x\n")
    context = (
        CheckContext(CheckTools(Ruff()), FINDING, find_subject(FINDING, text, None))
        if for_finding
        else CheckContext(CheckTools(Ruff()))
    )
    assert [check.name for check in create_checks(settings, context) if check.setting] == names


def test_names_of_checks_are_unique() -> None:
    assert len({check.name for check in CHECKS}) == len({check.feedback_label for check in CHECKS}) == len(CHECKS)
