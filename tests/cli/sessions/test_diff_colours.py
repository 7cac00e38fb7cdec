"""The colours of diffs, and the last line of a turn that failed."""

import io

import pytest

from lsp_harness.cli.sessions.diff_colours import paint_diffs
from lsp_harness.cli.sessions.session_printer import SessionPrinter
from lsp_harness.cli.sessions.terminal_question import write_question

DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n-a = 1\n+a = 2\n b = 3\n"
RED, GREEN, END = "\x1b[31m", "\x1b[32m", "\x1b[0m"


class FakeTerminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> FakeTerminal:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    return FakeTerminal()


def test_the_lines_of_a_diff_have_colours_and_other_lines_have_none(terminal: FakeTerminal):
    painted = paint_diffs(f"- a list\n{DIFF}\n+ not a diff any more", terminal).split("\n")
    assert f"{RED}-a = \x1b[7m1\x1b[27m{END}" in painted
    assert f"{GREEN}+a = \x1b[7m2\x1b[27m{END}" in painted
    assert {"- a list", " b = 3", "+ not a diff any more"} <= set(painted)


def test_the_marks_of_checks_have_colours(terminal: FakeTerminal):
    line = "[VERIFY] Candidate 1 fails (parse ✓, types ✗)"
    painted = paint_diffs(line, terminal)
    assert painted == line.replace("✓", f"{GREEN}✓\x1b[39m").replace("✗", f"{RED}✗\x1b[39m")
    # a sign in the code of a diff stays as it is
    assert "✓\x1b[39m" not in paint_diffs(DIFF + " mark = '✓'\n", terminal)


def test_changed_words_are_marked_and_lines_keep_their_order(terminal: FakeTerminal):
    diff = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n-    return 3 * radius\n-    # old\n+    return 3 * radius ** 2\n"
    assert paint_diffs(diff, terminal).split("\n")[3:] == [
        f"{RED}-    return 3 * radius{END}",
        f"{RED}-    # old{END}",
        f"{GREEN}+    return 3 * radius\x1b[7m ** 2\x1b[27m{END}",
        "",
    ]


def test_a_question_has_the_same_colours_and_a_file_has_none(terminal: FakeTerminal):
    indented = "".join(f"  {line}\n" for line in DIFF.splitlines())
    text = f"edit: change files\n{indented}asked because: - nobody knows\x1b[31m"
    write_question(text, terminal)
    assert f"{GREEN}  +a = \x1b[7m2\x1b[27m{END}\n" in terminal.getvalue()
    # the text itself cannot control the terminal
    assert "asked because: - nobody knows\\u001b[31m\n" in terminal.getvalue()
    file = io.StringIO()
    write_question(text, file)
    assert "\x1b" not in file.getvalue()


def test_no_color_turns_the_colours_off(terminal: FakeTerminal, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert paint_diffs(DIFF, terminal) == DIFF


def test_a_failure_is_said_once():
    lines = io.StringIO()
    printer = SessionPrinter(lines, lines)
    stop = {"type": "turn_stop", "reason": "error", "detail": "there is no file a.py"}
    printer.show({"type": "state", "status": "entered", "state": "FAILED", "reason": "there is no file a.py"})
    printer.show(stop)
    assert lines.getvalue() == "[FAILED] there is no file a.py\nthe turn ended: error\n"
    SessionPrinter(lines, lines).show(stop)
    assert lines.getvalue().endswith("the turn ended: error (there is no file a.py)\n")
