"""Tests of outputs whose lines have prefixes."""

import pytest

from lsp_harness.verify.digest.digest import digest_output
from lsp_harness.verify.digest.line_prefixes import split_sources
from tests.verify.digest.conftest import digest_of_fixture, read_fixture


def add_prefixes(text: str, *prefixes: str) -> str:
    """Return a text with one of the prefixes before each line, in turn."""
    lines = text.rstrip("\n").split("\n")
    return "".join(f"{prefixes[index % len(prefixes)]}{line}".rstrip() + "\n" for index, line in enumerate(lines))


PREFIXES = [
    ("api-1  | ",),
    ("api  | ",),
    ("\x1b[36mapi_1     |\x1b[0m ",),
    ("2026-01-02T03:04:05.1234567Z ", "2026-01-02T03:04:06.0000001Z "),
    ("2026-01-02T03:04:05+01:00 ",),
    ("[2026-01-02 03:04:05] ",),
    ("[03:04:05] ", "[03:04:06] "),
    ("03:04:05.123 ",),
    ("2026-01-02T03:04:05.123456Z 01O ",),
    ("Jan  2 03:04:05 host app[12]: ",),
    ("#12 0.123 ", "#12 1.4 "),
    ("test\tRun tests\t2026-01-02T03:04:05.1234567Z ",),
    ("@acme/app:test: ",),
    ("\x1b[35m@acme/app:test: \x1b[0m",),
    ("@acme/app: ",),
    ("app#test: ",),
    ("packages/app test: ",),
    ("[app:test] ",),
    ("[1] ",),
    ("[1/3] ",),
    ("[lint      ] ",),
    ("[pod/api-7d/app] ",),
    ("2026-01-02T03:04:05.1234567Z api-1  | ",),
    ("api-1  | 2026-01-02T03:04:05Z ",),
    ("│ ",),
    ("api-7d app ",),
    ("\x1b_bk;t=1700000000123\x07",),
    ("03:04:05 web.1  | ",),
    ("[CI/test]   | ",),
    ("[test] ",),
    ("tests  | ",),
    ("[test:L0:0s] ", "[test:L1:0s] "),
    ("INFO:ci:",),
    ("> ",),
    ("packages/a.py\t",),
    ("##[error]",),
    ("2026-01-02T03:04:05.1234567Z ##[error]",),
    ("0.123 ", "1.456 "),
    ("      ",),
    ("test\tUNKNOWN STEP\t\ufeff2026-01-02T03:04:05.1234567Z ",),
    ("2026-01-02T03:04:05.123456+00:00 app[web.1]: ",),
    ("2026-01-02 03:04:05,123 - ci - INFO - ",),
]
NAMES = [
    "pytest.txt", "pytest-xdist.txt", "ruff-concise.txt", "mypy.txt", "tsc.txt", "go-test-v.txt", "cargo-test.txt",
    "jest.txt", "vitest.txt", "mocha.txt", "unittest-v.txt", "node-spec24.txt", "cargo-build.txt", "ty.txt",
]  # fmt: skip


@pytest.mark.parametrize("prefixes", PREFIXES)
def test_prefixes_do_not_change_the_digest(prefixes: tuple[str, ...]):
    for name in ("pytest.txt", "tsc.txt", "cargo-build.txt"):
        check_prefix(name, prefixes)


@pytest.mark.parametrize("name", NAMES)
def test_a_prefix_does_not_change_the_digest_of_any_tool(name: str):
    for prefixes in (("@acme/app:test: ",), ("@acme/app: ",), ("[1] ",), ("api-1  | ",)):
        check_prefix(name, prefixes)


def check_prefix(name: str, prefixes: tuple[str, ...]) -> None:
    digest, plain = digest_output(add_prefixes(read_fixture(name), *prefixes), root="/project"), digest_of_fixture(name)
    assert digest.lines(100) == plain.lines(100), prefixes
    assert digest.summary == plain.summary
    assert digest.passed_tests == plain.passed_tests


def test_a_time_before_the_place_of_a_problem_is_removed():
    text = "".join(f"Jan 02 03:04:0{line} a.c:{line}:2: Fehler: »x«\n" for line in range(1, 5))
    assert digest_output(text).lines(9)[0] == "a.c:1:2: error: »x« (×4: also lines 2, 3, 4)"


def test_the_failed_step_of_an_image_is_printed_twice():
    lines = read_fixture("ruff-concise.txt").splitlines()
    step = [f"{number}.{number:03} {line}" for number, line in enumerate(lines)]
    failure = 'process "/bin/sh -c ruff" did not complete successfully: exit code: 1'
    log = ["#5 [2/3] COPY . .", "#5 DONE 0.1s", "#12 [3/3] RUN ruff", *(f"#12 {line}" for line in step)]
    log += [f"#12 ERROR: {failure}", "------", " > [3/3] RUN ruff:", *step, "------", "Dockerfile:5"]
    log += [">>> RUN ruff", f"ERROR: failed to solve: {failure}"]
    assert digest_output("\n".join(log)).lines(99) == digest_of_fixture("ruff-concise.txt").lines(99)


