"""Suites: TOML files, development sets, and the tests that are made of what a case shows."""

import ast
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from benchmarks.evaluation.suites.development_set import read_development_set
from benchmarks.evaluation.suites.example_tests import (
    choose_half,
    make_call_tests,
    make_example_tests,
    make_script_tests,
)
from benchmarks.evaluation.suites.suite_formats import read_suite
from lsp_harness.errors import UsageError
from lsp_harness.text.document import Document

DATA = Path(os.environ.get("LSP_HARNESS_EVAL_DATA", Path(__file__).parents[4] / "shared/data/dev"))
SETS = ("fix_quixbugs", "fix_humaneval", "fix_student", "fix_debugbench", "fix_ruff", "edit_canitedit")
SUITE = """
[[tasks]]
name = "area"
kind = "fix"
text = "the tests of area fail"
target = "geo.py"
line = 2
files = { "geo.py" = "def area(a, b):\\n    return a + b\\n", "test_geo.py" = "" }
tests = ["test_geo.py"]
check = ["{python}", "-c", "import geo"]
check_files = { "data.json" = "[]" }
"""


def write(folder: Path, text: str, name: str = "suite.toml") -> str:
    file = folder / name
    file.write_text(text)
    return str(file)


def test_a_toml_suite_has_tasks(tmp_path: Path):
    [task] = read_suite(write(tmp_path, SUITE)).tasks
    assert (task.id, task.suite, task.kind, task.line) == ("area", "suite", "fix", 2)
    assert task.tests == ("test_geo.py",)
    assert task.gate == "given"
    # the file of the check is not one of those that the harness sees
    assert set(task.files) == {"geo.py", "test_geo.py"}


def test_a_fixture_is_a_folder_beside_the_suite(tmp_path: Path):
    (tmp_path / "geo").mkdir()
    (tmp_path / "geo" / "geo.py").write_text("PI = 3\n")
    text = '[[tasks]]\nname = "pi"\nkind = "edit"\ntext = "x"\ntarget = "geo.py"\nfixture = "geo"\ncheck = ["true"]\n'
    [task] = read_suite(write(tmp_path, text)).tasks
    assert task.files == {"geo.py": "PI = 3\n"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('kind = "fix"', 'kind = "repair"', "kind must be fix, edit, generate"),
        ('target = "geo.py"', 'target = "other.py"', "other.py is none of its files"),
        ('tests = ["test_geo.py"]', "tests = 3", "tests must be a list"),
        ("line = 2", 'line = "two"', "line must be a number"),
        ("line = 2", "lines = 2", "unknown key 'lines'"),
        ('text = "the tests of area fail"\n', "", "has no text"),
        ("[[tasks]]", "[tasks]", "has no task"),
        ("[[tasks]]", "[[", "not valid TOML"),
        ("line = 2", 'fixture = "nowhere"', "is not a folder"),
    ],
)
def test_a_mistake_in_a_suite_is_named(tmp_path: Path, old: str, new: str, message: str):
    assert old in SUITE
    with pytest.raises(UsageError, match=message):
        read_suite(write(tmp_path, SUITE.replace(old, new)))


def test_two_tasks_need_two_names(tmp_path: Path):
    with pytest.raises(UsageError, match="two tasks have the name 'area'"):
        read_suite(write(tmp_path, SUITE + SUITE))


def test_the_error_about_a_missing_suite_names_the_searched_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LSP_HARNESS_EVAL_DATA", str(tmp_path))
    with pytest.raises(UsageError, match=f"no_such_set is neither a file nor a set in the folder {tmp_path}"):
        read_suite("no_such_set")
    monkeypatch.delenv("LSP_HARNESS_EVAL_DATA")
    with pytest.raises(UsageError, match="LSP_HARNESS_EVAL_DATA names none"):
        read_suite("no_such_set")
    with pytest.raises(UsageError, match="is no suite"):
        read_suite(write(tmp_path, "", "suite.txt"))


# -- development sets
def make_case_row(**changes: Any) -> dict[str, Any]:
    return {
        "id": "x/1",
        "kind": "fix",
        "lang": "python",
        "input": {"code": "def one():\n    return 2\n", "path": "solution.py", "issue": "it is wrong"},
        "gold": "def one():\n    return 1\n",
        "check": {"type": "script", "after": "assert one() == 1\n", "timeout": 5},
        **changes,
    }


def read_cases(folder: Path, *cases: dict[str, Any]):
    file = folder / "fix_small.jsonl.gz"
    file.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in cases).encode()))
    return read_development_set(file)


def test_a_case_becomes_a_task(tmp_path: Path):
    suite = read_cases(tmp_path, make_case_row(), make_case_row(id="fill", kind="fim"))
    [task] = suite.tasks
    assert (task.suite, task.id, task.kind, task.target) == ("fix_small", "x/1", "fix", "solution.py")
    assert task.gold == {"solution.py": "def one():\n    return 1\n"}
    assert suite.notes == ("1 cases of the kind fim were left out",)


