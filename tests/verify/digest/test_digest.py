"""Tests of the steps of the digest that are equal for all tools."""

import pytest

from lsp_harness.errors import UsageError
from lsp_harness.verify.digest.digest import MAX_MESSAGE_CHARS, digest_output, read_last_line
from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import ToolProblem
from tests.verify.digest.conftest import digest_of_fixture, read_fixture

TOKEN = "ghp_" + "a1B2" * 9


def test_errors_come_first_and_repeated_problems_are_counted():
    result = Digest(
        "tool",
        (
            ToolProblem("unused", "a.py", 1, severity="warning", code="F401"),
            ToolProblem("broken", "b.py", 2, 3),
            *(ToolProblem("unused", "a.py", line, severity="warning", code="F401") for line in (4, 4, 5, 6, 7)),
            ToolProblem("nothing there", test="tests/test_a.py::test_a"),
        ),
    )
    assert result.lines(3) == [
        "b.py:2:3: error: broken",
        "TEST FAIL: test_a — nothing there",
        "a.py:1: warning: unused [F401] (×6: also lines 4, 5, 6, …)",
    ]
    assert result.lines(2) == ["b.py:2:3: error: broken", "… and 7 more: 1 error, 6 warnings"]
    assert result.lines(1) == ["… and 8 more: 2 errors, 6 warnings"]
    assert result.as_json()["problems"][0] == {
        "path": "b.py",
        "line": 2,
        "column": 3,
        "severity": "error",
        "code": "",
        "message": "broken",
        "test": "",
    }


def test_lines_that_end_as_elsewhere_and_colours(name: str):
    assert digest_output(read_fixture(name).replace("\n", "\r\n"), root="/project") == digest_of_fixture(name)
    if not name.endswith((".xml", ".json")):
        coloured = "".join(f"\x1b[1;31m{line}\x1b[0m\n" for line in read_fixture(name).split("\n")[:-1])
        assert digest_output(coloured, root="/project") == digest_of_fixture(name)


def test_a_log_of_several_tools_names_all_of_them():
    digest = digest_output(
        "".join(read_fixture(name) for name in ("ruff-full.txt", "mypy.txt", "tsc.txt", "pytest.txt")), root="/project"
    )
    assert digest.tool == "pytest, ruff, mypy, tsc"
    assert len(digest.problems) == sum(
        len(digest_of_fixture(name).problems) for name in ("ruff-full.txt", "mypy.txt", "tsc.txt", "pytest.txt")
    )


def test_secrets_are_removed():
    for text in (
        f"a.py:1: error: Invalid value '{TOKEN}'  [misc]\n",
        f"FAILED test_a.py::test_a[{TOKEN}] - AssertionError: assert '{TOKEN}' == ''\n",
        f"=== FAILURES ===\n___ test_a ___\nE   ValueError: {TOKEN}\n\ntest_a.py:1: ValueError\n1 failed in 0.1s\n",
        f'[{{"filename": "{TOKEN}.py", "location": {{}}, "message": "x {TOKEN}"}}]',
        "a.c:1:2: error: " + "x " * 140 + TOKEN,
        "a.c:1:2: error: " + "x " * 3_980 + TOKEN,
    ):
        digest = digest_output(f"=== short test summary info ===\n{text}" if text.startswith("FAILED") else text)
        assert digest.problems
        assert "a1B2" not in repr(digest)
        assert "…" in repr(digest)
    key = "-----BEGIN RSA PRIVATE KEY-----\\nMIIEabcd\\n" * 2
    [problem] = digest_output(f'[{{"filename": "a.py", "location": {{}}, "message": "{key}"}}]').problems
    assert problem.message == "…"


def test_a_long_message_keeps_both_ends():
    [problem] = digest_output(f"a.py:1: error: begins {'word ' * 200}ends  [misc]\n").problems
    assert problem.message.startswith("begins word")
    assert problem.message.endswith("word ends")
    assert " … " in problem.message
    assert len(problem.message) <= MAX_MESSAGE_CHARS


