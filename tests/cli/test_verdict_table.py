"""The table of candidates, from the events of a session."""

from lsp_harness.cli.proposal_output import VerdictTable
from lsp_harness.wire.event import Event


def make_event(type: str, **data: object) -> Event:
    return Event("e", 0, "", "s", 0, None, None, type, dict(data))


def test_the_table_has_rows_for_candidates_and_not_for_accepted_texts():
    verdicts = VerdictTable()
    passed = [{"check": "syntax", "status": "passed", "reason": ""}]
    verdicts(make_event("candidate.generated", candidate=1, kind="fill", text="x"))
    verdicts(make_event("verify.completed", candidate=1, passed=True, outcomes=passed))
    verdicts(make_event("verify.completed", passed=False, outcomes=[]))
    only_form = "form ✓, behaviour not checked; only the syntax was looked at"
    assert [(row["candidate"], row["reason"]) for row in verdicts.rows] == [(1, only_form)]


def test_a_candidate_passes_if_a_test_or_the_types_were_checked():
    verdicts = VerdictTable()
    passed = [{"check": check, "status": "passed", "reason": ""} for check in ("syntax", "tests")]
    verdicts(make_event("candidate.generated", candidate=1, kind="fill", text="x"))
    verdicts(make_event("verify.completed", candidate=1, passed=True, outcomes=passed))
    assert [(row["standing"], row["reason"]) for row in verdicts.rows] == [("verified", "passes")]


def test_a_check_of_another_version_gets_its_own_column():
    verdicts = VerdictTable()
    outcomes = [
        {"check": "spelling", "status": "failed", "reason": "aspell"},
        {"check": "lint", "status": "passed", "reason": ""},
    ]
    verdicts(make_event("verify.completed", candidate=1, passed=False, outcomes=outcomes))
    assert [str(column.header) for column in verdicts.render().columns][3:] == [
        *("lint", "spelling", ""),
    ]
    assert verdicts.rows[0]["checks"] == {"spelling": "failed", "lint": "passed"}
