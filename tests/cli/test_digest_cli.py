"""`lsp-harness digest`: the problems in the output of a tool."""

import io
import sys

import pytest

from tests.cli.conftest import Shell

TEXT = "a.py:3:8: F401 [*] `os` imported but unused\na.py:1:1: invalid-syntax: Expected `)`\nFound 2 errors.\n"


def test_digest_reads_a_file(shell: Shell):
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


def test_digest_reads_standard_input_and_shortens_paths_of_this_folder(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    text = f"{shell.folder}/src/a.ts(3,7): error TS2322: Type 'a' is not 'b'.\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    result = shell.run("digest", "--tool", "tsc")
    assert result == (1, "src/a.ts:3:7: error: Type 'a' is not 'b'. [TS2322]\ntsc: 1 error\n", "")


def test_digest_prints_json_for_programs(shell: Shell):
    shell.file("ruff.txt", TEXT)
    result = shell.run("digest", "ruff.txt", "--json")
    assert result.code == 1
    assert (result.json["tool"], result.json["summary"]) == ("ruff", "ruff: 1 error, 1 warning")
    assert [(row["path"], row["line"], row["code"]) for row in result.json["problems"]] == [
        ("a.py", 1, "invalid-syntax"),
        ("a.py", 3, "F401"),
    ]


def test_clean_output_gives_status_0_and_unknown_output_gives_status_3(shell: Shell):
    shell.file("clean.txt", "All checks passed!\n")
    shell.file("words.txt", b"\xff words \xf0\n")
    assert shell.run("digest", "clean.txt") == (0, "ruff: no problems\n", "")
    result = shell.run("digest", "words.txt")
    assert (result.code, result.err) == (3, "")
    assert result.out.splitlines() == ["this output is not understood (1 line)", "  \ufffd words \ufffd"]


def test_digest_prints_only_the_last_lines_of_unknown_output(shell: Shell):
    shell.file("words.txt", "".join(f"step {number}\n" for number in range(9)))
    assert shell.run("digest", "words.txt").out.splitlines()[1:] == [f"  step {number}" for number in range(4, 9)]
    result = shell.run("digest", "words.txt", "--json")
    assert result.code == 3
    assert result.json["understood"] is False
    assert result.json["last_lines"][-1] == "step 8"


def test_a_truncated_output_is_no_success(shell: Shell):
    shell.file("half.txt", "=== test session starts ===\ncollected 3 items\n\ntests/test_a.py .")
    result = shell.run("digest", "half.txt")
    assert result.code == 3
    assert result.out.splitlines()[-1] == "  tests/test_a.py ."
    shell.file("none.txt", "=== test session starts ===\n=== no tests ran in 0.01s ===\n")
    assert shell.run("digest", "none.txt") == (0, "pytest: no tests ran\n", "")


def test_arguments_that_make_no_sense(shell: Shell):
    shell.file("clean.txt", "")
    assert shell.run("digest", "nowhere.txt").err == "lsp-harness: there is no file 'nowhere.txt'\n"
    result = shell.run("digest", "clean.txt", "--tool", "cobra")
    assert result.code == 2
    assert "the output of 'cobra' is not supported; --tool can be pytest, junit, ruff" in result.err
    assert "--limit must be 1 or more, not 0" in shell.run("digest", "clean.txt", "--limit", "0").err