def test_an_unknown_output_has_no_problems():
    digest = digest_output("All good.\nNothing to see.\n")
    assert (digest.tool, digest.problems) == ("", ())
    assert digest.lines(5) == ["this output is not understood (2 lines)"]
    assert digest.last_lines == ("All good.", "Nothing to see.")
    assert not digest.is_conclusive
    assert digest_output("All good.\n", "mypy").lines(5) == ["this output is not understood (1 line)"]
    assert not digest_output("All good.\n", "mypy").is_conclusive
    assert digest_output("", "mypy").is_conclusive
    assert digest_output("").lines(5) == ["no output"]
    assert digest_output("\n", "tsc").lines(5) == ["tsc: no problems"]
    assert digest_output("[]", "ruff").lines(5) == ["ruff: no problems"]
    with pytest.raises(UsageError, match="--tool can be pytest, junit, ruff"):
        digest_output("", "cobra")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("src/a.c:3:5: fatal error: x.h: No such file\n", "src/a.c:3:5: error: x.h: No such file"),
        ("a.c:3:5: warning: unused variable 'x' [-Wunused]\n", "a.c:3:5: warning: unused variable 'x' [-Wunused]"),
        (
            "A.java:2: error: cannot find symbol\n    return smu;\n           ^\n  symbol:   variable smu\n",
            "A.java:2:12: error: cannot find symbol: variable `smu`",
        ),
        ("A.java:2: error: ';' expected\n    f()\n       ^\n", "A.java:2:8: error: ';' expected"),
        ("C:\\src\\a.rb:3: syntax error\n", "C:\\src\\a.rb:3: error: syntax error"),
        (
            "pkg/a.py:1:0: C0114: Missing docstring (missing)\n",
            "pkg/a.py:1: warning: Missing docstring (missing) [C0114]",
        ),
        (
            'Traceback (most recent call last):\n  File "/p/a.py", line 3, in f\n    g()\nKeyError: 1\n',
            "a.py:3: error: KeyError: 1",
        ),
    ],
)
def test_lines_of_unknown_tools_are_read(text: str, line: str):
    assert digest_output(f"some words\n{text}and more\n", root="/p").lines(5) == [line]


def test_an_error_of_an_unknown_tool_is_found_behind_a_clean_tool():
    digest = digest_output("All checks passed!\ngcc a.c\na.c:3:5: error: expected ';'\na.c:4:5: warning: x\n")
    assert digest.lines(5) == ["a.c:3:5: error: expected ';'"]
    assert digest.tool == "ruff, output"
    assert digest_output("All checks passed!\ntests/a_test.rb:3: made a list\n").problems == ()


@pytest.mark.parametrize("text", ['{"reason": "x", "message": {}}\n', "   Running all of it\n"])
def test_a_log_that_only_resembles_a_tool_is_not_understood(text: str):
    assert digest_output(text).tool == ""


@pytest.mark.parametrize(
    "text", ["12:30:45: started\n", "http://host:80: refused\n", "127.0.0.1:8080: refused\n", "at 3:4: x\n"]
)
def test_texts_that_only_resemble_a_place_are_ignored(text: str):
    assert digest_output(text).problems == ()


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("3 failed, 2 passed in 0.10s\n", "pytest"),
        ("Found 3 errors.\n", "ruff"),
        ("Found 3 errors in 2 files (checked 5 source files)\n", "mypy"),
        ("3 errors, 0 warnings, 0 informations\n", "pyright"),
        ("✖ 3 problems (3 errors, 0 warnings)\n", "eslint"),
        ("FAIL\texample.com/a [build failed]\n", "go"),
        ("FAIL\texample.com/a\t0.01s\n", "go"),
        ("error: could not compile `a` (lib) due to 2 previous errors\n", "cargo"),
        ("test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n", "cargo"),
    ],
)
def test_a_last_line_alone_is_not_taken_for_success(text: str, tool: str):
    digest = digest_output(text)
    assert digest.tool == tool
    assert len(digest.problems) == 1


