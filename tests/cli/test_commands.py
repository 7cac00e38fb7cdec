"""Tests of the output of commands for people and for programs, and of their errors."""

import io
import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from lsp_harness.verify.change import ChangeSet
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.project_tools.new_findings import Comparison, NewFinding, NothingComparedError
from lsp_harness.verify.project_tools.type_comparison import TypeComparison
from tests.cli.conftest import Shell

AREA = "def area(r):\n    return \n"
PASSES = (
    "candidate 1 of 1 passes (parse ✓, kept ✓, lint ✓, gone ✓, types – (ty is not installed (pip install ty)), "
    "tests – (no program is known that runs the tests for a.py))"
)
BROKEN = "def area(r):\n    width = r\n    return widht * width\n"
FIXED = BROKEN.replace("widht", "width")


# -- complete
def test_complete_prints_the_text_and_its_figures(shell: Shell) -> None:
    shell.file("a.py", AREA)
    shell.replies("3 * r")
    result = shell.run("complete", "a.py:2:12")
    text, figures = result.out.splitlines()
    assert (result.code, text, result.err) == (0, "3 * r", "")
    assert "3 prompt tokens evaluated, 0 reused, 3 generated" in figures


def test_complete_prints_json_for_programs(shell: Shell) -> None:
    shell.file("a.py", AREA)
    shell.replies("3 * r")
    [output] = shell.run("complete", "a.py:2:12", "--json").json
    assert {key: output[key] for key in ("start", "end", "text")} == {"start": 24, "end": 24, "text": "3 * r"}
    assert output["stats"]["generated"] == 3


def test_complete_succeeds_and_says_that_there_is_no_suggestion(shell: Shell) -> None:
    shell.file("a.py", AREA)
    shell.replies("")
    result = shell.run("complete", "a.py:2:12")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("no suggestion here: the model has nothing to add here (")
    assert shell.run("complete", "a.py:2:12", "--json").json == []


@pytest.mark.parametrize(
    ("text", "answer", "reason"),
    [
        (
            "x = 1\ny = x\n",
            " # " + "ab" * 60,
            "and nothing of it is shown: circling. The model repeats itself within a line.",
        ),
        # the rule that took the text away, and not the one about the blanks that are left
        (
            "def f(a):\n     \n     return a\n",
            "return a\n",
            "and nothing of it is shown: suffix-start. The model repeats",
        ),
        ("x = [1, 2]\ny = x\n", "]]]])", "which does not fit into the code here"),
        ("x = 1\nkey = 'sk-proj-" + "a1B2" * 12 + "'\n", "", "the line contains what looks like a secret"),
    ],
)
def test_complete_explains_why_a_place_has_no_suggestion(shell: Shell, text: str, answer: str, reason: str) -> None:
    shell.file("a.py", text)
    shell.replies(*([answer] if answer else []))
    assert reason in shell.run("complete", "a.py:2:6").out


def test_columns_are_characters_and_completion_may_be_switched_off_for_editors(shell: Shell) -> None:
    shell.file("a.py", "é = '😀'; y = \n")
    shell.file("lsp-harness.toml", "[completion]\nenabled = false\n")
    shell.replies("é")
    [output] = shell.run("complete", "a.py:1:14", "--json").json
    assert output["start"] == len("é = '😀'; y = ".encode())


def test_code_is_printed_as_it_is(shell: Shell) -> None:
    shell.file("a.go", "package a\n\nfunc f() {\n\t\n}\n")
    shell.replies('m[":key:"] = []int{1}\n\tg()')
    assert shell.run("complete", "a.go:4:2").out.splitlines()[:2] == ['m[":key:"] = []int{1}', "\tg()"]


# -- fix
def switch_off_repairs(shell: Shell) -> None:
    """Switch off the repairs without a model, although the right name is similar."""
    shell.file("lsp-harness.toml", "[generation]\ncandidates = 1\nrepairs = false\n")


def test_fix_shows_the_diff_and_the_result_of_each_check_and_writes_no_file(shell: Shell) -> None:
    switch_off_repairs(shell)
    file = shell.file("a.py", BROKEN)
    shell.replies("return width * width")
    result = shell.run("fix", "a.py")
    assert (result.code, result.err, file.read_text()) == (0, "", BROKEN)
    assert result.out.startswith("a.py:3: ruff F821 Undefined name `widht`\n")
    assert "--- a/a.py\n+++ b/a.py\n" in result.out
    assert "-    return widht * width\n+    return width * width\n" in result.out
    assert result.out.endswith(f"{PASSES}; --apply writes it\n")