@pytest.mark.parametrize(
    "end",
    [
        "ERROR: Job failed: exit code 1",
        "ERROR: failed to solve: process did not complete",
        'ERROR: build step 1 "x" failed: step exited with non-zero status: 1',
        "##[error]Process completed with exit code 1.",
        "error: Recipe `test` failed on line 2 with exit code 1",
    ],
)
@pytest.mark.parametrize("name", ["pytest.txt", "cargo-build.txt"])
def test_the_last_line_of_the_calling_program_is_ignored(name: str, end: str):
    assert digest_output(f"{read_fixture(name)}{end}\n", root="/project").lines(99) == digest_of_fixture(name).lines(99)


def test_an_indented_log_of_a_build_that_fails_is_no_success():
    text = "   ✖  nx run app:build\n" + add_prefixes(read_fixture("cargo-build.txt"), "      ")
    assert digest_output(text, root="/project").lines(99) == digest_of_fixture("cargo-build.txt").lines(99)


def test_each_of_several_sources_is_read_separately():
    api, web = read_fixture("pytest.txt").split("\n"), read_fixture("jest.txt").split("\n")
    mixed = ["Attaching to api-1, web-1"]
    for index in range(max(len(api), len(web))):
        mixed += [f"api-1  | {line}" for line in api[index : index + 1]]
        mixed += [f"web-1  | {line}" for line in web[index : index + 1]]
    digest = digest_output("\n".join([*mixed, "api-1 exited with code 1"]), root="/project")
    expected = (digest_of_fixture("pytest.txt"), digest_of_fixture("jest.txt"))
    assert digest.tool == "pytest, jest"
    assert digest.failed == sum(part.failed for part in expected)
    assert digest.passed == sum(part.passed for part in expected)
    assert {problem.message for problem in digest.problems} == {p.message for part in expected for p in part.problems}


def test_a_few_lines_with_a_prefix_are_found_among_many_others():
    text = "".join(f"step {number} of the build\n" for number in range(200))
    digest = digest_output(text + add_prefixes(read_fixture("ruff-concise.txt"), "lint-1  | "))
    assert digest.lines(99) == digest_of_fixture("ruff-concise.txt").lines(99)


@pytest.mark.parametrize(
    "line",
    ["api-1  | a.py:1:8: F401 `os` imported but unused", "@acme/app:lint: a.py:1:8: F401 `os` imported but unused"],
)
def test_one_line_with_a_prefix_is_read(line: str):
    assert digest_output(line).lines(5) == ["a.py:1:8: warning: `os` imported but unused [F401]"]


def test_the_own_lines_of_a_workspace_runner_are_ignored():
    text = "Scope: 2 of 3 workspace projects\npackages/app test$ jest\n"
    text += (
        add_prefixes(read_fixture("jest.txt"), "packages/app test: ") + "packages/app test: Failed\n/p/packages/app:\n"
    )
    text += " ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL  app@1.0.0 test: `jest`\nExit status 1\n"
    assert digest_output(text).lines(99) == digest_of_fixture("jest.txt").lines(99)
    text = "• Packages in scope: @acme/app\n" + add_prefixes(read_fixture("tsc.txt"), "@acme/app:build: ")
    text += (
        "@acme/app:build: npm error Lifecycle script `build` failed with error:\n@acme/app:build: npm error code 2\n"
    )
    assert digest_output(text).lines(99) == digest_of_fixture("tsc.txt").lines(99)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a.py:1: error: x  [misc]\na.py:1: note: y\n", ["a.py:1: error: x; y [misc]"]),
        ("calc.js  |  100 |  90 |\narea.js  |  100 |  90 |\n", ["this output is not understood (2 lines)"]),
        ("[ERROR] a/A.java:3: error: x\n[ERROR] a/B.java:3: error: y\n", None),
        ("npm error code E404\nnpm error 404 Not Found\n", ["error: Not Found [E404]"]),
        ("go: a.b/c: no such module\ngo: a.b/d: no such module\n", None),
        ("error: no matching package named `a` found\n", ["error: no matching package named `a` found"]),
        ("Success: no issues found in 1 source file\n", ["mypy: no problems"]),
    ],
)
def test_lines_that_only_seem_to_have_a_prefix_stay_as_they_are(text: str, lines: list[str] | None):
    assert lines is None or digest_output(text).lines(9) == lines
    prefixed_text = split_sources(text)
    assert not prefixed_text or not prefixed_text.is_certain


def test_the_workers_of_xdist_are_no_sources():
    text = "[gw0] [ 50%] PASSED a.py::b\n[gw1] [ 75%] FAILED a.py::c\n[gw0] [100%] PASSED a.py::d\n"
    assert split_sources(text) is None
    digest = digest_output(f"=== test session starts ===\n{text}=== 1 failed, 2 passed in 0.1s ===\n")
    assert digest.passed_tests == {"a.py::b", "a.py::d"}
    assert digest.lines(5) == ["TEST FAIL: c — failed (a.py)"]
