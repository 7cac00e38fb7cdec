"""A verdict as an event of the session, in one form for whatever was checked."""

from typing import Any

from lsp_harness.session.log import Turn
from lsp_harness.verify import feedback
from lsp_harness.verify.change import Change
from lsp_harness.verify.finding import Verdict


def tell_verified(turn: Turn, change: Change, verdict: Verdict, **about: Any) -> None:
    """Append `verify.completed`: each check, how it ended, and what it said."""
    outcomes: list[dict[str, Any]] = [
        {
            "check": o.check,
            "status": o.status,
            "reason": o.reason,
            "ms": round(o.ms, 1),
            "said": feedback.format_outcome(o, change.after) if o.status == "failed" else [],
        }
        for o in verdict.outcomes
    ]
    turn.tell("verify.completed", **about, hash=verdict.hash, passed=verdict.passed, outcomes=outcomes)
