"""A question about a permission as a terminal shows it: its text, its answers, and what the answers mean."""

from collections.abc import Mapping
from typing import Any, Literal, TextIO

from lsp_harness.cli.sessions.diff_colours import paint_diffs
from lsp_harness.text.visible_text import escape_controls, escape_unencodable

YES, NO = frozenset({"y", "yes"}), frozenset({"n", "no"})
"""The words of a person at a terminal."""
MAX_LINES, MAX_CHARS = 120, 6_000
"""A longer text is folded, so that what stands around it stays on the screen."""
HEAD_PART = 2 / 3
"""The part of a folded text that is its beginning. The rest is its end, which says why it is asked."""
EDIT_TOOLS = frozenset(
    {"edit", "create", "write", "undo", "replace_symbol_body", "insert_before_symbol", "insert_after_symbol"}
)
Reading = Literal["once", "session", "always", "no", "show", "retry", "help", "unknown"]
"""The meaning of a line: how long a yes counts, or no, or that all of the text or the meaning of the answers is to be
shown, or that another change is wanted. Other lines are asked again."""
ANSWERS: Mapping[str, Reading] = {
    **dict.fromkeys(YES, "once"),
    **dict.fromkeys(NO, "no"),
    "s": "session",
    "a": "always",
    "v": "show",
    "d": "show",
    "r": "retry",
    **dict.fromkeys(("h", "help", "?"), "help"),
}
EDIT_HELP = """\
y  write the change
n  leave the files as they are
d  show the whole change again
r  make another change: you say what should be different"""
REMEMBER_HELP = """\
s  yes, and for this session also what the question names
a  yes, and always: the rule is saved in your settings"""


class TerminalQuestion:
    """A question for a person in a terminal.

    Args:
        frame: The object `permission_request`.
        can_retry: Whether the person may ask for another change instead.
    """

    def __init__(self, frame: Mapping[str, Any], *, can_retry: bool = False) -> None:
        self.text = str(frame.get("text") or "")
        """All of the question."""
        self.folded = fold_text(self.text)
        """The question without the middle of a long text. It says how much is missing."""
        self._is_edit = frame.get("tool") in EDIT_TOOLS
        self._can_remember = bool(frame.get("suggestions"))
        self._can_retry = can_retry and self._is_edit

    @property
    def choices(self) -> str:
        """The answers in words."""
        remember = ", s = for this session, a = always" if self._can_remember else ""
        return f"y = yes, n = no{remember}{', v = view all' if self.folded != self.text else ''}"

    @property
    def prompt(self) -> str:
        """The line behind which the person writes the answer."""
        more = " · s = for this session, a = always" if self._can_remember else ""
        more += " · v = view all" if self.folded != self.text else ""
        more += " · r = retry, h = help" if self._can_retry else ""
        return f"{'Apply?' if self._is_edit else 'Allow?'} [y/n{more}] "

    def read_answer(self, line: str) -> Reading:
        """Return what a line of the person means."""
        reading = ANSWERS.get(line.strip().casefold(), "unknown")
        if reading in ("session", "always") and not self._can_remember:
            return "unknown"
        return "unknown" if reading in ("retry", "help") and not self._can_retry else reading

    @property
    def help(self) -> str:
        """The meaning of each answer, for people."""
        return f"{EDIT_HELP}\n{REMEMBER_HELP}" if self._can_remember else EDIT_HELP


def write_question(text: str, stream: TextIO) -> None:
    """Print the text of a question as it is, with colours in its diffs.

    It has no control characters, and another sign would be another text.
    """
    shown = escape_unencodable(escape_controls(text), stream.encoding or "utf-8")
    stream.write(f"{paint_diffs(shown, stream)}\n")
    stream.flush()


def fold_text(text: str, max_lines: int = MAX_LINES, max_chars: int = MAX_CHARS) -> str:
    """Return a text with a line in place of its middle if it is long. The line says how much is missing."""
    lines = text.split("\n")
    head, tail = text, ""
    if len(lines) > max_lines:
        count = int(max_lines * HEAD_PART)
        head, tail = "\n".join(lines[:count]), "\n".join(["", *lines[count - max_lines :]])
    if len(head) + len(tail) > max_chars:
        size = int(max_chars * HEAD_PART)
        ending = tail or text
        head, tail = head[:size], ending[size - max_chars :]
    if not tail:
        return text
    missing = len(text) - len(head) - len(tail)
    # the end of a line must not look like a line of the question
    tail = tail if tail.startswith("\n") else f"\n  …{tail}"
    return f"{head}\n… {missing} more characters, press v{tail}"
