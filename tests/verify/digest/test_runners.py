"""Tests of the digests of the programs that run tests: numbers, ids, messages and places, from their real output."""

import pytest

from lsp_harness.verify.digest.digest import digest_output
from lsp_harness.verify.digest.node_test import EVENTS_REPORTER
from tests.verify.digest.conftest import digest_lines, digest_of_fixture, read_fixture

ADDS = "TEST FAIL: calc > add() > adds two numbers — "
THROWS = "TEST FAIL: calc > throws > here — TypeError: no store (src/calc.js:2)"
OBJECTS = "TEST FAIL: compares objects — "
FILE = "src/calc.test.js::"
PASSED = {"calc > add() > takes zero", "stands alone"}
SKIPPED = {"calc > is not ready", "calc > will be written"}
SUBTESTS = {"parent > child ok", "parent own > child"}
"""Tests of node within other tests."""


def add_file_name(*names: str) -> set[str]:
    return {FILE + name for name in names}


@pytest.mark.parametrize("name", ["node-spec20.txt", "node-spec24.txt", "tap-node.txt", "node-events.json"])
def test_all_formats_of_node_give_the_same_failures(name: str):
    lines, digest = digest_lines(name), digest_of_fixture(name)
    assert ADDS + "Expected values to be strictly equal: -1 !== 3 (src/calc.test.js:7)" in lines
    assert THROWS in lines
    assert OBJECTS + "Expected values to be strictly deep-equal: expected 3, got 2 (src/calc.test.js:20)" in lines
    assert "TEST FAIL: parent > child fails — 1 == 2 (sub.test.mjs:4)" in [
        line.replace("/project/", "") for line in lines
    ]
    assert any(line.startswith("TEST FAIL: parent own — own failure") for line in lines)
    assert (digest.failed, digest.passed, digest.skipped, digest.errors) == (7, 4, 2, 1)
    assert digest.passed_tests
    ids = {test.rpartition("::")[2] for test in digest.passed_tests}
    assert (ids, {test.rpartition("::")[2] for test in digest.skipped_tests}) == (PASSED | SUBTESTS, SKIPPED)
    assert not digest.is_truncated


def test_a_file_of_node_that_cannot_be_run():
    for name in ("node-events.json", "node-spec20.txt", "node-spec24.txt", "tap-node.txt", "junit-node.xml"):
        [line] = [line for line in digest_lines(name) if "[collection]" in line]
        assert line.startswith("src/broken.test.js: error: ")
    assert "Cannot find module './gone.js'" in digest_lines("node-events.json")[0]


def test_the_events_of_node_name_the_file_of_each_test():
    digest = digest_of_fixture("node-events.json", "node")
    assert digest.passed_tests == add_file_name(*PASSED) | {f"sub.test.mjs::{name}" for name in SUBTESTS}
    assert digest.skipped_tests == add_file_name(*SKIPPED)
    assert EVENTS_REPORTER.startswith("data:text/javascript;base64,")
    lines = read_fixture("node-events.json").splitlines()
    assert digest_output("\n".join(lines[:-1]), "node").is_truncated


def test_a_file_without_tests_is_no_test():
    event = '{"type":"test:pass","name":"/p/a.test.js","nesting":0,"file":"/p/a.test.js"}\n{"type":"test:end"}\n'
    assert digest_output(event, "node").summary == "node: no test ran"
    spec = "✔ a.test.js (5.1ms)\nℹ tests 1\nℹ suites 0\nℹ pass 1\nℹ fail 0\nℹ duration_ms 9\n"
    assert (digest_output(spec).passed, digest_output(spec).summary) == (0, "node: no test ran")
    tap = "TAP version 13\n# Subtest: a.test.js\nok 1 - a.test.js\n  ---\n  duration_ms: 5\n  ...\n1..1\n# tests 1\n"
    assert digest_output(tap, "node").summary == "node: no test ran"
    xml = '<testsuites><testcase name="/p/a.test.js" time="0.1" classname="test"/></testsuites>'
    assert digest_output(xml, "node").passed == 0


@pytest.mark.parametrize("name", ["vitest.txt", "vitest-verbose.txt", "vitest.json", "junit-vitest.xml"])
def test_all_formats_of_vitest_give_the_same_failures(name: str):
    lines, digest = digest_lines(name), digest_of_fixture(name)
    assert lines[1:] == [
        ADDS + "expected -1 to be 3 (src/calc.test.js:7)",
        THROWS,
        OBJECTS + "expected { a: 1, b: [ 1, 2 ] } to deeply equal { a: 1, b: [ 1, 3 ] } (src/calc.test.js:20)",
    ]
    assert lines[0].startswith("src/broken.test.js")
    assert "error: Cannot find module './gone.js'" in lines[0]
    assert (digest.failed, digest.passed, digest.skipped, digest.errors) == (4, 2, 2, 1)
    assert (digest.passed_tests, digest.skipped_tests) == (add_file_name(*PASSED), add_file_name(*SKIPPED))


