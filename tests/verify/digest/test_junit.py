"""Tests of JUnit XML: what a class name means depends on the runner."""

import pytest

from lsp_harness.verify.digest.digest import digest_output
from lsp_harness.verify.digest.digest_result import Digest
from tests.verify.digest.conftest import digest_lines, digest_of_fixture

JAVA = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="com.acme.CalcTest" tests="4" errors="1" skipped="1" failures="1">
  <properties><property name="java.version" value="17"/></properties>
  <testcase name="adds" classname="com.acme.CalcTest" time="0.01"><failure
message="expected: &lt;3&gt; but was: &lt;-1&gt;"
    type="org.opentest4j.AssertionFailedError"><![CDATA[org.opentest4j.AssertionFailedError: expected: <3> but was: <-1>
	at org.junit.jupiter.api.AssertionUtils.fail(AssertionUtils.java:55)
	at com.acme.CalcTest.adds(CalcTest.java:9)
	at java.base/java.lang.reflect.Method.invoke(Method.java:566)
]]></failure></testcase>
  <testcase name="zero" classname="com.acme.CalcTest" time="0.001"/>
  <testcase name="later" classname="com.acme.CalcTest" time="0"><skipped message="not ready"/></testcase>
  <testcase name="boom" classname="com.acme.CalcTest"><error message="no store" type="java.lang.IllegalStateException">
java.lang.IllegalStateException: no store
	at com.acme.Calc.boom(Calc.java:7)
	at com.acme.CalcTest.boom(CalcTest.java:19)
</error></testcase>
</testsuite>"""
GO_JUNIT_REPORT = """<testsuites tests="2" failures="1">
<testsuite name="example.com/calc" tests="2" failures="1" errors="0">
<properties><property name="go.version" value="go1.22"></property></properties>
<testcase name="TestAdd" classname="{0}" time="0.000"><failure
message="Failed"><![CDATA[    calc_test.go:7: got -1, want 3]]>
</failure></testcase><testcase name="TestZero/small" classname="{0}"
time="0.000"></testcase></testsuite></testsuites>"""
GOTESTSUM = """<testsuites tests="1"><testsuite tests="1" failures="1" name="example.com/calc">
<testcase classname="calc" name="TestAdd" time="0.0"><failure message="Failed"
type="">=== RUN   TestAdd&#xA;    calc_test.go:7: got
-1&#xA;--- FAIL: TestAdd (0.00s)&#xA;</failure></testcase></testsuite></testsuites>"""
NEXTEST = """<testsuites name="nextest-run" tests="3" failures="1"><testsuite name="calc" tests="2" failures="1">
<testcase name="tests::adds" classname="calc"><failure message="thread 'tests::adds' panicked at src/lib.rs:14:9"
type="test failure with exit code 101">thread 'tests::adds' panicked at src/lib.rs:14:9:
assertion `left == right` failed
  left: -1
 right: 3
note: run with `RUST_BACKTRACE=1`</failure></testcase><testcase name="adds" classname="calc"/></testsuite>
<testsuite name="calc::whole" tests="1"><testcase name="adds" classname="calc::whole"/></testsuite></testsuites>"""
RSPEC = """<testsuite name="rspec" tests="1" failures="1"><testcase classname="spec.calc_spec" name="Calc adds"
file="./spec/calc_spec.rb"><failure message="expected: 3"
type="RSpec::Expectations::ExpectationNotMetError">Failure/Error: x
./spec/calc_spec.rb:5:in `block (2 levels)'</failure></testcase></testsuite>"""
GOOGLE_TEST = """<testsuites tests="1" failures="1" name="AllTests"><testsuite name="CalcTest" tests="1">
<testcase name="Adds"
file="/p/calc_test.cc" line="6" classname="CalcTest"><failure message="/p/calc_test.cc:7&#x0A;Expected equality"
type="">
</failure></testcase></testsuite></testsuites>"""
MOCHA_JUNIT_REPORTER = """<testsuites name="Mocha Tests" tests="2"><testsuite name="Root Suite" tests="0"></testsuite>
<testsuite name="calc" tests="2" file="/p/test/calc.test.js"><testcase name="calc adds" classname="adds"><failure
message="expected -1 to equal 3" type="AssertionError"><![CDATA[AssertionError: expected -1 to equal 3
    at Context.<anonymous> (test/calc.test.js:6:12)
    at process.processImmediate (node:internal/timers:476:21)
      + expected - actual
      --1
      +3
]]></failure></testcase><testcase name="calc zero" classname="zero"></testcase></testsuite></testsuites>"""
JEST_JUNIT = """<testsuites name="jest tests" tests="2"><testsuite name="calc" tests="2">
<testcase classname="calc adds" name="calc adds"
time="0.1"><failure>Error: expect(received).toBe(expected) // Object.is equality

Expected: 3
Received: -1
    at Object.toBe (/p/src/calc.test.js:6:25)
    at run (/p/node_modules/jest-circus/build/a.js:1834:28)</failure></testcase>
<testcase classname="calc zero" name="calc zero" time="0"/></testsuite></testsuites>"""
BUN = """<testsuites name="bun test" tests="2"><testsuite name="src/calc.test.ts" file="src/calc.test.ts" tests="2">
<testsuite name="calc" file="src/calc.test.ts" line="4"><testcase name="adds" classname="calc"
file="src/calc.test.ts" line="5">
<failure type="AssertionError" /></testcase><testcase name="zero" classname="calc" file="src/calc.test.ts" line="8" />
</testsuite></testsuite></testsuites>"""