def test_code_before_the_answer_is_part_of_the_file(tmp_path: Path):
    check = {"type": "script", "before": "from typing import *\n", "after": "\n"}
    [task] = read_cases(tmp_path, make_case_row(check=check)).tasks
    assert task.source == "from typing import *\ndef one():\n    return 2\n"
    assert task.gold == {"solution.py": "from typing import *\ndef one():\n    return 1\n"}


def test_a_diagnostic_is_found_in_the_text(tmp_path: Path):
    place = {"start": {"line": 1, "character": 11}, "end": {"line": 1, "character": 12}}
    diagnostic = {"range": place, "source": "ruff", "code": "X1", "message": "two"}
    [task] = read_cases(
        tmp_path,
        make_case_row(
            input={**make_case_row()["input"], "diagnostics": [diagnostic]}, check={"type": "ruff", "rule": "X1"}
        ),
    ).tasks
    assert task.finding
    finding = task.finding.locate(Document.from_text("file:///solution.py", task.source))
    assert task.source[finding.start : finding.end] == "2"


def test_a_diagnostic_moves_down_with_the_code(tmp_path: Path):
    place = {"start": {"line": 1, "character": 11}, "end": {"line": 1, "character": 12}}
    diagnostic = {"range": place, "message": "two"}
    check = {"type": "script", "before": "import math\nfrom typing import *\n", "after": "\n"}
    [task] = read_cases(
        tmp_path, make_case_row(input={**make_case_row()["input"], "diagnostics": [diagnostic]}, check=check)
    ).tasks
    assert task.finding
    finding = task.finding.locate(Document.from_text("file:///solution.py", task.source))
    assert task.source[finding.start : finding.end] == "2"


@pytest.mark.parametrize("broken", [{"check": {"type": "magic"}}, {"input": {}}])
def test_a_case_that_cannot_be_used_is_named(tmp_path: Path, broken: dict[str, Any]):
    with pytest.raises(UsageError, match=r"fix_small\.jsonl\.gz:1 is no case"):
        read_cases(tmp_path, make_case_row(**broken))


def test_a_set_that_is_cut_off_is_refused(tmp_path: Path):
    file = tmp_path / "cut.jsonl.gz"
    file.write_bytes(gzip.compress(b"{}\n")[:-4])
    with pytest.raises(UsageError, match="it is cut off"):
        read_development_set(file)


@pytest.mark.skipif(not DATA.is_dir(), reason=f"{DATA} is not there; set LSP_HARNESS_EVAL_DATA")
@pytest.mark.parametrize("name", SETS)
def test_the_development_sets_can_be_read(name: str):
    tasks = read_development_set(DATA / f"{name}.jsonl.gz").tasks
    assert tasks
    for task in tasks:
        for path in task.tests:
            ast.parse(task.files[path])
    gates = {task.gate for task in tasks}
    assert gates <= {"", "examples", "half", "check"}


# -- tests that are made of examples
def run(tests: str, module: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the test functions of a text."""
    (tmp_path / f"{module}.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    names: dict[str, Any] = {}
    exec(compile(tests, "tests", "exec"), names)
    for name, function in names.items():
        if name.startswith("test_"):
            function()


def test_examples_of_a_docstring_are_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    examples = ">>> half_of(4)\n    2\n    >>> half_of(x) = 3"
    source = f'def half_of(n):\n    """Halve.\n\n    {examples}\n    """\n    return n // 2\n'
    tests = make_example_tests("halves_a", source)
    assert tests.count("def test_") == 1
    run(tests, "halves_a", source, tmp_path, monkeypatch)
    with pytest.raises(AssertionError):
        run(make_example_tests("halves_b", source), "halves_b", source.replace("//", "*"), tmp_path, monkeypatch)


def test_rows_of_calls_are_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    tests = make_call_tests("tops", "top([3, 9], 1)  ->  [9]\nnothing here\ntop([], 1) -> []")
    assert tests.count("def test_") == 2
    run(tests, "tops", "def top(values, n):\n    return sorted(values)[-n:]\n", tmp_path, monkeypatch)


def test_a_script_is_a_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    script = "def check(one):\n    assert one() == 1\n\ncheck(one)\n"
    run(make_script_tests("ones", script), "ones", "def one():\n    return 1\n", tmp_path, monkeypatch)
    assert make_script_tests("ones", "") == make_example_tests("ones", "text") == make_call_tests("ones", "") == ""


def test_every_second_case_of_a_check_is_visible():
    data = {"json_testcases/a.json": "[1]\n[2]\n\n[3]\n", "t/test_a.py": "def test_1(): ...\ndef test_2(): ...\n"}
    assert choose_half(data)["json_testcases/a.json"] == "[1]\n[3]\n"
    assert choose_half(data)["t/test_a.py"] == data["t/test_a.py"]
    only_tests = choose_half({"t/test_a.py": data["t/test_a.py"] + "def test_3(): ...\n"})["t/test_a.py"]
    assert "test_2" not in only_tests
    assert "test_3" in only_tests
