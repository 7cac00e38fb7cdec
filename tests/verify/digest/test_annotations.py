"""Tests of annotations for the services that run CI jobs."""

from lsp_harness.verify.digest.digest import digest_output
from tests.verify.digest.conftest import digest_lines, read_fixture


def test_annotations_of_ty_and_ruff_are_read():
    assert digest_lines("github-ty.txt") == [
        "tests/test_broken.py:1:8: error: Cannot resolve imported module `gone` [import-not-found]"
    ]
    text = (
        "::error title=ruff (F401),file=/p/a.py,line=1,col=8,endLine=1,endColumn=10::a.py:1:8: F401 `os` imported but "
        "unused%0A  help: Remove unused import: `os`\n"
    )
    assert digest_output(text, root="/p").lines(5) == ["a.py:1:8: warning: `os` imported but unused [F401]"]


def test_a_failed_test_of_vitest_is_read_from_annotations():
    lines = digest_lines("github-vitest.txt")
    assert "TEST FAIL: calc > add() > adds two numbers — AssertionError: expected -1 to be 3" in lines[1]
    assert lines[1].endswith("(src/calc.test.js:7:25)")


def test_annotations_without_a_tool_are_read():
    text = "::warning file=src/b.js,line=3::Unexpected%2C var\n::notice::careful\n::error::it broke\n::debug::x\n"
    assert digest_output(text).lines(5) == [
        "error: it broke",
        "src/b.js:3: warning: Unexpected, var",
        "information: careful",
    ]


def test_the_raw_log_of_a_job_is_read():
    end = "##[error]Process completed with exit code 1.\n"
    text = f"##[group]Run tsc\n##[error]src/a.ts(3,7): error TS2322: Type 'a'.\n{end}"
    stamped = "".join(f"2026-01-02T03:04:05.1234567Z {line}\n" for line in text.splitlines())
    for log in (text, stamped):
        assert digest_output(log).lines(5) == ["src/a.ts:3:7: error: Type 'a'. [TS2322]"]
    assert digest_output("##[error]Process completed with exit code 1.\n").lines(5) == [
        "error: Process completed with exit code 1."
    ]
    azure = "##vso[task.logissue type=warning;sourcepath=a/b.cs;linenumber=3;columnnumber=5;code=CS1;]unused\n"
    assert digest_output(azure).lines(5) == ["a/b.cs:3:5: warning: unused [CS1]"]


def test_a_problem_that_is_printed_twice_counts_once():
    digest = digest_output(read_fixture("vitest.txt") + read_fixture("github-vitest.txt"), root="/project")
    assert digest.lines(9) == digest_output(read_fixture("vitest.txt"), root="/project").lines(9)