RSPEC_VALUES = """<testsuite name="rspec" tests="1" failures="1"><testcase classname="spec.calc_spec" name="Calc adds"
file="./spec/calc_spec.rb"><failure message="expected: 3" type="x">Failure/Error: expect(Calc.add(1, 2)).to eq(3)
./spec/calc_spec.rb:5:in `block (2 levels)'</failure></testcase></testsuite>"""
PHPUNIT = """<testsuites><testsuite name="Acme\\CalcTest" file="/p/tests/CalcTest.php"><testcase name="testAdd"
file="/p/tests/CalcTest.php" line="9" classname="Acme.CalcTest"><failure type="x">Acme\\CalcTest::testAdd
Failed asserting that -1 matches expected 3.

/p/tests/CalcTest.php:11</failure></testcase></testsuite></testsuites>"""
PLAYWRIGHT = """<testsuites tests="1" failures="1"><testsuite name="calc.spec.ts" hostname="chromium">
<testcase name="calc › adds" classname="calc.spec.ts"><failure message="calc.spec.ts:4:7 adds" type="FAILURE"><![CDATA[
  [chromium] › calc.spec.ts:4:7 › calc › adds ────────────

    Error: expect(received).toBe(expected) // Object.is equality

    Expected: 3
    Received: -1

    > 5 |     expect(add(1, 2)).toBe(3);
        at /p/tests/calc.spec.ts:5:23
]]></failure></testcase></testsuite></testsuites>"""
CYPRESS = """<testsuites name="Mocha Tests"><testsuite name="calc"><testcase name="calc adds" classname="adds">
<failure message="Timed out: expected -1 to equal 3" type="AssertionError"><![CDATA[
AssertionError: Timed out: expected -1 to equal 3
    at Context.eval (webpack:///./cypress/e2e/calc.cy.js:4:21)]]></failure></testcase></testsuite></testsuites>"""
DENO = """<testsuites name="deno test"><testsuite name="./calc_test.ts"><testcase name="adds" classname="./calc_test.ts"
line="4" col="6"><failure message="Uncaught AssertionError: Values are not equal.">AssertionError: Values are not equal.

    [Diff] Actual / Expected

-   -1
+   3

  throw new AssertionError(message);
    at assertEquals (https://jsr.io/@std/assert/1.0.0/equals.ts:64:9)
    at file:///p/calc_test.ts:5:3</failure></testcase></testsuite></testsuites>"""
