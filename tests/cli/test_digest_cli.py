"""`lsp-harness digest`: the problems in the output of a tool."""

import io
import sys

import pytest

from tests.cli.conftest import Shell

TEXT = "a.py:3:8: F401 [*] `os` imported but unused\na.py:1:1: invalid-syntax: Expected `)`\nFound 2 errors.\n"


def test_a_file(shell: Shell):
    shell.file("ruff.txt", TEXT)
    assert shell.run("digest", "ruff.txt") == (
        1,
        (
            "a.py:1:1: error: Expected `)` [invalid-syntax]\na.py:3:8: warning: `os` imported but unused [F401]\n"
            "ruff: 1 error, 1 warning\n"
        ),
        "",
    )
    assert shell.run("digest", "ruff.txt", "--limit", "1").out.splitlines()[0] == "… and 2 more: 1 error, 1 warning"


def test_standard_input_with_paths_of_this_folder(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    text = f"{shell.folder}/src/a.ts(3,7): error TS2322: Type 'a' is not 'b'.\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    result = shell.run("digest", "--tool", "tsc")
    assert result == (1, "src/a.ts:3:7: error: Type 'a' is not 'b'. [TS2322]\ntsc: 1 error\n", "")


def test_for_programs(shell: Shell):
    shell.file("ruff.txt", TEXT)
    result = shell.run("digest", "ruff.txt", "--json")
    assert result.code == 1
    assert (result.json["tool"], result.json["summary"]) == ("ruff", "ruff: 1 error, 1 warning")
    assert [(row["path"], row["line"], row["code"]) for row in result.json["problems"]] == [
        ("a.py", 1, "invalid-syntax"),
        ("a.py", 3, "F401"),
    ]


def test_nothing_wrong_and_nothing_understood(shell: Shell):
    shell.file("clean.txt", "All checks passed!\n")
    shell.file("words.txt", b"\xff words \xf0\n")
    assert shell.run("digest", "clean.txt") == (0, "ruff: no problems\n", "")
    assert shell.run("digest", "words.txt") == (0, "no problem is recognized in this output (1 line)\n", "")


def test_what_makes_no_sense(shell: Shell):
    shell.file("clean.txt", "")
    assert shell.run("digest", "nowhere.txt").err == "lsp-harness: there is no file 'nowhere.txt'\n"
    result = shell.run("digest", "clean.txt", "--tool", "jest")
    assert result.code == 2
    assert "the output of 'jest' is not supported; --tool can be pytest, junit, ruff" in result.err
    assert "--limit must be 1 or more, not 0" in shell.run("digest", "clean.txt", "--limit", "0").err
