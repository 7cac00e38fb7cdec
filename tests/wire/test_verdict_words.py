"""The words of a verdict: nothing is called verified that was not looked at."""

import dataclasses

import pytest

from lsp_harness.cli.proposal_output import VerdictTable
from lsp_harness.events.code_events import CheckCompleted, CheckReport, ChecksCompleted
from lsp_harness.events.event_codec import encode_event, encode_frame
from lsp_harness.harness.edits.prepared_fixes import PreparedFix
from lsp_harness.harness.verdicts.verification_verbs import describe_verdict
from lsp_harness.harness.verification.verdict_document import render_document
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.kernel.results import FixOffer, Proposal
from lsp_harness.mcp import verdict_tools
from lsp_harness.mcp.text_verification import TextVerdict
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.checks import CHECKS
from lsp_harness.verify.finding import Finding, Outcome, Verdict
from lsp_harness.verify.published_findings import PublishedFindings
from lsp_harness.wire.client_event_codec import parse_event
from lsp_harness.wire.event import Event
from lsp_harness.wire.stage_lines import describe_stage
from lsp_harness.wire.verdict_words import (
    BEHAVIOUR_CHECKS,
    FORM_ONLY,
    GOAL_CHECKS,
    OPINION_CHECK,
    STANDINGS,
    SYNTAX_CHECK,
    ReportedResult,
    VerdictKind,
    find_standing,
)

PARSED, LINTED = Outcome("syntax", "passed"), Outcome("lint", "passed")
NO_TEST = Outcome("tests", "skipped", reason="no test depends on calc.py")
TESTED = Outcome("tests", "passed", reason="12 tests in 2 files, 5 of 6 changed lines")
PARTLY = Outcome("tests", "passed", reason="120 tests in 24 files", extent="24 of 53 files")
BROKEN = Outcome("tests", "failed", (Finding(0, 0, "assert 3 == 4", "tests"),), reason="1 of 12 tests fail", count=1)
STILL = Outcome("tests", "skipped", reason="65 tests; 232 failed before and still fail", is_unresolved=True)
REPAIRED = Outcome("gone", "passed")
OPINION = Outcome("review", "passed", reason="YES, probability 0.9", is_opinion=True)

UNRESOLVED = "not verified –, still wrong: tests"
CASES: list[tuple[VerdictKind, tuple[Outcome, ...], str]] = [
    ("verified", (PARSED, LINTED, TESTED), "verified ✓"),
    ("verified", (PARSED, REPAIRED, NO_TEST), "verified ✓"),
    ("form", (PARSED, LINTED, NO_TEST), FORM_ONLY),
    ("form", (PARSED, LINTED), FORM_ONLY),
    (
        "incomplete",
        (PARSED, Outcome("lint", "skipped"), NO_TEST, OPINION),
        f"{FORM_ONLY}; only the syntax was looked at",
    ),
    ("unresolved", (PARSED, LINTED, STILL), "not verified –, still wrong: tests"),
    ("unresolved", (PARSED, REPAIRED, STILL), "not verified –, still wrong: tests"),
    ("failed", (PARSED, LINTED, BROKEN), "failed ✗ tests"),
    ("unchecked", (Outcome("syntax", "skipped", reason="no grammar for .txt"), NO_TEST), "not checked –"),
    ("unchecked", (OPINION,), "not checked –"),
    ("unchecked", (), "not checked –"),
]


def make_frame(verdict: Verdict, candidate: int | None = 3, **changed: object) -> dict[str, object]:
    type, data = encode_event(ChecksCompleted.from_verdict(verdict, candidate))
    frame = encode_frame(Event("e", 1, "now", "s", 0, None, None, type, {**data, **changed}))
    assert frame
    return frame


@pytest.mark.parametrize(("standing", "outcomes", "words"), CASES)
def test_a_verdict_describes_only_what_was_checked(
    standing: VerdictKind, outcomes: tuple[Outcome, ...], words: str
) -> None:
    verdict = Verdict("h", outcomes)
    assert (verdict.kind, verdict.words, verdict.is_verified) == (standing, words, standing == "verified")
    # the events, and what programs read from a log, say the same
    assert find_standing(ChecksCompleted.from_verdict(verdict).outcomes) == standing
    frame = make_frame(verdict)
    assert (frame["standing"], frame["words"]) == (standing, words)
    old = make_frame(verdict, standing="", words="")
    assert (old["standing"], old["words"]) == (standing, words)


def test_the_names_of_the_words_are_those_of_checks() -> None:
    names = {check.name for check in CHECKS}
    assert BEHAVIOUR_CHECKS | GOAL_CHECKS | {SYNTAX_CHECK, OPINION_CHECK} <= names
    assert {case[0] for case in CASES} == set(STANDINGS)
    assert {field.name for field in dataclasses.fields(ReportedResult)} <= {
        field.name for field in dataclasses.fields(Outcome)
    }


@pytest.mark.parametrize(
    ("outcomes", "line"),
    [
        (
            (PARSED, LINTED, NO_TEST),
            f"[VERIFY] Candidate 3: {FORM_ONLY} (parse ✓, lint ✓, tests – (no test depends on calc.py))",
        ),
        (
            (PARSED, LINTED, PARTLY),
            "[VERIFY] Candidate 3 passes (parse ✓, lint ✓, tests ✓ (24 of 53 files; 120 tests in 24 files))",
        ),
        (
            (PARSED, STILL),
            f"[VERIFY] Candidate 3: {UNRESOLVED} (parse ✓, tests – (65 tests; 232 failed before and still fail))",
        ),
        ((PARSED, BROKEN), ""),
    ],
)
def test_the_terminal_shows_the_verdict_in_one_line(outcomes: tuple[Outcome, ...], line: str) -> None:
    assert describe_stage(make_frame(Verdict("h", outcomes))) == line


