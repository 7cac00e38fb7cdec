"""One line for each stage of an edit, for the terminal and for the progress in editors."""

from collections.abc import Mapping
from typing import Any

from lsp_harness.wire.verdict_words import CHECK_TITLES, conclude


def describe_stage(frame: Mapping[str, Any]) -> str:
    """Return one line for a frame, or an empty text.

    A verdict has its words and its checks: "[VERIFY] Candidate 3: form ✓, behaviour not checked (parse ✓, tests – (no
    test depends on a.py))". A state that begins has a line if it says what it does, and one that ends has a line if
    something was found.
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
            marks = ", ".join(map(_show_check, frame.get("checks") or ()))
            return f"[VERIFY] {conclude(candidate, str(frame.get('standing')), str(frame.get('words')), marks)}"
        case _:
            return ""


def _show_check(text: str) -> str:
    """Return a check and its mark, such as "parse ✓"."""
    name, _, mark = text.partition(" ")
    return f"{CHECK_TITLES.get(name, name)} {mark}"
