"""Shows the frames of a session to a person."""

import json
import sys
from collections.abc import Mapping
from typing import Any, TextIO

from lsp_harness.cli.console import make_encodable
from lsp_harness.cli.sessions.diff_colours import paint_diffs
from lsp_harness.cli.sessions.live_line import LiveLine
from lsp_harness.text.visible_text import escape_controls
from lsp_harness.wire.stage_lines import describe_stage

MAX_INPUT_CHARS = 100
MAX_OUTPUT_LINES = 6
Frame = Mapping[str, Any]


class SessionPrinter:
    """Prints answers to one stream, and everything else to another one.

    Args:
        answers: The stream for the text of answers.
        details: The stream for tools, states and errors.
        shows_text: Whether the text is printed as it arrives.
        is_verbose: Whether every frame is printed to `details`, too.

    Attributes:
        live: The line about the running turn, below what was printed last.
    """

    def __init__(
        self,
        answers: TextIO | None = None,
        details: TextIO | None = None,
        *,
        shows_text: bool = True,
        is_verbose: bool = False,
    ) -> None:
        self._answers = answers or sys.stdout
        self._details = details or sys.stderr
        self._shows_text = shows_text
        self._is_verbose = is_verbose
        self._is_within_line = False
        self.live = LiveLine(self._details)
        self._last_stage = ""

    def show(self, frame: Frame) -> None:
        """Print one frame, if it says something to a person."""
        self.live.follow(frame)
        self.live.erase()
        if self._is_verbose:
            self._print_line(json.dumps(frame, ensure_ascii=False, default=str))
        match frame.get("type"):
            case "text" if self._shows_text:
                self._write_text(str(frame.get("content", "")))
            case "tool_start":
                self._print_line(f"· {frame.get('tool')} {shorten_input(frame.get('input'))}")
            case "tool_end":
                self._show_end(frame)
            case "error":
                self._print_line(f"error: {frame.get('message')}")
            case "state" | "candidate" | "verify" if line := describe_stage(frame):
                self._print_line(line)
                self._last_stage = line
            case "task":
                self._print_line(f"· task {frame.get('task_id')} {frame.get('status')}: {frame.get('summary') or ''}")
            case "compaction":
                self._print_line(f"· {frame.get('tier')}: {frame.get('before')} → {frame.get('after')} tokens")
            case "edit" if frame.get("status") == "proposed":
                self._print_line(str(frame.get("diff", "")))
            case "edit" if frame.get("status") == "applied":
                self._print_line("· the edit is applied")
            case "edit" if frame.get("status") == "rejected":
                self._print_line(f"· the edit is not applied: {frame.get('reason')}")
            case "turn_stop":
                self._show_stop(frame)
            case _:
                pass
        # the line would stand over the beginning of an answer that is still written
        self.live.pause(is_paused=self._is_within_line)

    def end_line(self) -> None:
        """End a line of an answer that has no end yet."""
        if self._is_within_line:
            self._answers.write("\n")
            self._is_within_line = False
        self._answers.flush()

    def _write_text(self, text: str) -> None:
        self._answers.write(make_encodable(escape_controls(text), self._answers))
        self._answers.flush()
        if text:
            self._is_within_line = not text.endswith("\n")

    def _print_line(self, text: str) -> None:
        self.end_line()
        shown = make_encodable(escape_controls(text), self._details)
        self._details.write(f"{paint_diffs(shown, self._details)}\n")
        self._details.flush()

    def _show_end(self, frame: Frame) -> None:
        output = str(frame.get("output") or "")
        lines = output.splitlines()
        shown = lines[:MAX_OUTPUT_LINES]
        more = len(lines) - len(shown)
        mark = "✗" if frame.get("error") else "✓"
        self._print_line("\n".join([f"  {mark} {shown[0] if shown else ''}", *(f"    {line}" for line in shown[1:])]))
        if more:
            self._print_line(f"    … {more} more lines")
        for finding in frame.get("findings") or ():
            self._print_line(f"    {finding}")

    def _show_stop(self, frame: Frame) -> None:
        self.end_line()
        reason, detail = frame.get("reason"), str(frame.get("detail") or "")
        # the last state of an edit has said it
        detail = "" if detail and self._last_stage.endswith(detail) else detail
        if reason != "completed":
            self._print_line(f"the turn ended: {reason}{f' ({detail})' if detail and detail != reason else ''}")


def shorten_input(value: Any) -> str:
    """Return the input of a tool in one short line, which says how much it leaves out."""
    text = json.dumps(value, ensure_ascii=False, default=str) if value else ""
    more = len(text) - MAX_INPUT_CHARS
    return text if more <= 0 else f"{text[:MAX_INPUT_CHARS]}… {more} more characters"
