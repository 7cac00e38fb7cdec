"""Tests of the digest of real output of tools."""

import pytest

from tests.verify.digest.conftest import digest_lines, digest_of_fixture

TESTS = [
    (
        "TEST FAIL: test_parse_input — AssertionError: expected 3, got None, where None = parse_input('3') "
        "(tests/test_parse.py:7)"
    ),
    "TEST FAIL: test_says_why — AssertionError: expected 3, got None (tests/test_parse.py:12)",
    "TEST FAIL: TestArea::test_area[half] — KeyError: 'height' (parse.py:8)",
    (
        "TEST FAIL: test_words — AssertionError: expected ['one', 'too', 'three'], got ['one', 'two', 'three'], "
        "At index 1 diff: 'two' != 'too' (tests/test_parse.py:22)"
    ),
    "TEST FAIL: test_raises — Failed: DID NOT RAISE ValueError (tests/test_parse.py:26)",
    "TEST FAIL: test_strict — [XPASS(strict)] fixed by now (tests/test_parse.py)",
    (
        "TEST FAIL: test_prints — AssertionError: assert not 1, where 1 = area({'width': 1, 'height': 1}) "
        "(tests/test_parse.py:54)"
    ),
    (
        "tests/test_broken.py:1: error: ImportError: cannot import name 'gone' from 'parse' (/project/parse.py) "
        "[collection]"
    ),
    "TEST FAIL: test_store — OSError: no store (tests/test_parse.py:32)",
]
RUFF = [
    "b.py:1:12: error: Expected a parameter or the end of the parameter list [invalid-syntax]",
    "b.py:1:13: error: Expected `)`, found newline [invalid-syntax]",
    "a.py:1:8: warning: `os` imported but unused [F401]",
    "a.py:2:8: warning: `sys` imported but unused [F401]",
    "a.py:11:15: warning: Undefined name `missing` [F821]",
    "a.py:15:1: warning: Undefined name `reveal_type` [F821]",
    "c.py:1:1: warning: Import from `collections.abc` instead: `Callable` [UP035]",
]
MYPY = [
    (
        'c.py:11:1: error: No overload variant of "pick" matches argument type "float"; Possible overload variants: '
        "def pick(x: int) -> int; def pick(x: str) -> str [call-overload]"
    ),
    'c.py:12:38: error: List item 0 has incompatible type "str"; expected "int" [list-item]',
    (
        'c.py:13:30: error: Incompatible types in assignment (expression has type "Callable[[int], str]", '
        'variable has type "Callable[[int], int]") [assignment]'
    ),
    'c.py:13:40: error: Incompatible return value type (got "str", expected "int") [return-value]',
    'a.py:6:12: error: Incompatible return value type (got "str", expected "int") [return-value]',
    'a.py:11:15: error: Name "missing" is not defined [name-defined]',
    'a.py:12:20: error: Argument 2 to "area" has incompatible type "str"; expected "int" [arg-type]',
    'a.py:15:13: information: Revealed type is "def (items: list[int]) -> int"',
]
GO = [
    "TEST FAIL: TestInput — expected 3, got <nil> (parse_test.go:7)",
    "TEST FAIL: TestTable/one — expected 1; got 2 (parse_test.go:15)",
    "TEST FAIL: TestPanics — panic: runtime error: index out of range [3] with length 0 (parse/parse_test.go:27)",
]
BUILD = [
    'broken/broken.go:5:2: error: imported and not used: "os"',
    "broken/broken.go:9:2: error: area declared but not used",
    "broken/broken.go:10:9: error: cannot use fmt.Sprint(width) (value of type string) as type int in return statement",
    "broken/broken.go:14:22: error: too many arguments in call to Area; have (number, string, number); want (int, int)",
]


@pytest.mark.parametrize("name", ["pytest.txt", "pytest-q.txt", "pytest-short.txt"])
def test_text_of_pytest_has_all_its_failures(name: str):
    assert digest_lines(name) == TESTS
    assert digest_of_fixture(name).summary == "pytest: 7 failed, 1 passed, 2 skipped, 2 errors"