def test_the_summary_names_the_missing_index_as_the_reason_why_no_test_ran(shell: Shell) -> None:
    switch_off_repairs(shell)
    shell.file("a.py", BROKEN)
    shell.file("test_a.py", "import pytest\nfrom a import area\n\n\ndef test_area():\n    assert area(2) == 4\n")
    shell.file("conftest.py", "")
    shell.replies("return width * width")
    summary = shell.run("fix", "a.py:3", "--json").json["summary"]
    assert "tests – (this folder has no index yet, so nobody knows which tests depend on a file)" in summary


def test_fix_prints_json_for_programs(shell: Shell) -> None:
    switch_off_repairs(shell)
    shell.file("a.py", BROKEN)
    shell.replies("return width * width")
    output = shell.run("fix", "a.py:3", "--json").json
    assert {key: output[key] for key in ("finding", "at", "summary", "applied")} == {
        "finding": "Undefined name `widht`",
        "at": "a.py:3",
        "summary": PASSES,
        "applied": False,
    }
    [candidate] = output["candidates"]
    assert candidate["checks"] == {
        **dict.fromkeys(("syntax", "kept", "lint", "gone"), "passed"),
        **dict.fromkeys(("types", "tests"), "skipped"),
    }


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_apply_writes_the_file_and_keeps_its_terminators(shell: Shell, newline: str) -> None:
    switch_off_repairs(shell)
    file = shell.file("a.py", BROKEN.replace("\n", newline))
    shell.replies("return width * width")
    result = shell.run("fix", "a.py", "--apply")
    assert (result.code, file.read_bytes()) == (0, FIXED.replace("\n", newline).encode())
    assert result.out.endswith("; applied\n")


@pytest.mark.parametrize(("mode", "code"), [("plan", 2), ("deny", 2), ("acceptEdits", 0), ("ask", 0)])
def test_apply_asks_the_permission_gate(shell: Shell, mode: str, code: int) -> None:
    file = shell.file("a.py", "import os\nx = 1\n")
    shell.set("LSP_HARNESS_PERMISSIONS__MODE", mode)
    shell.replies()
    result = shell.run("fix", "a.py", "--apply")
    assert (result.code, file.read_text() == "x = 1\n") == (code, code == 0)
    assert (f"not allowed: the permission mode {mode} does not allow it" in result.err) == (code != 0)
    rows = [
        json.loads(line) for line in shell.run("events", "--types", "permission.decided", "--json").out.splitlines()
    ]
    decisions = [(row["data"]["tool"], row["data"]["decision"]) for row in rows]
    assert decisions == [("lint", "allow"), ("edit", "deny" if code else "allow")]
    # the file is shown in every mode
    file.write_text("import os\nx = 1\n")
    assert "-import os" in shell.run("fix", "a.py").out


def test_a_permission_rule_about_the_linter_is_respected(shell: Shell) -> None:
    shell.file("a.py", "import os\nx = 1\n")
    shell.file("lsp-harness.toml", '[permissions]\ndeny = ["Lint"]\n')
    shell.replies()
    assert "not checked: the linter may not run: the rule Lint" in shell.run("fix", "a.py").out


def test_the_fix_of_the_linter_needs_no_model(shell: Shell) -> None:
    file = shell.file("a.py", "import os\nx = 1\n")
    shell.replies()
    result = shell.run("fix", "a.py", "--apply", "--json")
    assert (result.json["summary"].split(" (")[0], file.read_text()) == ("the linter's own fix passes", "x = 1\n")


# -- fix: all errors, and the errors of compilers
def test_fix_all_repairs_every_error_and_checks_the_result_once(shell: Shell) -> None:
    shell.file("lsp-harness.toml", "[generation]\ncandidates = 1\n")
    file = shell.file("a.py", "import os\nimport sys\n\n" + BROKEN)
    shell.replies()
    result = shell.run("fix", "a.py", "--all", "--apply")
    assert (result.code, file.read_text().lstrip()) == (0, FIXED)
    assert "the fix of 3 of 3 diagnostics passes (" in result.out
    assert [line.split(":")[1] for line in result.out.splitlines() if line.startswith("a.py:")] == ["6", "1", "2"]
    assert "nothing to fix" in shell.run("fix", "a.py", "--all").out
    assert "write: lsp-harness fix a.py --all" in shell.run("fix", "a.py:1", "--all").err


