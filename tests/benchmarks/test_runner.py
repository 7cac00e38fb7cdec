"""Tests of cases that go through the product, in this process and through a server, and of their result rows."""

import json
from pathlib import Path

import pytest

from benchmarks.one_fault.case import Case, Diagnostic
from benchmarks.one_fault.runner import Options, run
from lsp_harness.process import tool_run

TRUTH = "import sys\n\n\ndef name() -> str:\n    return sys.platform\n"
UNUSED = Case(
    *("python/unused_import/0", "dev", "python", "unused_import", "p", "a.py", f"import os\n{TRUTH}", TRUTH),
    Diagnostic(7, 9, "`os` imported but unused", "Ruff", "F401", "warning"),
)
UNKNOWN = Case(
    *(
        "java/misspelt_type/0",
        "dev",
        "java",
        "misspelt_type",
        "p",
        "A.java",
        "class A { Zqx a; }\n",
        "class A { Foo a; }\n",
    ),
    Diagnostic(10, 13, "Zqx cannot be resolved to a type", "Java", "16777218"),
)


@pytest.fixture(autouse=True)
def no_script_left(monkeypatch: pytest.MonkeyPatch) -> None:
    # `run` sets these for its process, which is the tests' here; both are taken back in the end
    monkeypatch.setenv("LSP_HARNESS_ENGINE__SCRIPT", "")
    monkeypatch.setenv("LSP_HARNESS_INDEX__ENABLED", "false")


@pytest.mark.skipif(tool_run.find_tool("ruff") is None, reason="ruff is not installed")
@pytest.mark.parametrize("lsp", [False, True])
def test_a_case_without_the_model_is_right_and_an_unsolved_case_is_none(tmp_path: Path, lsp: bool) -> None:
    out = tmp_path / "rows.jsonl"
    rows = run([UNUSED, UNKNOWN], Options(lsp=lsp, out=out))
    assert [row["result"] for row in rows] == ["right", "none"]
    assert "-import os" in rows[0]["proposed"]
    assert rows[0]["asked_model"] is False
    assert rows[1]["reason"]
    assert [json.loads(line) for line in out.read_text().splitlines()] == rows


@pytest.mark.skipif(tool_run.find_tool("ruff") is None, reason="ruff is not installed")
@pytest.mark.parametrize("lsp", [False, True])
def test_a_stale_diagnostic_is_sent_of_the_text_without_the_fault(lsp: bool) -> None:
    [row] = run([UNUSED], Options(lsp=lsp, stale=True))
    assert row["result"] == "none"
