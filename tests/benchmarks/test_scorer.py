"""Tests of the scorer: right, equivalent, none and wrong, and the figures that are computed from them."""

import pytest

from benchmarks.one_fault.case import Case, Diagnostic, read, write
from benchmarks.one_fault.report import report
from benchmarks.one_fault.scorer import score

PYTHON = (
    "import json\nimport os\n\n\ndef size(name: str) -> int:\n"
    "    return len(json.dumps(os.stat(name), indent=2))  # bytes\n"
)
TYPESCRIPT = (
    "import { first, second } from './names';\nimport fs from 'fs';\n\nexport const both = [first, second, fs];\n"
)


def make_case(truth: str, language: str = "python") -> Case:
    return Case(
        "a/b/0", "dev", language, "misspelt_variable", "p", "a", "faulty", truth, Diagnostic(0, 1, "m", "s", "c")
    )


@pytest.mark.parametrize(
    ("language", "truth", "proposed", "result"),
    [
        ("python", PYTHON, PYTHON, "right"),
        ("python", PYTHON, PYTHON.replace("bytes\n", "bytes  \n\n"), "right"),
        ("python", PYTHON, None, "none"),
        ("python", PYTHON, PYTHON.replace("import json\nimport os", "import os\nimport json"), "equivalent"),
        ("python", PYTHON, PYTHON.replace("import json\nimport os", "import os, json"), "equivalent"),
        ("python", PYTHON, PYTHON.replace("indent=2", "indent = 2"), "equivalent"),
        ("python", PYTHON, PYTHON.replace("  # bytes", ""), "wrong"),
        ("python", PYTHON, PYTHON.replace("import json\n", ""), "wrong"),
        ("python", PYTHON, PYTHON.replace("indent=2", "indent=3"), "wrong"),
        ("python", "a = 'x'\n", 'a = "x"\n', "equivalent"),
        ("python", "a = 'x'\n", "a = 'y'\n", "wrong"),
        ("python", "if a:\n    b()\n    c()\n", "if a:\n    b()\nc()\n", "wrong"),
        ("python", "a = (1)\n", "a = (1\n", "wrong"),
        ("typescript", TYPESCRIPT, TYPESCRIPT.replace("[first, second", "[ first,second"), "equivalent"),
        ("typescript", TYPESCRIPT, TYPESCRIPT.replace("first, second }", "second, first }"), "equivalent"),
        ("typescript", TYPESCRIPT, TYPESCRIPT.replace("'./names'", '"./names"'), "equivalent"),
        ("typescript", TYPESCRIPT, TYPESCRIPT.replace("'./names'", "'./other'"), "wrong"),
        ("typescript", TYPESCRIPT, TYPESCRIPT.replace("[first, second", "[second, first"), "wrong"),
        (
            "typescript",
            TYPESCRIPT,
            TYPESCRIPT.replace("first, second }", "second }").replace("\n\n", "\nimport { first } from './names';\n\n"),
            "equivalent",
        ),
        ("typescript", "type A = { b: B; c: C };\n", "type A = { b: B, c: C };\n", "equivalent"),
        ("typescript", "f(b); g(c);\n", "f(b), g(c);\n", "wrong"),
        ("java", "import a.B;\nimport a.C;\nclass D {}\n", "import a.C;\nimport a.B;\nclass D {}\n", "equivalent"),
        ("java", "import a.B;\nclass D {}\n", "import b.B;\nclass D {}\n", "wrong"),
        ("go", 'package a\n\nimport (\n\t"b"\n\t"c"\n)\n', 'package a\n\nimport (\n\t"c"\n\t"b"\n)\n', "equivalent"),
        ("ruby", "require 'a'\nputs 'b'\n", "require \"a\"\nputs 'b'\n", "equivalent"),
        ("ruby", "puts 'b c'\n", "puts 'bc'\n", "wrong"),
        ("rust", "fn f() { g(a, b); }\n", "fn f() {\n    g(a, b);\n}\n", "equivalent"),
        ("rust", "fn f() { g(a, b); }\n", "fn f() { g(b, a); }\n", "wrong"),
    ],
)
def test_a_proposed_text_gets_its_score(language: str, truth: str, proposed: str | None, result: str) -> None:
    assert score(make_case(truth, language), proposed) == result


def make_row(result: str, *, kind: str = "extra_comma", asked: bool = False, ms: float = 10.0) -> dict[str, object]:
    return {
        "id": result,
        "language": "go",
        "kind": kind,
        "result": result,
        "asked_model": asked,
        "ms": ms,
        "wanted": "d",
    }


def test_report_counts_each_result_and_separates_the_times() -> None:
    rows = [
        make_row("right"),
        make_row("equivalent"),
        make_row("none", asked=True, ms=900),
        make_row("wrong", asked=True, ms=900),
    ]
    said = report(rows)
    assert "2/1/1" in said
    assert "4 cases: right 1 (25.0 %), equivalent 1 (25.0 %), none 1 (25.0 %), wrong 1 (25.0 %)" in said
    assert "settled without a model: 50.0 % of all" in said
    assert "settled, no model asked: median 10 ms" in said


def test_report_of_stale_diagnostics_names_each_edit() -> None:
    rows = [make_row("edited") | {"wanted": ""}, make_row("none") | {"wanted": ""}]
    assert report(rows).splitlines() == ["stale diagnostics: 1 edits of 2; 0 are wanted", "edited"]


def test_written_cases_can_be_read_again(tmp_path) -> None:
    cases = [make_case("a\r\nb\u2028c\n"), make_case(TYPESCRIPT, "typescript")]
    write(tmp_path / "set.jsonl", cases)
    assert read(tmp_path / "set.jsonl") == cases