XUNIT_NET = """<testsuites><testsuite name="Acme.Tests.dll"><testcase classname="Acme.CalcTest" name="Adds(x: 1)">
<failure message="Equal() Failure: Values&#xA;Expected: 3&#xA;Actual:   -1">   at Acme.CalcTest.Adds(Int32 x) in
/p/CalcTest.cs:line 12</failure></testcase></testsuite></testsuites>"""
CTEST = """<testsuite name="Linux-c++" tests="1" failures="1"><testcase name="add" classname="add" status="fail">
<failure message="Failed"/><system-out>t: t.c:4: main: Assertion `add(1,2)==3' failed.
</system-out></testcase></testsuite>"""
NEXTEST_WITH_OUTPUT = NEXTEST.replace(
    "</failure>",
    "</failure><system-out>\nrunning 1 test\ntest tests::adds ... FAILED\n\nfailures:\n    tests::adds\n</system-out>",
    1,
)


def read_test_ids(digest: Digest) -> tuple[list[str], list[str]]:
    return [problem.failed_id for problem in digest.problems], sorted(digest.passed_tests or ())


@pytest.mark.parametrize(
    ("text", "line", "failed", "passed"),
    [
        (
            JAVA,
            "TEST FAIL: com.acme.CalcTest.adds — expected: <3> but was: <-1> (CalcTest.java:9)",
            "com.acme.CalcTest.adds",
            ["com.acme.CalcTest.zero"],
        ),
        *(
            (
                GO_JUNIT_REPORT.format(name),
                "TEST FAIL: TestAdd — got -1, want 3 (calc_test.go:7)",
                "example.com/calc::TestAdd",
                ["example.com/calc::TestZero/small"],
            )
            for name in ("calc", "example.com/calc")
        ),
        (GOTESTSUM, "TEST FAIL: TestAdd — got (calc_test.go:7)", "example.com/calc::TestAdd", []),
        (
            NEXTEST,
            "TEST FAIL: calc tests::adds — assertion `left == right` failed (left: -1, right: 3) (src/lib.rs:14)",
            "calc tests::adds",
            ["calc adds", "calc::whole adds"],
        ),
        (RSPEC, "TEST FAIL: Calc adds — expected: 3 (spec/calc_spec.rb:5)", "spec/calc_spec.rb::Calc adds", []),
        (
            GOOGLE_TEST,
            "TEST FAIL: CalcTest > Adds — Expected equality (calc_test.cc:7)",
            "calc_test.cc::CalcTest > Adds",
            [],
        ),
        (
            MOCHA_JUNIT_REPORTER,
            "TEST FAIL: calc adds — expected -1 to equal 3 (test/calc.test.js:6)",
            "test/calc.test.js::calc adds",
            ["test/calc.test.js::calc zero"],
        ),
        (
            JEST_JUNIT,
            "TEST FAIL: calc adds — expect(received).toBe(expected): expected 3, got -1 (src/calc.test.js:6)",
            "calc adds",
            ["calc zero"],
        ),
        (BUN, "TEST FAIL: calc > adds — failed (src/calc.test.ts:5)", "src/calc.test.ts::calc > adds", None),
    ],
)
def test_the_failed_and_passed_tests_of_each_runner_are_read(
    text: str, line: str, failed: str, passed: list[str] | None
):
    digest = digest_output(text, root="/p")
    assert digest.lines(5)[0] == line
    assert ".py" not in repr(digest)
    assert read_test_ids(digest)[0][0] == failed
    assert passed is None or read_test_ids(digest)[1] == passed
    assert not digest.is_truncated


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (RSPEC_VALUES, "TEST FAIL: Calc adds — expected: 3 (spec/calc_spec.rb:5)"),
        (
            PHPUNIT,
            "TEST FAIL: Acme.CalcTest > testAdd — Failed asserting that -1 matches expected 3. (tests/CalcTest.php:11)",
        ),
        (
            PLAYWRIGHT,
            "TEST FAIL: calc › adds — expect(received).toBe(expected): expected 3, got -1 (tests/calc.spec.ts:5)",
        ),
        (CYPRESS, "TEST FAIL: calc adds — Timed out: expected -1 to equal 3 (cypress/e2e/calc.cy.js:4)"),
        (DENO, "TEST FAIL: adds — Values are not equal: expected 3, got -1 (calc_test.ts:5)"),
        (
            XUNIT_NET,
            "TEST FAIL: Acme.CalcTest > Adds(x: 1) — Equal() Failure: Values: expected 3, got -1 (CalcTest.cs:12)",
        ),
        (CTEST, "TEST FAIL: add — t: t.c:4: main: Assertion `add(1,2)==3' failed. (t.c:4)"),
        (
            NEXTEST_WITH_OUTPUT,
            "TEST FAIL: calc tests::adds — assertion `left == right` failed (left: -1, right: 3) (src/lib.rs:14)",
        ),
    ],
)
def test_the_message_and_the_place_of_each_runner_are_read(text: str, line: str):
    digest = digest_output(text, root="/p")
    assert (digest.lines(5), digest.tool, digest.failed) == ([line], "junit", 1)


