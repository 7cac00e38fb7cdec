"""A verdict as an event of the session, in one form for whatever was checked."""

from typing import Any

from lsp_harness.session.log import Turn
from lsp_harness.verify.finding import Verdict


def tell_verified(turn: Turn, verdict: Verdict, **about: Any) -> None:
    """Append `verify.completed`: each check, how it ended, and what it said."""
    outcomes: list[dict[str, Any]] = [
        {
            "check": o.check,
            "status": o.status,
            "reason": o.reason,
            "ms": round(o.ms, 1),
            "said": list(o.lines) if o.status == "failed" else [],
        }
        for o in verdict.outcomes
    ]
    turn.tell("verify.completed", **about, hash=verdict.hash, passed=verdict.passed, outcomes=outcomes)