@pytest.mark.parametrize("name", ["pytest.xml", "pytest-no-summary.txt"])
def test_reports_of_pytest_in_another_order_have_the_same_failures(name: str):
    # a file is known where a test has one: without the summary, what was not raised anywhere has none
    assert {line.removesuffix(" (tests/test_parse.py)") for line in digest_lines(name)} == {
        line.removesuffix(" (tests/test_parse.py)") for line in TESTS
    }
    assert digest_of_fixture(name).summary == "pytest: 7 failed, 1 passed, 2 skipped, 2 errors"


def test_output_of_pytest_without_tracebacks_has_all_failures():
    lines = digest_lines("pytest-no.txt")
    assert lines[0] == "TEST FAIL: test_parse_input — AssertionError: expected 3, got None (tests/test_parse.py)"
    # the summary is cut off there: half of what was expected would be misleading
    assert "assert ['one', 'two', 'three'] == ['one'..." in lines[3]
    assert "tests/test_broken.py: error: cannot be imported [collection]" in lines
    assert len(lines) == len(TESTS)


@pytest.mark.parametrize("name", ["pytest-line.txt", "pytest-native.txt"])
def test_output_of_pytest_with_other_tracebacks_has_all_failures(name: str):
    lines = digest_lines(name)
    assert lines[0] == "TEST FAIL: test_parse_input — AssertionError: expected 3, got None (tests/test_parse.py:7)"
    assert lines[2] == TESTS[2]
    assert lines[3].endswith("expected ['one', 'too', 'three'], got ['one', 'two', 'three'] (tests/test_parse.py:22)")
    assert len(lines) == len(TESTS)


def test_pytest_stopped_by_a_file_that_cannot_be_imported():
    assert digest_lines("pytest-collection.txt") == [TESTS[7]]
    assert digest_lines("pytest-nothing.txt") == ["error: file or directory not found: nowhere.py [usage]"]


def test_an_expected_failure_is_no_problem():
    digest = digest_of_fixture("pytest-clean.txt")
    assert (digest.problems, digest.skipped) == ((), 2)


@pytest.mark.parametrize(
    "name", ["ruff.json", "ruff-lines.json", "ruff-concise.txt", "ruff-full.txt", "ruff-grouped.txt"]
)
def test_all_formats_of_ruff_give_the_same_findings(name: str):
    assert digest_lines(name) == RUFF
    assert digest_of_fixture(name).tool == "ruff"


def test_output_of_ruff_format_is_read():
    assert digest_lines("ruff-format.txt") == [RUFF[0], "c.py:8:13: warning: File would be reformatted [unformatted]"]


@pytest.mark.parametrize("name", ["eslint.json", "eslint-stylish.txt", "eslint-color.txt"])
def test_all_formats_of_eslint_give_the_same_findings(name: str):
    assert [line.replace(". [", " [") for line in digest_lines(name)] == [
        "src/area.js:5:13: error: Expected '===' and instead saw '==' [eqeqeq]",
        "src/area.js:5:16: error: 'missing' is not defined [no-undef]",
        "src/broken.js:2:1: error: Parsing error: Unexpected token",
        "src/area.js:1:10: warning: 'sides' is defined but never used [no-unused-vars]",
        "src/area.js:4:9: warning: 'spare' is assigned a value but never used [no-unused-vars]",
    ]


def test_all_formats_of_mypy_give_the_same_findings():
    assert digest_lines("mypy-pretty.txt") == MYPY
    assert digest_lines("mypy.json") == [*MYPY[:-1], f"{MYPY[-1]} [misc]"]
    assert (
        digest_lines("mypy.txt")[1]
        == 'c.py:12: error: List item 0 has incompatible type "str"; expected "int" [list-item]'
    )
    assert len(digest_lines("mypy.txt")) == len(MYPY)
    assert digest_lines("mypy-syntax.txt")[1] == "b.py:1: error: Expected `)`, found newline [syntax]"


