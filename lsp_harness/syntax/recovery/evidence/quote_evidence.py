"""What speaks for and against a place of a quote: what is next to it, and whether what it encloses looks like a string."""

import re

from lsp_harness.syntax.lexemes import OPENERS
from lsp_harness.syntax.recovery.broken_text import BrokenText
from lsp_harness.syntax.recovery.token_edit import Trial, decode_token

Evidence = dict[str, float]
LOOKS_LIKE_CODE = re.compile(rb"[,;]\s*[\w$]+\s*[=(\[]|\)\s*[;,{)]|=>|\w\(|, $")
"""What is rather code than words."""
MAX_LENGTH_BYTES = 60
"""Bytes of a string from which on its length says no more."""


def quote_evidence(scene: BrokenText, trial: Trial, found: Evidence) -> None:
    """What speaks for and against a quote that is inserted or deleted."""
    data, at = scene.data, trial.edit.start
    end = trial.edit.end
    left, right = data[at - 1 : at] if at else b"", data[end : end + 1]
    act = f"{trial.action} {trial.note}"
    found[f"{act} after {_letter(left)}"] = 1.0
    found[f"{act} before {_letter(right)}"] = 1.0
    begin = data.rfind(b"\n", 0, at) + 1
    stop = data.find(b"\n", end)
    line = data[begin : stop if stop >= 0 else len(data)]
    before, behind = data[begin:at], data[end : begin + len(line)]
    if not before.strip():
        found[f"{act} at the start of the line"] = 1.0
    if not behind.strip():
        found[f"{act} at the end of the line"] = 1.0
    quote = trial.token
    if trial.action == "delete":
        found[f"{act}: {'doubled' if quote[:1] in (left, right) else 'single'}"] = 1.0
        others = sum(line.count(one) for one in (b'"', b"'", b"`") if one != quote[:1])
        found[f"{act}: others on the line"] = float(others > 0)
    content = (
        behind.split(quote)[0]
        if trial.note == "opening"
        else before.rsplit(quote, 1)[-1]
        if trial.note == "closing"
        else b""
    )
    if trial.note in ("opening", "closing"):
        found[f"{act}: balanced"] = float(_balanced(content))
        rest = before + behind[len(content) :] if trial.note == "opening" else before[: -len(content) or None] + behind
        found[f"{act}: rest balanced"] = float(_balanced(rest))
        found[f"{act}: empty"] = float(not content)
        found[f"{act}: code inside"] = float(LOOKS_LIKE_CODE.search(content) is not None)
        found[f"{act}: length"] = min(len(content), MAX_LENGTH_BYTES) / 10
        whole = quote + content + quote
        found[f"{act}: same string elsewhere"] = float(data.count(whole) > 0)
        found[f"{act}: blank at an end"] = float(content[:1] == b" " or content[-1:] == b" ")


def _letter(byte: bytes) -> str:
    if not byte or byte in b"\r\n":
        return "an end"
    if byte.isalnum() or byte == b"_" or byte[0] > 127:
        return "a letter"
    return "a blank" if byte.isspace() else decode_token(byte)


def _balanced(text: bytes) -> bool:
    return all(text.count(opener) == text.count(closer) for opener, closer in OPENERS.items())
