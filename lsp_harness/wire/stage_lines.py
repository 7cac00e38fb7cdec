"""One line for each stage of an edit, for the terminal and for the progress in editors."""

from collections.abc import Mapping
from typing import Any

SHOWN_NAMES = {"syntax": "parse"}
"""Names of checks that people see under another name."""


def describe_stage(frame: Mapping[str, Any]) -> str:
    """Return a line such as "[VERIFY] Candidate 3 passes (parse ✓, lint ✓)" for a frame, or an empty text.

    A state that begins has a line if it says what it does, and one that ends has a line if something was found.
    """
    candidate = f"Candidate {frame.get('candidate')}" if frame.get("candidate") else "The edit"
    match frame.get("type"), frame.get("status"):
        case "state", "entered" if reason := frame.get("reason"):
            return f"[{frame.get('state')}] {reason}"
        case "state", "exited" if outcome := frame.get("outcome"):
            return f"[{frame.get('state')}] {outcome}"
        case "candidate", "rejected":
            return f"[VERIFY] {candidate} is rejected: {frame.get('reason')}"
        case "verify", "completed" if frame.get("passed") and frame.get("candidate") is not None:
            return f"[VERIFY] {candidate} passes ({', '.join(map(_show_check, frame.get('checks') or ()))})"
        case _:
            return ""


def _show_check(text: str) -> str:
    """Return a check and its mark, such as "parse ✓"."""
    name, _, mark = text.partition(" ")
    return f"{SHOWN_NAMES.get(name, name)} {mark}"
