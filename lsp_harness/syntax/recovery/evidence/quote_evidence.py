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
    left, right = data[position - 1 : position] if position else b"", data[end : end + 1]
    act = f"{trial.action} {trial.note}"
    evidence[f"{act} after {_character_class(left)}"] = 1.0
    evidence[f"{act} before {_character_class(right)}"] = 1.0
    begin = data.rfind(b"\n", 0, position) + 1
    stop = data.find(b"\n", end)
    line = data[begin : stop if stop >= 0 else len(data)]
    before, behind = data[begin:position], data[end : begin + len(line)]
    if not before.strip():
        evidence[f"{act} at the start of the line"] = 1.0
    if not behind.strip():
        evidence[f"{act} at the end of the line"] = 1.0
    quote = trial.token
    if trial.action == "delete":
        evidence[f"{act}: {'doubled' if quote[:1] in (left, right) else 'single'}"] = 1.0
        others = sum(line.count(one) for one in (b'"', b"'", b"`") if one != quote[:1])
        evidence[f"{act}: others on the line"] = float(others > 0)
    content = (
        behind.split(quote)[0]
        if trial.note == "opening"
        else before.rsplit(quote, 1)[-1]
        if trial.note == "closing"
        else b""
    )
    if trial.note in ("opening", "closing"):
        evidence[f"{act}: balanced"] = float(_is_balanced(content))
        rest = before + behind[len(content) :] if trial.note == "opening" else before[: -len(content) or None] + behind
        evidence[f"{act}: rest balanced"] = float(_is_balanced(rest))
        evidence[f"{act}: empty"] = float(not content)
        evidence[f"{act}: code inside"] = float(LOOKS_LIKE_CODE.search(content) is not None)
        evidence[f"{act}: length"] = min(len(content), MAX_LENGTH_BYTES) / 10
        whole = quote + content + quote
        evidence[f"{act}: same string elsewhere"] = float(data.count(whole) > 0)
        evidence[f"{act}: blank at an end"] = float(content[:1] == b" " or content[-1:] == b" ")


def _character_class(byte: bytes) -> str:
    if not byte or byte in b"\r\n":
        return "an end"
    if byte.isalnum() or byte == b"_" or byte[0] > 127:
        return "a letter"
    return "a blank" if byte.isspace() else decode_token(byte)


def _is_balanced(text: bytes) -> bool:
    return all(text.count(opener) == text.count(closer) for opener, closer in OPENERS.items())