def test_without_a_model_only_repairs_without_a_model_are_made(shell: Shell) -> None:
    file = shell.file("a.py", "import os\n\nprint(zebra)\n")
    result = shell.run("fix", "a.py", "--all", "--apply")
    assert (result.code, file.read_text().lstrip()) == (0, "print(zebra)\n")
    assert "; left: line " in result.out
    assert "is not downloaded yet" in result.out


@pytest.mark.parametrize("option", [("--failing", "-"), ("--failing=-",), ("--failing", "-", "--json")])
def test_the_output_of_a_compiler_is_read_from_standard_input(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, option: tuple[str, ...]
) -> None:
    shell.file("a.py", SOUND)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PYTEST.encode())))
    shell.replies("```python\ndef area(r):\n    width = r\n    return 3 * width * r\n```")
    result = shell.run("fix", "a.py:1", *option)
    assert result.err == ""
    assert "TEST FAIL: test_area_of_two" in result.out


@pytest.mark.parametrize(
    ("name", "command"), [("a.rs", "cargo check"), ("a.ts", "npx tsc --noEmit"), ("a.go", "go build ./...")]
)
def test_without_a_compiler_the_command_says_how_to_pipe_its_output(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, name: str, command: str
) -> None:
    async def compare(self: object, changes: object) -> None:
        raise NothingComparedError("the compiler is not installed")

    monkeypatch.setattr(TypeComparison, "compare", compare)
    shell.file(name, {"a.rs": "fn f() {}\n", "a.ts": "let x = 1\n", "a.go": "package a\n"}[name])
    shell.replies()
    out = shell.run("fix", name).out
    assert f"the compiler is not installed. Pipe its output: {command} 2>&1 | lsp-harness fix {name} --failing -" in out


def test_the_errors_of_the_compiler_are_those_of_the_file(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    async def compare(self: object, changes: ChangeSet) -> Comparison:
        data = changes.main.after.data
        start = data.index(b"lenn")
        found = Finding(start, start + 4, "no method named `lenn` found; did you mean `len`?", "", "E0599")
        other = Finding(0, 0, "b.rs:1:1: mismatched types", "", "E0308")
        return Comparison((NewFinding(changes.main, other, is_elsewhere=True), NewFinding(changes.main, found)))

    monkeypatch.setattr(TypeComparison, "compare", compare)
    shell.file("Cargo.toml", '[package]\nname = "a"\n')
    shell.file("a.rs", "fn f(x: &str) -> usize {\n    x.lenn()\n}\n")
    shell.replies()
    result = shell.run("fix", "a.rs")
    assert result.out.startswith("a.rs:2: cargo check E0599 no method named `lenn` found")


PYTEST = """\
______________________________ test_area_of_two ______________________________

    def test_area_of_two():
>       assert area(2) == 12
E       assert 6 == 12
E        +  where 6 = area(2)

tests/test_a.py:5: AssertionError
=========================== short test summary info ============================
FAILED tests/test_a.py::test_area_of_two - assert 6 == 12
========================= 1 failed, 3 passed in 0.02s ==========================
"""
SOUND = "def area(r):\n    width = r\n    return 3 * width\n"


def test_a_failure_of_a_test_is_fixed_in_the_function_of_a_line(shell: Shell) -> None:
    file = shell.file("a.py", SOUND)
    shell.file("out.txt", PYTEST)
    shell.replies("```python\ndef area(r):\n    width = r\n    return 3 * width * r\n```")
    result = shell.run("fix", "a.py:1", "--failing", "out.txt", "--apply")
    assert result.out.startswith("a.py:1: pytest TEST FAIL: test_area_of_two — AssertionError: expected 12, got 6")
    assert ": rewrite\n" in result.out
    assert ": fill" not in result.out
    assert "return 3 * width * r" in file.read_text()
    summary = shell.run("sessions", "show", "--summary").out
    assert "Ran pytest: 1 failed, 3 passed" in summary


@pytest.mark.parametrize("text", [SOUND, BROKEN])
def test_a_failing_test_without_a_line_asks_for_the_line_of_a_function(shell: Shell, text: str) -> None:
    file = shell.file("a.py", text)
    shell.file("out.txt", PYTEST)
    shell.replies()
    result = shell.run("fix", "a.py", "--failing", "out.txt", "--apply")
    assert (result.code, file.read_text()) == (2, text)
    assert "pytest: 1 failed, 3 passed; name a line of the function whose test fails, as FILE:LINE" in result.err


def test_the_failing_test_of_the_chosen_function_is_selected(shell: Shell) -> None:
    shell.file("a.py", f"def render(r):\n    return str(r)\n\n\n{SOUND}")
    other = PYTEST.replace("area_of_two", "render").replace("area(2)", "render(2)")
    head, short = other[: other.index("=====")], other[other.index("FAILED") : other.index("=== 1 failed")].rstrip("=")
    shell.file("out.txt", head + PYTEST.replace("FAILED", f"{short}FAILED"))
    for line, test in ((1, "test_render"), (5, "test_area_of_two"), (7, "test_area_of_two"), (3, "test_render")):
        shell.replies("```python\nnot code(\n```")
        output = shell.run("fix", f"a.py:{line}", "--failing", "out.txt").out
        assert output.startswith(f"a.py:{line}: pytest TEST FAIL: {test} "), output


def test_a_finding_of_a_compiler_is_fixed_before_those_of_our_own_checks(shell: Shell) -> None:
    switch_off_repairs(shell)
    shell.file("a.py", BROKEN)
    shell.file(
        "out.txt", 'a.py:2: error: Need type annotation for "width"  [var-annotated]\nother.py:1: error: Bad  [bad]\n'
    )
    shell.replies("width: float = r")
    output = shell.run("fix", "a.py", "--failing", "out.txt", "--json").json
    assert (output["finding"], output["at"]) == ('Need type annotation for "width"', "a.py:2")
    shell.replies("return width * width")
    # a line of which it says nothing is ours
    assert "Undefined name" in shell.run("fix", "a.py:3", "--failing", "out.txt", "--json").json["finding"]


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("other.py:1: error: Bad  [bad]\n", "mypy: 1 error; the output reports nothing in a.py"),
        ("", "no output; the output reports nothing in a.py"),
        ("4 passed in 0.1s\n", "pytest: 4 passed; the output reports nothing in a.py"),
    ],
)
def test_output_that_does_not_mention_the_file_is_an_error(shell: Shell, printed: str, expected: str) -> None:
    shell.file("a.py", BROKEN)
    shell.file("out.txt", printed)
    result = shell.run("fix", "a.py", "--failing", "out.txt")
    assert (result.code, expected in result.err) == (2, True), result.err
    assert "there is no file" in shell.run("fix", "a.py", "--failing", "nope.txt").err


