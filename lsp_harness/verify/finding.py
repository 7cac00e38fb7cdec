"""What a check says about a text: findings, the outcome of one check, and the verdict over all of them."""

from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["error", "warning", "information", "hint"]
Status = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong at a byte range of one text. `source` is the tool, `code` its rule."""

    start: int
    end: int
    message: str
    source: str = ""
    code: str = ""
    severity: Severity = "error"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One check on one text. `reason` says why it was skipped; a skipped check is never counted as passed."""

    check: str
    status: Status
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """All outcomes for the text with content hash `hash`."""

    hash: str
    outcomes: tuple[Outcome, ...] = field(default=())

    @property
    def passed(self) -> bool:
        """No check failed and at least one ran."""
        ran = [o for o in self.outcomes if o.status != "skipped"]
        return bool(ran) and all(o.status == "passed" for o in ran)

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(f for o in self.outcomes if o.status == "failed" for f in o.findings)

    @property
    def rank(self) -> int:
        """How many checks were cleared before the first failure: parses > lint > …"""
        cleared = 0
        for outcome in self.outcomes:
            if outcome.status == "failed":
                return cleared
            cleared += 1
        return cleared
