"""Evidence for the place of a quote: the characters next to it, and whether the enclosed text looks like a string."""

import re

from lsp_harness.syntax.lexemes import OPENERS
from lsp_harness.syntax.recovery.broken_text import BrokenText
from lsp_harness.syntax.recovery.token_edit import Trial, decode_token

Evidence = dict[str, float]
LOOKS_LIKE_CODE = re.compile(rb"[,;]\s*[\w$]+\s*[=(\[]|\)\s*[;,{)]|=>|\w\(|, $")
"""Text that looks like code, not like words."""
MAX_LENGTH_BYTES = 60
"""Maximum value of the length of a string."""


def add_quote_evidence(broken_text: BrokenText, trial: Trial, evidence: Evidence) -> None:
    """Add the evidence for an inserted or deleted quote."""
    data, position = broken_text.data, trial.edit.start
    end = trial.edit.end
    previous_byte, next_byte = data[position - 1 : position] if position else b"", data[end : end + 1]
    label = f"{trial.action} {trial.note}"
    evidence[f"{label} after {_character_class(previous_byte)}"] = 1.0
    evidence[f"{label} before {_character_class(next_byte)}"] = 1.0
    line_start = data.rfind(b"\n", 0, position) + 1
    line_end = data.find(b"\n", end)
    line = data[line_start : line_end if line_end >= 0 else len(data)]
    line_before, line_after = data[line_start:position], data[end : line_start + len(line)]
    if not line_before.strip():
        evidence[f"{label} at the start of the line"] = 1.0
    if not line_after.strip():
        evidence[f"{label} at the end of the line"] = 1.0
    quote = trial.token
    if trial.action == "delete":
        evidence[f"{label}: {'doubled' if quote[:1] in (previous_byte, next_byte) else 'single'}"] = 1.0
        others = sum(line.count(other_quote) for other_quote in (b'"', b"'", b"`") if other_quote != quote[:1])
        evidence[f"{label}: others on the line"] = float(others > 0)
    content = (
        line_after.split(quote)[0]
        if trial.note == "opening"
        else line_before.rsplit(quote, 1)[-1]
        if trial.note == "closing"
        else b""
    )
    if trial.note in ("opening", "closing"):
        evidence[f"{label}: balanced"] = float(_is_balanced(content))
        rest = (
            line_before + line_after[len(content) :]
            if trial.note == "opening"
            else line_before[: -len(content) or None] + line_after
        )
        evidence[f"{label}: rest balanced"] = float(_is_balanced(rest))
        evidence[f"{label}: empty"] = float(not content)
        evidence[f"{label}: code inside"] = float(LOOKS_LIKE_CODE.search(content) is not None)
        evidence[f"{label}: length"] = min(len(content), MAX_LENGTH_BYTES) / 10
        whole = quote + content + quote
        evidence[f"{label}: same string elsewhere"] = float(data.count(whole) > 0)
        evidence[f"{label}: blank at an end"] = float(content[:1] == b" " or content[-1:] == b" ")


def _character_class(byte: bytes) -> str:
    if not byte or byte in b"\r\n":
        return "an end"
    if byte.isalnum() or byte == b"_" or byte[0] > 127:
        return "a letter"
    return "a blank" if byte.isspace() else decode_token(byte)


def _is_balanced(text: bytes) -> bool:
    return all(text.count(opener) == text.count(closer) for opener, closer in OPENERS.items())