def test_the_output_of_a_test_in_a_document_is_not_read():
    output = "ERROR: cannot open it\nsrc/a.py:3:4: error: x\n--- FAIL: TestX (0.00s)\nrunning 1 test\n"
    case = f"<testcase classname='a.B' name='ok'><system-out>{output}</system-out></testcase>"
    digest = digest_output(f"<testsuite name='a'>{case}</testsuite>\n")
    assert (digest.summary, digest.problems) == ("junit: 1 passed", ())


def test_an_error_of_java_has_its_class_and_skipped_tests_have_ids():
    digest = digest_output(JAVA)
    assert digest.lines(5)[1].startswith("TEST FAIL: com.acme.CalcTest.boom — IllegalStateException: no store")
    assert digest.skipped_tests == {"com.acme.CalcTest.later"}
    assert digest.summary == "junit: 2 failed, 1 passed, 1 skipped"


@pytest.mark.parametrize(
    ("attributes", "suite"),
    [
        ('classname="src/a.test.ts" name="calc > adds"', "src/a.test.ts"),
        ('classname="a.test.ts" name="calc > adds"', "src/a.test.ts"),
        ('classname="calc" name="adds" file="src/a.test.ts"', "calc"),
        ('classname="calc" name="adds"', "src/a.test.ts"),
        ('classname="src/a.test.ts" name="calc > adds" file="src/a.test.ts"', "calc"),
    ],
)
def test_templates_of_class_names(attributes: str, suite: str):
    attributes = attributes.replace(">", "&gt;")
    text = f'<testsuites name="tests"><testsuite name="{suite}"><testcase {attributes}/></testsuite></testsuites>'
    assert digest_output(text).passed_tests == {"src/a.test.ts::calc > adds"}


def test_junit_files_of_jest_and_node_are_read():
    assert digest_of_fixture("junit-jest.xml").passed_tests == {
        f"src/calc.test.js::{name}" for name in ("stands alone", "takes zero", "will be written")
    }
    assert digest_lines("junit-jest.xml")[0].startswith(
        "TEST FAIL: adds two numbers — expect(received).toBe(expected): "
    )
    digest = digest_of_fixture("junit-node.xml", "node")
    assert digest.tool == "node"
    assert "src/calc.test.js::calc > add() > takes zero" in (digest.passed_tests or ())


PYTEST_IDS = {
    "Back.end/tests/check_ids.py::test_ids[x::y]",
    "Back.end/tests/check_ids.py::test_ids[a.b]",
    "Back.end/tests/check_ids.py::test_ids[a - b]",
    "Back.end/tests/check_ids.py::test_ids[p[0]]",
    "Back.end/tests/check_ids.py::test_ids[c] - d]",
    "Back.end/tests/check_ids.py::describe_lower::test_one",
    "Back.end/tests/check_ids.py::test_store",
}
"""The ids that pytest itself prints for the failed tests of its fixtures with odd names."""


