"""The status reports of an agent (Program Status Protocol, OSC 7501), as one claim about the agent."""

from collections.abc import Sequence
from typing import Protocol

from lsp_harness.runtime.agent_state import Activity, BlockKind, StateClaim

ACTIVITIES: dict[str, Activity] = {
    "idle": "idle",
    "working": "working",
    "blocked": "blocked",
    "done": "done",
    "error": "error",
}
KINDS: dict[str, BlockKind] = {"permission": "permission", "question": "question", "auth": "auth"}
TRUST_MESSAGE = "trust this folder"
"""The message by which Claude's question about the folder differs from its other permission questions."""


class Report(Protocol):
    """A report that was read from the output of an agent. Its texts are clean, but not trusted."""

    @property
    def state(self) -> str:
        """Its state."""
        ...

    @property
    def id(self) -> str:
        """The part of the program that it is about. Empty: the program."""
        ...

    @property
    def kind(self) -> str:
        """The kind of question for which the program waits."""
        ...

    @property
    def message(self) -> str:
        """The text of the question or of the error."""
        ...


def claim_of_reports(reports: Sequence[Report]) -> StateClaim | None:
    """Return the claim of the newest reports of all parts of a program, or None without a report.

    A question of any part is a question of the agent. Otherwise the program speaks for itself, and only without a
    report of its own do its parts speak for it.

    Args:
        reports: The records, the newest one last.
    """
    known = [report for report in reversed(reports) if report.state in ACTIVITIES]
    blocked = [report for report in known if report.state == "blocked"]
    own = [report for report in known if not report.id]
    working = [report for report in known if report.state == "working"]
    for report in (*blocked, *own, *working, *known):
        return make_claim(report)
    return None


def make_claim(report: Report) -> StateClaim:
    """Return the claim of one report with a known state."""
    kind: BlockKind = KINDS.get(report.kind, "dialog" if report.state == "blocked" else "")
    if kind == "permission" and report.message.strip() == TRUST_MESSAGE:
        kind = "trust"
    return StateClaim("osc", ACTIVITIES[report.state], f"osc7501/{report.state}", kind, report.message)