def test_the_computed_side_of_an_assertion_is_shown_as_got():
    block = (
        "=== FAILURES ===\n___ test_a ___\nE   AssertionError: {}\nE    +  where 4 = f()\n\n"
        "test_a.py:1: AssertionError\n"
    )
    assert "expected 3, got 4, where" in digest_output(block.format("assert 4 == 3")).problems[0].message
    assert "expected 3, got 4, where" in digest_output(block.format("assert 3 == 4")).problems[0].message
    assert "assert not (4 == 4)" in digest_output(block.format("assert not (4 == 4)")).problems[0].message
    assert "expected ' == ', got 'a'" in digest_output(block.format("assert 'a' == ' == '")).problems[0].message


def test_a_panic_outside_of_a_test_is_a_failure():
    text = "panic: boom\n\ngoroutine 18 [running]:\nmain.f()\n\t/p/a/a.go:7 +0x1a\nFAIL\texample.com/a\t0.01s\n"
    assert digest_output(text, root="/p").lines(5) == ["TEST FAIL: example.com/a — panic: boom (a/a.go:7)"]


def test_a_failed_doctest_shows_both_values():
    text = (
        "=== FAILURES ===\n___ [doctest] a.f ___\n001 >>> f()\nExpected:\n    4\nGot:\n    3\n\n"
        "/p/a.py:1: DocTestFailure\n"
        "=== short test summary info ===\nFAILED a.py::a.f\n=== 1 failed in 0.01s ===\n"
    )
    assert digest_output(text, root="/p").lines(5) == ["TEST FAIL: a.f — expected 4, got 3 (a.py:1)"]


def test_junit_of_another_runner_is_read():
    text = (
        '<testsuites><testsuite name="jest"><testcase classname="area" name="area is wide" file="src/area.test.ts" '
        'line="4">'
        '<failure message="expected 3"/></testcase><testcase name="fine"/></testsuite></testsuites>'
    )
    digest = digest_output(text)
    assert digest.lines(5) == ["TEST FAIL: area is wide — expected 3 (src/area.test.ts:4)"]
    assert digest.summary == "junit: 1 failed, 1 passed"


def test_the_last_line_of_an_output_is_short_and_has_no_secret():
    assert TOKEN not in read_last_line(f"first\nError: token {TOKEN} is refused\n")
    assert len(read_last_line("x" * 5000)) <= MAX_MESSAGE_CHARS + 3
    assert read_last_line(" \n") == ""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            (
                "=== test session starts ===\nINTERNALERROR> Traceback (most recent call last):\n"
                'INTERNALERROR>   File "a.py"\n'
                "INTERNALERROR> ValueError: no\n\n=== no tests ran in 0.01s ===\n"
            ),
            "error: ValueError: no [internal]",
        ),
        (
            "..  [100%]\nFAIL Required test coverage of 90% not reached. Total coverage: 50.00%\n2 passed in 0.1s\n",
            "error: Required test coverage of 90% not reached. Total coverage: 50.00% [usage]",
        ),
        (
            "=== test session starts ===\n!!! KeyboardInterrupt !!!\n=== 2 passed in 0.1s ===\n",
            "error: KeyboardInterrupt [usage]",
        ),
        (
            (
                "    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.1s\n"
                "     Running `target/debug/a`\n"
                "thread 'main' (7) panicked at src/main.rs:2:5:\nboom\nnote: run with `RUST_BACKTRACE=1`\n"
            ),
            "src/main.rs:2:5: error: panic: boom",
        ),
    ],
)
def test_a_run_that_fails_without_a_failed_test(text: str, line: str):
    assert digest_output(text).lines(5) == [line]
