"""Errors of commands: one sentence and an exit status, in any state of the process."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from lsp_harness.cli import usage_errors
from lsp_harness.cli.console import console, make_encodable_mark, print_json, replace_unencodable, say
from lsp_harness.cli.main import main
from lsp_harness.config import paths
from tests.cli.conftest import Shell


def _raise(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def failing(*_: object, **__: object) -> int:
        raise error

    monkeypatch.setattr(usage_errors, "run_command", failing)


@pytest.mark.parametrize(
    ("error", "code", "expected"),
    [
        (OSError(28, "No space left on device", "/x/y"), 8, "/x/y cannot be used: No space left on device; free"),
        (PermissionError(13, "Permission denied", "/x/y"), 8, "/x/y cannot be used: Permission denied; change who"),
        (OSError(40, "Too many levels of symbolic links", b"/x"), 8, "/x cannot be used: Too many levels of symbolic"),
        (PermissionError(13, "Permission denied"), 74, "standard output cannot be written: Permission denied"),
        (MemoryError(), 74, "there is not enough memory"),
        (BrokenPipeError(), 141, ""),
        (KeyboardInterrupt(), 130, ""),
        (ZeroDivisionError("é\udc80"), 70, "a bug: ZeroDivisionError: é"),
        (RecursionError(), 70, "a bug: RecursionError"),
    ],
)
def test_every_error_is_a_sentence(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, expected: str
) -> None:
    _raise(monkeypatch, error)
    # what is left of the output is dropped, which must not be that of the tests
    monkeypatch.setattr("lsp_harness.cli.main._drop_output", lambda: None)
    result = shell.run("doctor")
    assert result.code == code
    assert result.err.startswith(f"lsp-harness: {expected}") if expected else result.err == ""


def test_the_details_of_a_bug_are_kept(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    _raise(monkeypatch, ZeroDivisionError("x"))
    assert f"the details are in {paths.state_folder() / 'crash.log'}" in shell.run("doctor").err
    assert "ZeroDivisionError: x" in (paths.state_folder() / "crash.log").read_text()


@pytest.mark.parametrize("lies_there", ["pipe", "folder", "no home"])
def test_an_error_is_reported_although_the_crash_log_cannot_be_written(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lies_there: str
) -> None:
    _raise(monkeypatch, ZeroDivisionError("x"))
    match lies_there:
        case "pipe":
            os.mkfifo(paths.state_folder() / "crash.log")
        case "folder":
            (paths.state_folder() / "crash.log").mkdir()
        case _:
            (tmp_path / "file").write_text("")
            shell.set("LSP_HARNESS_HOME", str(tmp_path / "file"))
            shell.set("TMPDIR", str(tmp_path / "file"))
    result = shell.run("doctor")
    assert (result.code, "a bug: ZeroDivisionError: x; the details" in result.err) == (70, True)


class ClosedStream(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError(9, "Bad file descriptor")

    def flush(self) -> None:
        raise OSError(9, "Bad file descriptor")


def test_an_error_without_a_working_stderr_raises_no_second_error(monkeypatch: pytest.MonkeyPatch) -> None:
    _raise(monkeypatch, ZeroDivisionError("x"))
    monkeypatch.setattr(sys, "stderr", ClosedStream())
    with pytest.raises(SystemExit) as end:
        main(["doctor"])
    assert end.value.code == 70


# -- what an output cannot show
ENCODINGS = ("ascii", "iso-8859-1", "euc-jp", "utf-8")


def capture_output(encoding: str, print_: Callable[[], object]) -> str:
    """Return the text that a function writes to a standard output with an encoding."""
    data = io.BytesIO()
    with redirect_stdout(io.TextIOWrapper(data, encoding, write_through=True)) as output:
        print_()
        return data.getvalue().decode(output.encoding)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_signs_are_printed_in_ascii_if_the_encoding_needs_it(encoding: str) -> None:
    text = capture_output(encoding, lambda: say("✓ “a” → b… \udc80\N{PILE OF POO}"))
    assert text.startswith("✓ " if encoding == "utf-8" else "ok ")
    if encoding == "ascii":
        assert text == 'ok "a" -> b... ??\n'


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_table_is_shown(encoding: str) -> None:
    def show() -> None:
        replace_unencodable()
        console().print(f"{make_encodable_mark('[red]✗[/]')} ⏎ 漢字 é")

    assert capture_output(encoding, show).startswith("✗ ⏎" if encoding == "utf-8" else "x | ")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_json_loses_no_character(encoding: str) -> None:
    assert json.loads(capture_output(encoding, lambda: print_json({"a": "✓ é 漢字"}))) == {"a": "✓ é 漢字"}


LOCALES = {"C": None, "POSIX": None, "C.UTF-8": None, "de_DE.ISO-8859-1": "ISO-8859-1", "ja_JP.EUC-JP": "EUC-JP"}
TWICE = """
import sys
from lsp_harness.cli.main import main
for arguments in (["fix", "a.py", "--apply"], ["doctor"]):
    try:
        main(arguments)
    except SystemExit as end:
        print("ended with", end.code)
"""


@pytest.mark.parametrize("name", LOCALES)
def test_a_fix_is_applied_and_reported_in_every_locale(tmp_path: Path, name: str) -> None:
    """Run in another process, because Python chooses the encoding of its output at the start."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG", "PYTHON"))}
    environment |= {"LC_ALL": name, "LSP_HARNESS_HOME": str(tmp_path / "home"), "LSP_HARNESS_INDEX__ENABLED": "false"}
    environment["LSP_HARNESS_ENGINE__SCRIPT"] = str(tmp_path / "script.json")
    if charmap := LOCALES[name]:
        process = subprocess.run(
            ["localedef", "-i", name.split(".")[0], "-f", charmap, str(tmp_path / name)],
            capture_output=True,
            check=False,
        )
        if process.returncode:
            # this machine cannot make one: Python is told what it would have found
            environment |= {"LC_ALL": "C", "PYTHONIOENCODING": charmap}
        else:
            environment["LOCPATH"] = str(tmp_path)
    (tmp_path / "script.json").write_text("[]")
    (tmp_path / "a.py").write_text("import os\n\nx = 1\n")
    result = subprocess.run(
        [sys.executable, "-c", TWICE], cwd=tmp_path, env=environment, capture_output=True, check=False, timeout=60
    )
    out = result.stdout.decode(charmap or "utf-8")
    assert (result.returncode, result.stderr.decode("ascii", "replace")) == (0, "")
    assert (tmp_path / "a.py").read_text() == "x = 1\n"
    assert ("parse ok" if charmap else "parse ✓") in out
    assert out.count("ended with 0") >= 1
    assert ("ok  python" if charmap else "✓  python") in out


def test_a_current_folder_that_is_gone_is_named_as_the_cause(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    result = shell.run("search", "area")
    assert (result.code, result.err) == (
        2,
        "lsp-harness: the current folder was removed or renamed; change to a folder that exists and run this again\n",
    )
