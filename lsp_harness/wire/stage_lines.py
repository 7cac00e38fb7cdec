"""One line for each stage of an edit, for the terminal and for the progress in editors."""

from collections.abc import Mapping
from typing import Any


def describe_stage(frame: Mapping[str, Any]) -> str:
    """Return a line such as "[VERIFY] Candidate 3 passes (parse ✓, lint ✓)" for a frame, or an empty text."""
    candidate = f"Candidate {frame.get('candidate')}"
    match frame.get("type"), frame.get("status"):
        case "state", "entered":
            more = frame.get("reason") or ""
            if not more and frame.get("round") is not None:
                more = f"Round {int(frame['round']) + 1}"
            return f"[{frame.get('state')}] {more}".rstrip()
        case "candidate", "generated":
            return f"[GENERATE] {candidate}: {frame.get('kind')}"
        case "candidate", "rejected":
            return f"[VERIFY] {candidate} is rejected: {frame.get('reason')}"
        case "verify", "completed" if frame.get("passed") and frame.get("candidate") is not None:
            return f"[VERIFY] {candidate} passes ({', '.join(frame.get('checks') or ())})"
        case _:
            return ""
