"""Status reports (OSC 7501) as claims about an agent."""

from dataclasses import dataclass

import pytest

from lsp_harness.runtime.agent_state import Activity, BlockKind
from lsp_harness.runtime.states.state_ladder import claim_of_reports


@dataclass(frozen=True)
class Reported:
    state: str
    id: str = ""
    kind: str = ""
    message: str = ""


TABLE: list[tuple[list[Reported], Activity, BlockKind]] = [
    ([Reported("idle")], "idle", ""),
    ([Reported("working")], "working", ""),
    ([Reported("done")], "done", ""),
    ([Reported("error", message="401")], "error", ""),
    ([Reported("blocked", kind="permission", message="approve Bash")], "blocked", "permission"),
    ([Reported("blocked", kind="permission", message="trust this folder")], "blocked", "trust"),
    ([Reported("blocked", kind="question")], "blocked", "question"),
    ([Reported("blocked", kind="auth")], "blocked", "auth"),
    ([Reported("blocked", kind="sudo")], "blocked", "dialog"),
    ([Reported("blocked")], "blocked", "dialog"),
    ([Reported("idle"), Reported("working", id="a")], "idle", ""),
    ([Reported("working"), Reported("idle", id="a")], "working", ""),
    ([Reported("working", id="a"), Reported("idle", id="b")], "working", ""),
    ([Reported("idle", id="a"), Reported("done", id="b")], "done", ""),
    ([Reported("blocked", id="a", kind="permission"), Reported("working")], "blocked", "permission"),
    ([Reported("sleeping"), Reported("idle", id="a")], "idle", ""),
]


@pytest.mark.parametrize(("reports", "activity", "kind"), TABLE)
def test_the_reports_of_all_parts_are_one_claim(reports: list[Reported], activity: Activity, kind: BlockKind):
    claim = claim_of_reports(reports)
    assert claim
    assert (claim.source, claim.activity, claim.kind) == ("osc", activity, kind)


@pytest.mark.parametrize("reports", [[], [Reported("clear")], [Reported("sleeping")]])
def test_no_known_report_is_no_claim(reports: list[Reported]):
    assert claim_of_reports(reports) is None