def test_fix_reports_that_a_sound_file_has_no_findings(shell: Shell) -> None:
    shell.file("a.py", FIXED)
    shell.replies()
    missing = "types: ty is not installed (pip install ty)"
    said = f"a.py: nothing to fix (syntax and ruff checked; not checked: {missing})\n"
    assert shell.run("fix", "a.py") == (0, said, "")
    assert shell.run("fix", "a.py:1", "--json").json == {
        "finding": None,
        "findings": [],
        "checks": ["syntax", "ruff"],
        "missing": [missing],
    }


def test_when_every_candidate_fails_the_file_stays_and_the_status_is_5(shell: Shell) -> None:
    switch_off_repairs(shell)
    file = shell.file("a.py", BROKEN)
    shell.replies("return widhth * width")
    result = shell.run("fix", "a.py", "--apply")
    assert (result.code, file.read_text()) == (5, BROKEN)
    assert result.err == (
        "lsp-harness: No candidate passed the checks; the closest is candidate 1 (`+ return widhth * width`): "
        "LINT: F821 Undefined name `widhth`; nothing was changed\n"
    )


# -- the others
def test_doctor_reports_what_works(shell: Shell) -> None:
    shell.replies()
    with TemporaryDirectory() as home:
        # a path that is too long for a socket is something that doctor tells
        shell.set("LSP_HARNESS_HOME", home)
        _check_doctor_output(shell)


def _check_doctor_output(shell: Shell) -> None:
    result = shell.run("doctor", "--json")
    rows = {row["what"]: row for row in result.json}
    assert result.code == 0
    assert {row["state"] for row in result.json} <= {"ok", "note"}
    assert rows["model"]["says"].startswith("scripted replies from ")
    assert {"python", "pygls", "tree-sitter", "settings", "engine", "ruff", "state", "cache", "runtime"} <= set(rows)
    assert "scripted replies" in shell.run("doctor").out


