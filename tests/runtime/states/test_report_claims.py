"""Status reports (OSC 7501) as claims about an agent."""

from dataclasses import dataclass

import pytest

from lsp_harness.runtime.agent_state import Activity, BlockKind
from lsp_harness.runtime.states.state_ladder import claim_of_reports


@dataclass(frozen=True)
class ReportedClaims:
    state: str
    id: str = ""
    kind: str = ""
    message: str = ""


TABLE: list[tuple[list[ReportedClaims], Activity, BlockKind]] = [
    ([ReportedClaims("idle")], "idle", ""),
    ([ReportedClaims("working")], "working", ""),
    ([ReportedClaims("done")], "done", ""),
    ([ReportedClaims("error", message="401")], "error", ""),
    ([ReportedClaims("blocked", kind="permission", message="approve Bash")], "blocked", "permission"),
    ([ReportedClaims("blocked", kind="permission", message="trust this folder")], "blocked", "trust"),
    ([ReportedClaims("blocked", kind="question")], "blocked", "question"),
    ([ReportedClaims("blocked", kind="auth")], "blocked", "auth"),
    ([ReportedClaims("blocked", kind="sudo")], "blocked", "dialog"),
    ([ReportedClaims("blocked")], "blocked", "dialog"),
    ([ReportedClaims("idle"), ReportedClaims("working", id="a")], "idle", ""),
    ([ReportedClaims("working"), ReportedClaims("idle", id="a")], "working", ""),
    ([ReportedClaims("working", id="a"), ReportedClaims("idle", id="b")], "working", ""),
    ([ReportedClaims("idle", id="a"), ReportedClaims("done", id="b")], "done", ""),
    ([ReportedClaims("blocked", id="a", kind="permission"), ReportedClaims("working")], "blocked", "permission"),
    ([ReportedClaims("sleeping"), ReportedClaims("idle", id="a")], "idle", ""),
]


@pytest.mark.parametrize(("reports", "activity", "kind"), TABLE)
def test_the_reports_of_all_parts_are_one_claim(reports: list[ReportedClaims], activity: Activity, kind: BlockKind):
    claim = claim_of_reports(reports)
    assert claim
    assert (claim.source, claim.activity, claim.kind) == ("osc", activity, kind)


@pytest.mark.parametrize("reports", [[], [ReportedClaims("clear")], [ReportedClaims("sleeping")]])
def test_no_known_report_is_no_claim(reports: list[ReportedClaims]):
    assert claim_of_reports(reports) is None