@pytest.mark.parametrize(
    "name",
    [
        "pytest-xunit1.xml",
        "pytest-xunit2.xml",
        "pytest-v.txt",
        "pytest-xdist.txt",
        "pytest-qq.txt",
    ],
)
def test_all_formats_of_pytest_give_the_same_test_ids(name: str):
    digest = digest_of_fixture(name)
    assert {problem.test for problem in digest.problems} == PYTEST_IDS
    assert len(digest.problems) == len(PYTEST_IDS)
    assert all(problem.line for problem in digest.problems)
    assert digest.summary == "pytest: 6 failed, 1 passed, 1 skipped, 1 error"
    if name != "pytest-qq.txt":
        assert digest.passed_tests == {"Back.end/tests/check_ids.py::test_ids[z]"}
        assert digest.skipped_tests == {"Back.end/tests/check_ids.py::test_skipped"}


@pytest.mark.parametrize("name", ["pytest-sugar.txt", "pytest-pretty.txt"])
def test_output_of_plug_ins_of_pytest_with_another_last_line_is_read(name: str):
    assert digest_of_fixture(name).summary == "pytest: 6 failed, 1 passed, 1 skipped, 1 error"
    assert len(digest_of_fixture(name).problems) == len(PYTEST_IDS)


def test_pytest_without_names():
    assert digest_lines("pytest-unnamed.txt") == ["error: 6 failed, 1 error; the output does not say which [summary]"]
    assert digest_of_fixture("pytest-unnamed.txt").summary == "pytest: 6 failed, 1 passed, 1 skipped, 1 error"
    assert digest_output("FF.F\n4 failed, 1 passed in 0.02s\n").summary == "pytest: 4 failed, 1 passed"


def test_a_collection_error_counts_once():
    text = (
        "=== ERRORS ===\n___ ERROR collecting tests/test_a.py ___\nE   ModuleNotFoundError: No module named 'gone'\n"
        "=== short test summary info ===\nERROR tests/test_a.py\n!!! Interrupted: 1 error during collection !!!\n"
    )
    assert digest_output(text + "=== 1 error in 0.18s ===\n").summary == "pytest: 1 error"
    # with -qq
    assert digest_output(text).summary == "pytest: 1 error"
    assert digest_of_fixture("pytest-collection.txt").failed == 1


def test_short_or_repeated_output_of_pytest_is_read():
    assert digest_output("..s" + " " * 70 + "[100%]\n").summary == "pytest: 2 passed, 1 skipped"
    run = "=== test session starts ===\ncollected 2 items\n\na.py ..  [100%]\n\n=== 2 passed in 0.1s ===\n"
    assert digest_output(run * 2).summary == "pytest: 4 passed"
    inner = "=== FAILURES ===\n___ t ___\nE   assert 0\n\na.py:2: AssertionError\n----- Captured stdout call -----\n"
    inner += "=== 7 passed in 0.1s ===\n"
    assert digest_output(inner + "=== 1 failed, 2 passed in 0.1s ===\n").summary == "pytest: 1 failed, 2 passed"


def test_a_failed_subtest_of_pytest_counts_for_its_test():
    text = "=== FAILURES ===\n___ test_a [msg] (i=1) ___\nE   assert 0\n\na.py:2: AssertionError\n"
    text += "=== short test summary info ===\nSUBFAILED[msg](i=1) a.py::test_a - assert 0\n"
    digest = digest_output(text + "=== 1 failed, 2 subtests passed in 0.1s ===\n")
    assert digest.lines(5) == ["TEST FAIL: test_a — AssertionError: assert 0 (a.py:2)"]