def test_doctor_fails_without_a_model_and_names_mistakes_in_settings(shell: Shell) -> None:
    shell.file("lsp-harness.toml", "\n[nonsense]\n")
    result = shell.run("doctor", "--json")
    rows = {row["what"]: row for row in result.json}
    assert result.code == 1
    assert rows["model"]["state"] == "bad"
    assert "lsp-harness model pull" in rows["model"]["says"]
    assert rows["settings"]["says"].startswith(f"{shell.folder}/lsp-harness.toml:2: unknown table [nonsense]")


def test_without_an_engine_status_and_stop_report_no_engine(shell: Shell) -> None:
    assert shell.run("engine", "status", "--json").json == []
    assert shell.run("engine", "stop", "--json").json == []
    assert shell.run("engine", "status").out == "no engine is running; the first request starts one\n"
    assert shell.run("engine", "logs") == (4, "", "lsp-harness: no engine has written a log yet\n")


def test_engine_logs_prints_the_last_lines_of_the_log(shell: Shell, tmp_path: Path) -> None:
    state = tmp_path / "home" / "state"
    state.mkdir(parents=True)
    (state / "engine-x.log").write_text("".join(f"line {n} [red]\n" for n in range(9)))
    result = shell.run("engine", "logs", "--lines", "2")
    assert result.out == f"== {state}/engine-x.log\nline 7 [red]\nline 8 [red]\n"


def test_models_are_listed(shell: Shell) -> None:
    rows = shell.run("model", "list", "--json").json
    assert all({"name", "bytes", "license", "state", "path"} <= set(row) for row in rows)
    assert {row["state"] for row in rows} == {"missing"}
    shell.set("FORCE_COLOR", "1")
    shell.set("COLUMNS", "60")
    # also in a narrow terminal, every name can be copied
    narrow = shell.run("model", "list").out
    assert all(row["name"] in narrow for row in rows)
    assert "Qwen2.5" not in narrow
    shell.set("COLUMNS", "200")
    assert rows[0]["title"] in shell.run("model", "list").out


def test_the_demo_says_at_once_that_the_model_is_missing(shell: Shell) -> None:
    shell.set("LSP_HARNESS_MODEL__PATH", "granite-4.0-350m-base")
    result = shell.run("demo")
    assert (result.code, result.out) == (3, "")
    assert "run: lsp-harness model pull granite-4.0-350m-base" in result.err


# -- errors
@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (["complete", "nope.py:1:1"], 2, "there is no file 'nope.py'"),
        (["complete", "a.py:9:1"], 2, "the file has 4 lines; line 9 is past its end"),
        (["complete", "a.py:0:1"], 2, "a.py:0:1: lines and columns count from 1, so there is no 0"),
        (["complete", "a.py:x:1"], 2, "'x:1' is no line of a.py; write FILE:LINE:COL with numbers"),
        (["complete", "a.py"], 2, "write: lsp-harness complete a.py:LINE:COL"),
        (["complete", "."], 2, ". is a folder; name one file in it"),
        (["complete", "binary.py:1:1"], 1, "binary.py is a binary file, not a text file"),
        (["fix", "nope.py"], 2, "there is no file 'nope.py'"),
        (["fix", "a.py:99"], 2, "the file has 4 lines; line 99 is past its end"),
        (["fix", "utf16.py"], 1, "utf16.py is UTF-16 text, and only UTF-8 can be read; save it as UTF-8"),
        (["fix", "binary.py"], 1, "binary.py is a binary file, not a text file"),
        (["fix", "latin.py"], 1, "latin.py is not UTF-8: byte 0xe9 on line 1; save it as UTF-8"),
        (
            ["model", "info", "nope"],
            3,
            (
                "“nope” is neither a GGUF file nor a model of the catalogue; write a path that ends in .gguf, or "
                "one of qwen2.5-coder-0.5b"
            ),
        ),
        (["model", "path", "nope.gguf"], 3, "there is no model file "),
    ],
)
def test_an_error_is_one_sentence_and_a_code(shell: Shell, arguments: list[str], code: int, expected: str) -> None:
    shell.file("a.py", BROKEN)
    shell.file("binary.py", b"\0\1")
    shell.file("utf16.py", "x = 1\n".encode("utf-16"))
    shell.file("latin.py", b"x = '\xe9'\n")
    shell.replies()
    result = shell.run(*arguments)
    assert (result.code, result.out) == (code, "")
    assert result.err.startswith("lsp-harness: ")
    assert expected in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("script", ["no json", "", None])