def test_text_and_json_of_pyright_give_the_same_findings():
    assert digest_lines("pyright.txt") == digest_lines("pyright.json")
    assert digest_lines("pyright.txt")[0] == (
        'a.py:6:12: error: Type "str" is not assignable to return type "int"; "str" is not assignable to "int" '
        "[reportReturnType]"
    )
    assert "b.py:2:5: error: Expected expression (×2: also line 3)" in digest_lines("pyright.txt")
    assert digest_of_fixture("pyright.txt").summary == "pyright: 14 errors, 1 remark"


def test_plain_and_pretty_output_of_tsc_give_the_same_findings():
    assert digest_lines("tsc.txt") == digest_lines("tsc-pretty.txt")
    assert digest_lines("tsc.txt")[0] == (
        "src/area.ts:7:9: error: Type 'number' is not assignable to type 'string'. [TS2322] (×2: also line 11)"
    )
    assert digest_lines("tsc.txt")[3].endswith("Type 'string' is not assignable to type 'number'. [TS2322]")
    [line] = digest_lines("tsc-nothing.txt")
    assert line.startswith("error: File 'nowhere.ts' not found.")
    assert digest_of_fixture("tsc-pretty.txt").summary == "tsc: 9 errors"


def test_go():
    assert digest_lines("go-build.txt") == BUILD
    assert digest_lines("go-test.json") == GO
    assert digest_lines("go-test.txt") == digest_lines("go-test-v.txt") == [*BUILD, *GO]
    assert digest_of_fixture("go-test-v.txt").summary == "go: 4 failed, 3 passed, 1 skipped, 4 errors"
    vet = "parse/parse.go:6:2: error: fmt.Printf format %d has arg text of wrong type string"
    assert digest_lines("go-vet.txt")[1:] == digest_lines("go-test-vet.txt") == [vet]


def test_all_formats_of_cargo_build_give_the_same_errors():
    errors = [
        "src/main.rs:7:24: error: mismatched types: expected `String`, found `i32` [E0308]",
        "src/main.rs:11:5: error: cannot find function `missing` in this scope: not found in this scope [E0425]",
    ]
    assert (
        digest_lines("cargo-build.txt")[:2]
        == digest_lines("cargo-build.json")[:2]
        == digest_lines("cargo-short.txt")[:2]
        == errors
    )
    assert digest_lines("cargo-build.json")[2] == "src/lib.rs:1:5: warning: unused import: `std::fs` [unused_imports]"
    for name in ("cargo-build.txt", "cargo-build.json", "cargo-short.txt"):
        assert digest_of_fixture(name).summary == "cargo: 2 errors, 3 warnings"


def test_failed_tests_of_cargo_are_read():
    assert digest_lines("cargo-test.txt") == [
        'TEST FAIL: tests::gives — "nothing there"',
        "TEST FAIL: tests::panics — test did not panic as expected (src/lib.rs:45:8)",
        "TEST FAIL: tests::parses — assertion `left == right` failed (left: None, right: Some(3)) (src/lib.rs:23:9)",
        "TEST FAIL: tests::says_why — expected 3, got None (src/lib.rs:28:9)",
        (
            "TEST FAIL: src/lib.rs - twice (line 5) — assertion `left == right` failed (left: 4, right: 5) "
            "(src/lib.rs:5:1)"
        ),
        "src/lib.rs:1:5: warning: unused import: `std::fs`",
        "src/lib.rs:9:9: warning: unused variable: `spare`",
    ]
    assert digest_of_fixture("cargo-test.txt").summary == "cargo: 5 failed, 1 passed, 1 skipped, 2 warnings"


@pytest.mark.parametrize("tool", ["ruff", "mypy", "pyright", "go", "cargo"])
def test_a_clean_output_has_no_problems(tool: str):
    digest = digest_of_fixture(f"{tool}-clean.txt")
    assert (digest.tool, digest.problems, digest.note) == (tool, (), "")
    assert digest_of_fixture("eslint-clean.json").summary == "eslint: no problems"


def test_a_named_tool_gives_the_same_digest(name: str):
    tool = name.split("-")[0].split(".")[0]
    assert digest_of_fixture(name, tool) == digest_of_fixture(name)
