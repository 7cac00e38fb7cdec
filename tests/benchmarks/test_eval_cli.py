"""`lsp-harness eval`, as a user runs it."""

import json
from pathlib import Path

import pytest

from tests.benchmarks.evaluation.suite import HIDDEN, RIGHT, SOURCE, VISIBLE, WRONG
from tests.cli.conftest import Shell


def write_suite(shell: Shell, *names: str, kind: str = "fix", extra: str = "") -> None:
    tasks = [
        f"""
[[tasks]]
name = "{name}"
kind = "{kind}"
text = "The tests of area fail."
target = "geo.py"
files = {{ "geo.py" = {json.dumps(SOURCE)}, "test_geo.py" = {json.dumps(VISIBLE)} }}
tests = ["test_geo.py"]
check = ["{{python}}", "hidden.py"]
check_files = {{ "hidden.py" = {json.dumps(HIDDEN)} }}
{extra}
"""
        for name in names
    ]
    shell.file("small.toml", "".join(tasks))


def test_a_suite_is_run_and_shown(shell: Shell):
    write_suite(shell, "one", "two")
    shell.replies(RIGHT, WRONG)
    result = shell.run("eval", "small.toml", "--arm", "single")
    assert result.code == 0
    assert "pass=1 fail=1 exc=0" in result.out
    assert "1/2 one single pass" in result.err
    assert "AssertionError" in result.err
    lines = [json.loads(line) for line in (shell.folder / "small.eval.jsonl").read_text().splitlines()]
    assert [(line["task"], line["category"]) for line in lines] == [("one", "pass"), ("two", "fail")]
    assert "lsp-harness evaluation" in (shell.folder / "small.eval.html").read_text()
    # a second run has nothing to do, and asks no model
    shell.replies()
    again = shell.run("eval", "small.toml", "--arm", "single")
    assert again.err == ""
    assert "pass=1 fail=1 exc=0" in again.out


def test_results_and_page_have_names(shell: Shell):
    write_suite(shell, "one")
    shell.replies(RIGHT)
    out, page = shell.folder / "a.jsonl", shell.folder / "b.html"
    result = shell.run("eval", "small.toml", "--arm", "single", "--out", str(out), "--page", str(page), "--json")
    assert (out.is_file(), page.is_file()) == (True, True)
    [arm] = result.json["arms"]
    assert (arm["arm"], arm["counts"]["pass"], arm["pass_share"]) == ("single", 1, 1.0)
    assert result.json["pairs"] == []


def test_tasks_are_chosen_by_name_ending_and_number(shell: Shell):
    write_suite(shell, "one", "two", "three")
    shell.replies(RIGHT)
    result = shell.run("eval", "small.toml", "--arm", "single", "--task", "t*", "--limit", "1", "--language", ".py")
    assert "1/1 two single pass" in result.err


def test_results_without_a_component_are_stored_separately(shell: Shell):
    """One candidate is wanted, and only with a retry the second reply is asked for."""
    write_suite(shell, "one", kind="edit")
    shell.set("LSP_HARNESS_GENERATION__CANDIDATES", "1")
    unknown = RIGHT.replace("    return", "    log(number)\n    return")
    shell.replies(unknown)
    assert "no answer" in shell.run("eval", "small.toml", "--arm", "ladder", "--no-repairs", "--no-retry").err
    shell.replies(unknown, RIGHT)
    assert "ladder (no-repairs) pass" in shell.run("eval", "small.toml", "--arm", "ladder", "--no-repairs").err
    lines = (shell.folder / "small.eval.jsonl").read_text().splitlines()
    assert [json.loads(line)["ablation"] for line in lines] == ["no-retry no-repairs", "no-repairs"]


def test_the_table_of_weaknesses_has_five_rows(shell: Shell):
    write_suite(shell, "one", kind="edit", extra='weakness = "self-correction"\nwithout = ["no-retry"]')
    shell.set("LSP_HARNESS_GENERATION__CANDIDATES", "1")
    unknown = RIGHT.replace("    return", "    log(number)\n    return")
    shell.replies(unknown, RIGHT, unknown)
    shell.set("LSP_HARNESS_GENERATION__REPAIRS", "false")
    result = shell.run("eval", "small.toml", "--ablate")
    assert result.code == 0, result.err
    rows = [line.split() for line in result.out.splitlines()]
    assert ["self-correction", "pass", "no", "answer", "no-retry"] in rows
    assert ["planning", "no", "task", "no", "task"] in rows
    assert "1 of 5 weaknesses are shown" in result.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere is neither a file nor a set"),
        (["small.toml", "--arm", "magic"], "there is no arm 'magic'; the arms are single, best8"),
        (["small.toml", "--limit", "-1"], "--limit must be 0 (all) or more"),
        (["small.toml", "--task", "x*"], "small has no such task; it has one"),
        (["small.toml", "--candidates", "-1"], "the number of candidates must be 0 or more"),
        (["small.toml", "--ablate"], "no task with a `weakness`"),
        (["small.toml", "--arm", "gold", "--page", "/nowhere/page.html"], "cannot be written"),
        (["small.toml", "--arm", "gold", "--out", "/dev/full/x"], "/dev/full/x"),
    ],
)
def test_a_wrong_use_is_one_sentence(shell: Shell, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str):
    monkeypatch.delenv("LSP_HARNESS_EVAL_DATA", raising=False)
    write_suite(shell, "one")
    shell.replies()
    result = shell.run("eval", *arguments)
    assert result.code == 2
    assert message in " ".join(result.err.split())


def test_a_suite_of_the_repository_can_be_read():
    from benchmarks.evaluation.results.weakness_table import choose_weakness_tasks
    from benchmarks.evaluation.suites.suite_formats import read_suite

    suite = read_suite(str(Path(__file__).parents[2] / "benchmarks" / "evals" / "weakness.toml"))
    assert choose_weakness_tasks(suite)