def test_tests_of_one_name_in_two_files():
    blocks = "".join(
        f"___ test_a ___\n\nE   assert {number}\n\n{folder}/test_a.py:{number}: AssertionError\n"
        for number, folder in ((3, "x"), (5, "y"))
    )
    summary = "FAILED y/test_a.py::test_a - assert 5\nFAILED x/test_a.py::test_a - assert 3\n"
    digest = digest_output(f"=== FAILURES ===\n{blocks}=== short test summary info ===\n{summary}2 failed in 0.1s\n")
    assert {(problem.test, problem.place) for problem in digest.problems} == {
        ("x/test_a.py::test_a", "x/test_a.py:3"),
        ("y/test_a.py::test_a", "y/test_a.py:5"),
    }


def test_output_of_pytest_sugar_without_tracebacks_is_read():
    text = (
        "Test session starts (platform: linux, Python 3.11.7)\n\nResults (0.05s):\n       1 passed\n       1 failed\n"
    )
    digest = digest_output(text + "         - tests/test_calc.py:4 TestA.test_add[a.b]\n")
    assert [problem.test for problem in digest.problems] == ["tests/test_calc.py::TestA::test_add[a.b]"]
    assert digest.summary == "pytest: 1 failed, 1 passed"


def make_test_case(class_name: str, name: str, file: str = "", content: str = "") -> str:
    place = f' file="{file}" line="3"' if file else ""
    return f'<testcase classname="{class_name}" name="{name}"{place}>{content}</testcase>'


@pytest.mark.parametrize(
    ("class_name", "file", "test"),
    [
        ("Backend.tests.test_old", "Backend/tests/test_old.py", "Backend/tests/test_old.py::t"),
        ("Back.end.tests.test_old.TestA", "Back.end/tests/test_old.py", "Back.end/tests/test_old.py::TestA::t"),
        ("tests.check_a.lower", "tests/check_a.py", "tests/check_a.py::lower::t"),
        ("tests.Calc.TestA.TestB", "tests/Calc.py", "tests/Calc.py::TestA::TestB::t"),
        ("pkg.test", "pkg/test.py", "pkg/test.py::t"),
        ("Test", "Test.py", "Test.py::t"),
        # without the file, by the usual names
        ("Backend.tests.test_old", "", "Backend/tests/test_old.py::t"),
        ("tests.test_old.describe_a", "", "tests/test_old.py::describe_a::t"),
        ("tests.test_old.TestA.TestB", "", "tests/test_old.py::TestA::TestB::t"),
        ("tests.check_a.TestB", "", "tests/check_a.py::TestB::t"),
        ("src.acme.calc_test", "", "src/acme/calc_test.py::t"),
    ],
)
def test_the_module_of_a_pytest_class_name_is_found(class_name: str, file: str, test: str):
    for suite in ("pytest", "our checks"):
        cases = make_test_case(class_name, "t", file)
        text = f'<testsuites name="pytest tests"><testsuite name="{suite}">{cases}</testsuite></testsuites>'
        assert digest_output(text).passed_tests == {test}
    other = f'<testsuites><testsuite name="x">{make_test_case(class_name, "t", file)}</testsuite></testsuites>'
    assert ".py" in repr(digest_output(other).passed_tests) or not file


def test_the_place_of_a_failure_shows_the_end_of_the_module_name():
    failure = "<failure message='assert 0'>E   assert 0\n\nA.b/C/check.py:3: AssertionError</failure>"
    cases = make_test_case("A.b.C.check.K", "t", content=failure) + make_test_case("A.b.C.check", "u")
    text = f'<testsuites><testsuite name="pytest">{cases}'
    digest = digest_output(text + "</testsuite></testsuites>")
    assert read_test_ids(digest) == (["A.b/C/check.py::K::t"], ["A.b/C/check.py::u"])


def test_a_report_behind_other_lines_and_one_that_is_cut_off():
    assert digest_output(f"> jest\n\n{JEST_JUNIT}").failed == 1
    assert digest_output(JEST_JUNIT[:-60]).is_truncated