def test_a_broken_script_is_an_error_of_the_settings(shell: Shell, script: str | None) -> None:
    shell.file("a.py", AREA)
    path = shell.folder / "absent.json" if script is None else shell.file("bad.json", script)
    shell.set("LSP_HARNESS_ENGINE__SCRIPT", str(path))
    result = shell.run("complete", "a.py:2:12")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"lsp-harness: engine.script {path} cannot be read: ")


def test_a_script_that_says_too_little_or_too_much_is_an_error_of_the_engine(shell: Shell) -> None:
    shell.file("a.py", AREA)
    shell.replies()
    assert shell.run("complete", "a.py:2:12").err.startswith("lsp-harness: the script has 0 replies and another one")
    shell.replies("3", "4")
    result = shell.run("complete", "a.py:2:12")
    assert (result.code, result.err) == (4, "lsp-harness: 1 of 2 scripted replies were not used\n")


@pytest.mark.parametrize("arguments", [["serv"], ["complete"], ["fix", "--nonsense", "a.py"]])
def test_arguments_that_cannot_be_parsed_are_explained_on_stderr(shell: Shell, arguments: list[str]) -> None:
    result = shell.run(*arguments)
    assert (result.code, result.out) == (2, "")
    assert arguments[-1] in result.err or "AT" in result.err or "--nonsense" in result.err


def test_mistakes_in_settings_are_reported_and_do_not_stop_a_command(shell: Shell) -> None:
    shell.file("a.py", AREA)
    shell.file("lsp-harness.toml", "[completion]\nmax_token = 3\n")
    shell.replies("3 * r")
    result = shell.run("complete", "a.py:2:12")
    assert result.out.startswith("3 * r\n")
    assert result.err.startswith(
        "lsp-harness: lsp-harness.toml: unknown key completion.max_token; the keys are enabled, "
    )


def test_an_internal_error_is_one_sentence_and_its_traceback_is_kept(shell: Shell, tmp_path: Path) -> None:
    shell.file("a.py", AREA)
    script = shell.file("bug.json", '[{"expect": 5}]')
    shell.set("LSP_HARNESS_ENGINE__SCRIPT", str(script))
    result = shell.run("complete", "a.py:2:12")
    kept = tmp_path / "home" / "state" / "crash.log"
    assert (result.code, result.out, result.err.count("\n")) == (70, "", 1)
    assert result.err.startswith("lsp-harness: a bug: ")
    assert result.err.endswith(f"the details are in {kept}\n")
    assert "Traceback" in kept.read_text()


# -- as a process of its own
@pytest.mark.parametrize(
    ("arguments", "code", "out"),
    [(["--version"], 0, version("lsp-harness")), (["--help"], 0, "complete"), (["complete", "no.py:1:1"], 2, "")],
)
def test_the_installed_command_runs(tmp_path: Path, arguments: list[str], code: int, out: str) -> None:
    env = {**os.environ, "LSP_HARNESS_HOME": str(tmp_path)}
    for command in ([str(Path(sys.executable).parent / "lsp-harness")], [sys.executable, "-m", "lsp_harness"]):
        result = subprocess.run(
            [*command, *arguments], env=env, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (result.returncode, out in result.stdout) == (code, True)
        assert "Traceback" not in result.stdout + result.stderr


def test_a_file_that_is_too_large_to_parse_is_called_too_large(shell: Shell) -> None:
    shell.file("big.py", "x = 1\n" * 400_000)
    result = shell.run("fix", "big.py")
    assert result.out.endswith("nothing was checked: big.py has no syntax tree: it is larger than 2000 kB\n")


def test_a_broken_link_is_not_called_a_missing_file(shell: Shell) -> None:
    (shell.folder / "dangling.py").symlink_to("nowhere")
    (shell.folder / "loop.py").symlink_to("loop.py")
    assert "dangling.py is a link that leads to nothing; name another file" in shell.run("fix", "dangling.py").err
    assert "Too many levels of symbolic links; remove the link" in shell.run("fix", "loop.py").err


@pytest.mark.skipif(sys.platform == "darwin", reason="file names are UTF-8 there")
def test_context_works_for_a_file_whose_name_is_not_utf_8(shell: Shell) -> None:
    name = "inform\udce1tica.py"
    shell.file(name, "def area(r):\n    return r\n")
    result = shell.run("context", f"{name}:1:1")
    assert (result.code, "def area(r):" in result.out) == (0, True)
