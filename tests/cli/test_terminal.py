"""Commands on a terminal: a command that waits says so, and no output can control the terminal."""

import os
import pty
import signal
import subprocess
import sys
import termios
from collections.abc import Generator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import pytest

from lsp_harness.cli import console
from tests.cli.conftest import Shell


class Terminal(StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@contextmanager
def run_on_terminal(*arguments: str, cwd: Path, home: Path) -> Generator[tuple[subprocess.Popen[str], int]]:
    """Start a command whose standard input is a terminal, and return it with the descriptor of the user's side."""
    ours, theirs = pty.openpty()
    # what is typed is not to be printed again
    modes = termios.tcgetattr(theirs)
    modes[3] &= ~termios.ECHO
    termios.tcsetattr(theirs, termios.TCSANOW, modes)
    # a shell that runs the tests in the background lets them ignore Ctrl-C, and children inherit that
    process = subprocess.Popen(
        ["env", "--default-signal=INT", sys.executable, "-m", "lsp_harness", *arguments],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env={**os.environ, "LSP_HARNESS_HOME": str(home)},
    )
    os.close(theirs)
    try:
        yield process, ours
    finally:
        process.kill()
        process.communicate()
        os.close(ours)


def test_digest_says_that_it_waits_for_input_and_how_to_end_it(tmp_path: Path) -> None:
    with run_on_terminal("digest", cwd=tmp_path, home=tmp_path) as (process, typed):
        assert process.stderr
        assert "paste the output of a tool, then press Ctrl-D" in process.stderr.readline()
        os.write(typed, b"a.py:1: error: Bad  [bad]\n\x04")
        assert process.communicate()[0].splitlines()[-1] == "mypy: 1 error"


def test_serve_says_that_it_waits_for_an_editor_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    with run_on_terminal("serve", cwd=tmp_path, home=tmp_path) as (process, _):
        assert process.stderr
        assert "waits for an editor" in (line := process.stderr.readline())
        assert "Ctrl-C ends it" in line
        process.send_signal(signal.SIGINT)
        assert process.wait(20) != 0


def test_serve_prints_no_hint_to_an_editor(tmp_path: Path) -> None:
    environment = {**os.environ, "LSP_HARNESS_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "lsp_harness", "serve"]
    result = subprocess.run(
        command, check=False, stdin=subprocess.DEVNULL, capture_output=True, cwd=tmp_path, env=environment
    )
    assert (result.stdout, result.stderr) == (b"", b"")


HOSTILE = "a\x1b[31m\x07\x9b\x7f\u202eb\r.py"
HARMLESS = r"a\u001b[31m\u0007\u009b\u007f\u202eb\u000d.py"


def test_signs_that_would_control_a_terminal_are_shown_instead() -> None:
    assert console.escape_controls(HOSTILE) == HARMLESS
    assert console.escape_controls("a\tb\r\nc é😀\n") == "a\tb\r\nc é😀\n"


def test_text_is_escaped_on_terminals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream, expected in ((Terminal(), HARMLESS), (StringIO(), HOSTILE)):
        monkeypatch.setattr(sys, "stdout", stream)
        console.say(HOSTILE)
        monkeypatch.setattr(sys, "stderr", stream)
        console.warn(HOSTILE)
        assert stream.getvalue() == f"{expected}\nlsp-harness: {expected}\n"


def test_text_is_escaped_in_tables_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.table import Table

    monkeypatch.setattr(sys, "stdout", stream := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    table = Table(box=None)
    table.add_row("[green]✓[/]", HOSTILE.replace("[", "\\["))
    console.console().print(table)
    assert "\x1b[32m✓" in stream.getvalue(), "our own colours stay"
    assert "\x1b[31m" not in stream.getvalue()
    assert r"\u001b[31m" in stream.getvalue()


def test_json_on_a_terminal_stays_json(monkeypatch: pytest.MonkeyPatch) -> None:
    import json

    monkeypatch.setattr(sys, "stdout", stream := Terminal())
    console.print_json({"path": HOSTILE})
    assert "\x9b" not in stream.getvalue()
    assert json.loads(stream.getvalue()) == {"path": HOSTILE}


def test_a_search_prints_hostile_names_harmlessly(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.file("grow\x1b[31m.py", "def grow(tree):\n    return tree\n")
    monkeypatch.setattr(sys, "stdout", stream := Terminal())
    shell.run("search", "grow")
    assert r"grow\u001b[31m.py:1: grow" in stream.getvalue()