def test_the_sdk_reads_the_words_and_the_reasons() -> None:
    event = parse_event(make_frame(Verdict("h", (PARSED, LINTED, NO_TEST))))
    assert (event.passed, event.standing, event.words) == (True, "form", FORM_ONLY)  # pyright: ignore[reportAttributeAccessIssue]
    assert "tests – (no test depends on calc.py)" in event.checks  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(("outcome", "passed"), [(TESTED, True), (BROKEN, False), (NO_TEST, None), (STILL, None)])
def test_a_skipped_check_has_not_passed(outcome: Outcome, passed: bool | None) -> None:
    type, data = encode_event(CheckCompleted("h", CheckReport.from_outcome(outcome), 1))
    frame = encode_frame(Event("e", 1, "now", "s", 0, None, None, type, data))
    assert frame
    assert (frame["passed"], frame["reason"]) == (passed, outcome.reason)


@pytest.mark.parametrize(
    ("outcomes", "title"),
    [
        ((PARSED, LINTED, NO_TEST), FORM_ONLY),
        ((PARSED, LINTED, TESTED), "verified ✓ 3 checks, 12 tests"),
        ((PARSED, LINTED, PARTLY), "verified ✓ 3 checks, 120 tests in 24 of 53 files"),
        ((PARSED, STILL), "not verified –, still wrong: tests"),
        ((PARSED, BROKEN), "verification failed ✗ tests"),
    ],
)
def test_a_lens_shows_the_verdict_in_its_title(outcomes: tuple[Outcome, ...], title: str) -> None:
    assert describe_verdict(PublishedFindings(1, outcomes, is_complete=True)) == title


def test_the_document_of_a_verdict_has_reasons_and_extent() -> None:
    log = SessionLog(is_saved=False)
    turn = log.turn()
    turn.append(ChecksCompleted.from_verdict(Verdict("h", (PARSED, LINTED, NO_TEST))))
    turn.append(ChecksCompleted.from_verdict(Verdict("h", (PARSED, PARTLY))))
    turn.append(ChecksCompleted.from_verdict(Verdict("h", (PARSED, STILL))))
    page = render_document(f"{log.id}/{turn.number}", log)
    assert f"**{FORM_ONLY}: no test depends on calc.py**" in page
    assert "| tests | ✓ passed: 24 of 53 files; 120 tests in 24 files |" in page
    assert "| tests | – skipped, still wrong: 65 tests; 232 failed before and still fail |" in page


def test_a_candidate_with_only_checked_form_is_not_called_passed() -> None:
    log, table = SessionLog(is_saved=False), VerdictTable()
    log.listeners.append(table)
    turn = log.turn()
    for number, outcomes in enumerate([(PARSED, LINTED, NO_TEST), (PARSED, TESTED), (PARSED, STILL)], 1):
        turn.append(ChecksCompleted.from_verdict(Verdict("h", outcomes), number))
    assert [row["standing"] for row in table.rows] == ["form", "verified", "unresolved"]
    assert [row["reason"] for row in table.rows] == [
        f"{FORM_ONLY}: no test depends on calc.py",
        "passes",
        "not verified –, still wrong: tests: 65 tests; 232 failed before and still fail",
    ]


def test_a_quick_fix_and_its_confirmation_show_the_verdict_in_their_titles() -> None:
    document = Document.from_text("file:///calc.py", "a\n")
    changes = ChangeSet.of(Change.from_documents(document, document.__class__.from_text(document.uri, "b\n"), None))  # pyright: ignore[reportArgumentType]
    offer = FixOffer("Fix `a`", "model", Finding(0, 1, "bad"))
    form, fix = Verdict("h", (PARSED, LINTED, NO_TEST)), Verdict("h", (PARSED, REPAIRED, NO_TEST))
    titles = [PreparedFix(offer, Proposal("1", changes, verdict, "", "")).title for verdict in (form, fix)]
    assert titles == [f"Fix `a` ({FORM_ONLY}, syntax ✓, lint ✓)", "Fix `a` (syntax ✓, gone ✓)"]
    assert [form.label, fix.label] == [f"{FORM_ONLY} (syntax ✓, lint ✓, tests –)", "syntax ✓, gone ✓, tests –"]


@pytest.mark.parametrize(
    ("outcomes", "first", "line"),
    [
        ((PARSED, LINTED, TESTED), "passed", "passed: syntax, lint, tests (12 tests in 2 files, 5 of 6 changed lines)"),
        ((PARSED, LINTED, NO_TEST), FORM_ONLY, "skipped: tests (no test depends on calc.py)"),
        ((PARSED, NO_TEST), "incomplete", "skipped: tests (no test depends on calc.py)"),
        ((PARSED, STILL), "unresolved", "skipped: tests (65 tests; 232 failed before and still fail)"),
        ((PARSED, BROKEN), "failed", "failed: tests (1 of 12 tests fail)"),
    ],
)
def test_an_agent_gets_the_verdict_as_the_first_word(outcomes: tuple[Outcome, ...], first: str, line: str) -> None:
    answer = verdict_tools._answer(TextVerdict("calc.py", Verdict("h", outcomes), (), "S/1"))
    lines = answer.content[0].text.splitlines()  # pyright: ignore[reportAttributeAccessIssue]
    assert lines[0] == f"{first}: calc.py h"
    assert line in lines
