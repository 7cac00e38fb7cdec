"""Wrong arguments: one sentence with the right form."""

import os
import shlex
import socket

import pytest

from lsp_harness.cli.usage_errors import add_command
from lsp_harness.kernel.log.session_store import SessionStore
from tests.cli.conftest import Shell

CODE = "def area(r):\n    return 3 * r\n"


def check(shell: Shell, arguments: str, *expected: str) -> None:
    """Run a wrong command line and check its message."""
    result = shell.run(*arguments.split())
    assert (result.code, result.out) == (2, ""), result.err
    assert result.err.startswith("lsp-harness: ")
    assert result.err.count("\n") == 1
    for words in expected:
        assert words in result.err, result.err


@pytest.mark.parametrize(
    ("arguments", "right"),
    [
        ("fix geo.py 10", "fix geo.py:10"),
        ("fix geo.py 10 12", "fix geo.py:10"),
        ("fix --line 10", "fix FILE:10"),
        ("fix geo.py --line 10", "fix geo.py:10"),
        ("fix --line=10 geo.py", "fix geo.py:10"),
        ("fix --file geo.py -l 10", "fix geo.py:10"),
        ("fix --file geo.py", "fix geo.py"),
        ("complete geo.py 6 12", "complete geo.py:6:12"),
        ("complete geo.py:6 12", "complete geo.py:6:12"),
        ("complete geo.py 6", "complete geo.py:6:COL"),
        ("complete geo.py --line 6 --col 12", "complete geo.py:6:12"),
        ("complete geo.py:6 --column 12", "complete geo.py:6:12"),
        ("context geo.py 6 12 --explain", "context geo.py:6:12"),
        ("search --at geo.py 10", "search --at geo.py:10"),
        ("search parse the settings file", 'search "parse the settings file"'),
        ("search parse settings", 'search "parse settings"'),
        ("locate let parse accept a path", 'locate "let parse accept a path"'),
        ("locate let parse", 'locate "let parse"'),
        ("fix", "fix FILE[:LINE]"),
        ("complete", "complete FILE:LINE:COL"),
        ("complete geo.py", "complete geo.py:LINE:COL"),
        ("docs", "docs NAME [FOLDER]"),
        ("geo.py:2", "fix geo.py:2"),
    ],
)
def test_the_error_shows_the_right_form_of_the_arguments(shell: Shell, arguments: str, right: str) -> None:
    shell.file("geo.py", CODE)
    check(shell, arguments, f"lsp-harness {right}")


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        ("fxi geo.py", "fix"),
        ("complet", "complete"),
        ("engine stpo", "engine stop"),
        ("stop", "engine stop or lsp-harness agents stop"),
        ("pull", "model pull"),
        ("status", "engine status or lsp-harness index status"),
        ("version", "--version"),
        ("help fxi", "fix"),
        ("help engine stpo", "engine stop"),
    ],
)
def test_an_unknown_command_is_answered_with_the_nearest_one(shell: Shell, arguments: str, near: str) -> None:
    check(shell, arguments, f"did you mean: lsp-harness {near}?")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--nonsense", "no option --nonsense; see lsp-harness help"),
        ("fix geo.py --aply", "fix has no option --aply; did you mean --apply?"),
        ("engine logs -n 3", "engine logs has no option -n; it has --lines"),
        ("engine logs 3", "engine logs cannot use '3'; see lsp-harness help engine logs"),
        ("fix geo.py other.py", "fix cannot use 'other.py'; it takes FILE[:LINE]; see lsp-harness help fix"),
        ("digest --limit many", "--limit takes a whole number, not 'many'"),
        ("fix geo.py --failing", "--failing needs a value"),
        ("locate", 'write: lsp-harness locate "TASK" [FOLDER]; for example: '),
        ("index context", "write: lsp-harness index context SYMBOL; see lsp-harness help index context"),
        ("search ring --limit 0", "--limit must be 1 or more, not 0; see lsp-harness help search"),
        ("engine logs --lines -1", "--lines must be 1 or more, not -1; see lsp-harness help engine logs"),
        ("serve --tcp a --ws b", "--tcp and --ws exclude each other; choose one"),
    ],
)
def test_other_arguments_that_cannot_be_used(shell: Shell, arguments: str, expected: str) -> None:
    shell.file("geo.py", CODE)
    check(shell, arguments, expected)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("fix ge.py", "there is no file 'ge.py'; did you mean 'geo.py'?"),
        ("complete nope/none.py:1:1", "there is no file 'nope/none.py'\n"),
        ("complete geo.py/x:1:1", "there is no file 'geo.py/x'"),
        ("fix .", ". is a folder; name one file in it"),
        ("fix sub:3", "sub is a folder; name one file in it"),
        ("fix pipe", "pipe is not a regular file but a pipe"),
        ("complete pipe:1:1", "pipe is not a regular file but a pipe"),
        ("fix link", "link is not a regular file but a device"),
        ("fix socket", "socket is not a regular file but a socket"),
        ("complete geo.py:0:0", "geo.py:0:0: lines and columns count from 1"),
        ("complete geo.py:1:0", "lines and columns count from 1"),
        ("fix geo.py:-4", "lines and columns count from 1, so there is no -4"),
        ("complete geo.py:x:1", "'x:1' is no line of geo.py; write FILE:LINE:COL with numbers"),
        ("fix geo.py:1:2", "write geo.py:1, not geo.py:1:2"),
        ("fix geo.py:99", "the file has 3 lines; line 99 is past its end"),
        ("search --at geo.py", "the place geo.py has no line; write: lsp-harness search --at geo.py:LINE"),
    ],
)
def test_each_kind_of_invalid_place_has_its_own_error(shell: Shell, arguments: str, expected: str) -> None:
    shell.file("geo.py", CODE)
    (shell.folder / "sub").mkdir()
    os.mkfifo(shell.folder / "pipe")
    (shell.folder / "link").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listener:
        # a path of the test may be too long for a socket's name
        listener.bind("socket")
        check(shell, arguments, expected)


def test_a_file_may_be_called_like_a_place(shell: Shell) -> None:
    shell.file("geo.py:3", CODE)
    shell.replies()
    assert shell.run("fix", "geo.py:3:1").out.startswith("geo.py:3:1: nothing was checked")
    check(shell, "fix geo.py:3:9", "line 9 is past its end")


def test_a_word_like_a_command_may_be_a_prompt(shell: Shell):
    check(shell, "second", "did you mean: lsp-harness session? If it is a prompt: lsp-harness run second")


@pytest.mark.parametrize(
    "arguments", ["commit", "diff", "commit --max-turns 1", "--max-turns 1 commit", "-- commit", "修复"]
)
def test_a_single_word_is_not_taken_for_a_prompt(shell: Shell, arguments: str):
    shell.replies("never asked")
    word = "修复" if arguments == "修复" else "commit" if "commit" in arguments else "diff"
    result = shell.run(*arguments.split())
    assert (result.code, result.out) == (2, "")
    if not arguments.startswith("-"):
        assert f"there is no command {word!r}; see lsp-harness help" in result.err
    assert f"If it is a prompt: lsp-harness run {shlex.quote(word)}" in result.err
    assert SessionStore().ids() == []


@pytest.mark.parametrize("prompt", ["fix it", "fix\tit", "fix\nit", "a" * 200 + " " + "b" * 200])
def test_several_words_are_one(shell: Shell, prompt: str):
    assert add_command([prompt], is_terminal=False) == ["run", prompt]


def test_an_option_after_the_dashes_is_named(shell: Shell):
    check(shell, "run -- serve -p local", "the option -p must stand before --")