@pytest.mark.parametrize("name", ["jest.txt", "jest-verbose.txt", "jest.json"])
def test_all_formats_of_jest_give_the_same_failures(name: str):
    digest = digest_of_fixture(name)
    assert digest_lines(name) == [
        ADDS + "expect(received).toBe(expected): expected 3, got -1 (src/calc.test.js:6)",
        THROWS,
        OBJECTS + "expect(received).toEqual(expected): expected 3, got 2 (src/calc.test.js:19)",
        "src/broken.test.js:1: error: Cannot find module './gone.js' from 'src/broken.test.js' [collection]",
    ]
    assert digest.summary == "jest: 3 failed, 2 passed, 2 skipped, 1 error"
    assert {problem.test for problem in digest.problems} >= {FILE + "calc > add() > adds two numbers"}
    if name != "jest.txt":
        assert (digest.passed_tests, digest.skipped_tests) == (add_file_name(*PASSED), add_file_name(*SKIPPED))
    else:
        # of several files, jest names only the failures
        assert digest.passed_tests is None


@pytest.mark.parametrize("name", ["mocha.txt", "mocha.json", "junit-mocha.xml", "tap-mocha.txt"])
def test_all_formats_of_mocha_give_the_same_failures(name: str):
    digest = digest_of_fixture(name)
    messages = {problem.message for problem in digest.problems}
    assert messages == {
        "Expected values to be strictly deep-equal: expected 3, got 2",
        "TypeError: no store",
        "Expected values to be strictly equal: -1 !== 3",
    }
    assert {problem.place for problem in digest.problems} == {
        "src/calc.test.js:20",
        "src/calc.js:2",
        "src/calc.test.js:7",
    }
    assert (digest.failed, digest.passed, digest.skipped) == (3, 2, 2)
    assert digest.passed_tests
    assert len(digest.passed_tests) == len(digest.skipped_tests) == 2
    if name in ("mocha.json", "junit-mocha.xml"):
        assert digest.passed_tests == add_file_name("calc add() > takes zero", "stands alone")


def test_other_ends_of_these_runners():
    unloaded = " Exception during run: Error: Cannot find module './gone.js'\nRequire stack:\n- /p/a.test.js\n"
    unloaded += "    at x (node:a:1:2)\n"
    assert digest_output(unloaded, "mocha", "/p").lines(3) == [
        "a.test.js: error: Error: Cannot find module './gone.js'"
    ]
    for tool, text in (
        ("jest", "No tests found, exiting with code 1\nRun with `--passWithNoTests`\n"),
        ("vitest", " RUN  v3.2.7 /p\n\nNo test files found, exiting with code 1\n"),
        ("mocha", 'Error: No test files found: "test"\n'),
    ):
        digest = digest_output(text, tool)
        assert (digest.tool, digest.total, len(digest.problems)) == (tool, 0, 1)
    cut = "".join(read_fixture("vitest.txt").partition("⎯⎯⎯⎯⎯⎯⎯ Failed Tests")[:1])
    assert digest_output(cut).is_truncated


@pytest.mark.parametrize("name", ["unittest.txt", "unittest-v.txt"])
def test_failures_of_unittest_are_read(name: str):
    digest = digest_of_fixture(name)
    assert digest_lines(name) == [
        "tests/test_broken.py:1: error: ModuleNotFoundError: No module named 'gone' [collection]",
        "TEST FAIL: tests.test_calc.CalcTest.test_boom — OSError: no store (calc.py:25)",
        "TEST FAIL: tests.test_calc.SetUp.setUpClass — RuntimeError: no database (tests/test_calc.py:37)",
        "TEST FAIL: tests.test_calc.CalcTest.test_add — AssertionError: -1 != 3 (tests/test_calc.py:7)",
        (
            "TEST FAIL: tests.test_calc.CalcTest.test_described — AssertionError: 0 != 4 : wrong sum "
            "(tests/test_calc.py:18)"
        ),
        "TEST FAIL: tests.test_calc.CalcTest.test_parts — AssertionError: 0 != 4 (tests/test_calc.py:31)",
    ]
    assert digest.summary == "unittest: 5 failed, 1 passed, 2 skipped, 1 error"
    if name == "unittest-v.txt":
        assert digest.passed_tests == {"tests.test_calc.CalcTest.test_zero"}
        assert len(digest.skipped_tests) == 2


def test_unittest_of_django_and_its_last_lines_are_read():
    digest = digest_of_fixture("unittest-django.txt")
    assert digest_lines("unittest-django.txt") == [
        "TEST FAIL: app.tests.CalcTest.test_add — AssertionError: -1 != 3 (app/tests.py:6)"
    ]
    assert digest.summary == "unittest: 1 failed, 1 passed"
    assert digest.passed_tests == {"app.tests.CalcTest.test_zero"}
    fine = f"...s\n{'-' * 70}\nRan 4 tests in 0.001s\n\nOK (skipped=1)\n"
    assert digest_output(fine).summary == "unittest: 3 passed, 1 skipped"
    none = f"\n{'-' * 70}\nRan 0 tests in 0.000s\n\nNO TESTS RAN\n"
    assert digest_output(none).summary == "unittest: no test ran"
    old = f"{'=' * 70}\nFAIL: test_add (tests.test_calc.CalcTest)\n{'-' * 70}\nTraceback (most recent call last):\n"
    old += f'  File "/p/a.py", line 7, in test_add\n    x\nAssertionError: 1\n\n{"-" * 70}\n'
    old += "Ran 1 test in 0.1s\n\nFAILED (failures=1)\n"
    assert [problem.test for problem in digest_output(old).problems] == ["tests.test_calc.CalcTest.test_add"]
    assert digest_output(old[: old.index("Ran")]).is_truncated


@pytest.mark.parametrize("name", ["doctest.txt", "doctest-v.txt"])
def test_failures_of_doctest_are_read(name: str):
    assert digest_lines(name) == [
        "TEST FAIL: calc — add(1, 2): expected 3, got -1 (calc.py:3)",
        "TEST FAIL: calc.add — add(2, 2): expected 4, got 0 (calc.py:13)",
        "TEST FAIL: calc.boom — boom(): OSError: no store (calc.py:22)",
    ]
    assert digest_of_fixture(name).summary == "doctest: 3 failed, 1 passed"


def test_the_targets_of_cargo_are_added_up():
    digest = digest_of_fixture("cargo-targets.txt")
    assert digest.summary == "cargo: 2 failed, 3 passed, 1 skipped"
    assert digest.passed_tests == {"src/lib.rs::tests::zero", "tests/whole.rs::adds", "tests/whole.rs::whole_zero"}
    assert digest.skipped_tests == {"src/lib.rs::tests::later"}
    assert [problem.test for problem in digest.problems] == ["src/lib.rs::tests::adds", "src/lib.rs - add (line 3)"]
    assert digest_lines("cargo-targets.txt")[0].startswith("TEST FAIL: tests::adds — assertion `left == right` failed")


def test_two_crates_of_a_workspace_with_one_test_name():
    target = "     Running unittests src/lib.rs (target/debug/deps/{}-0123456789abcdef)\n\n"
    target += "running 1 test\ntest adds ... {}\n"
    text = target.format("one", "ok") + "\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\n\n"
    text += target.format("two", "FAILED") + "\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured\n"
    digest = digest_output(text)
    assert digest.passed_tests == {"one src/lib.rs::adds"}
    assert [problem.test for problem in digest.problems] == ["two src/lib.rs::adds"]
    assert digest.lines(3) == ["TEST FAIL: adds — failed"]


def test_packages_of_go_with_one_test_name():
    digest = digest_of_fixture("go-test-v.txt")
    assert digest.passed_tests == digest_of_fixture("go-test.json").passed_tests
    assert digest.passed_tests
    assert {test for test in digest.passed_tests if test.endswith("TestFine")} == {
        "example.com/shapes/parse::TestFine",
        "example.com/shapes/shape::TestFine",
    }


@pytest.mark.parametrize("name", ["ty.txt", "ty-concise.txt", "ty.json"])
def test_all_formats_of_ty_give_the_same_error(name: str):
    assert digest_lines(name) == [
        "tests/test_broken.py:1:8: error: Cannot resolve imported module `gone` [import-not-found]"
    ]
    assert digest_of_fixture(name).summary == "ty: 1 error"


def test_findings_of_ty_with_labels_or_without_a_place_are_read():
    text = (
        "error[invalid-argument-type]: Argument to function `f` is incorrect\n --> src/a.py:3:5\n  |\n1 | "
        "x\n3 | f('')\n"
        "  |   ^^ Expected `int`, found `str`\n  |\ninfo: Function defined here\n --> src/a.py:1:5\n  |\n\n"
        "warning[possibly-unbound]: Name `x` used when possibly not defined\n --> src/a.py:9:1\n  "
        "|\n\nFound 2 diagnostics\n"
    )
    assert digest_output(text).lines(5) == [
        (
            "src/a.py:3:5: error: Argument to function `f` is incorrect: Expected `int`, found `str` "
            "[invalid-argument-type]"
        ),
        "src/a.py:9:1: warning: Name `x` used when possibly not defined [possibly-unbound]",
    ]
    assert digest_output("error[io]: `/p/nowhere`: No such file or directory\n\nFound 1 diagnostic\n").lines(5) == [
        "error: `/p/nowhere`: No such file or directory [io]"
    ]
    assert digest_output("All checks passed!\n", "ty").summary == "ty: no problems"
    assert digest_output("Found 3 diagnostics\n").problems
