"""Reads the development sets of `LSP_HARNESS_EVAL_DATA`: one JSON object a line, of the kinds fix, edit and agent."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, cast

from benchmarks.evaluation.suites.eval_task import EvalTask, ReportedFinding, Suite, TaskKind
from benchmarks.evaluation.suites.example_tests import (
    choose_half,
    make_call_tests,
    make_example_tests,
    make_script_tests,
)
from benchmarks.evaluation.suites.hidden_check import CommandCheck, HiddenCheck, ProgramCheck, create_check
from lsp_harness.disk.file_reading import describe_system_error
from lsp_harness.errors import UsageError

KINDS: Mapping[str, TaskKind] = {"fix": "fix", "edit": "edit", "agent": "generate"}
"""Kind of a case → the request. Other kinds, such as filling a hole, have benchmarks of their own."""
SET_SUFFIX = ".jsonl"
MODULE_ENDING = ".py"
"""The ending of targets whose visible tests can be made."""


def read_development_set(file: Path) -> Suite:
    """Return the tasks of a set.

    Raises:
        UsageError: The file cannot be read, or has no case of these kinds.
    """
    name = file.name.split(SET_SUFFIX)[0]
    tasks: list[EvalTask] = []
    skipped: dict[str, int] = {}
    for number, row in enumerate(_read_rows(file), 1):
        try:
            if row["kind"] not in KINDS:
                skipped[str(row["kind"])] = skipped.get(str(row["kind"]), 0) + 1
                continue
            tasks.append(_create_task(name, row))
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"{file}:{number} is no case of a development set ({error!r})") from error
    if not tasks:
        raise UsageError(f"{file} has no case of the kinds {', '.join(KINDS)}")
    notes = tuple(f"{count} cases of the kind {kind} were left out" for kind, count in skipped.items())
    return Suite(name, tuple(tasks), notes)


def _read_rows(file: Path) -> list[dict[str, Any]]:
    try:
        data = file.read_bytes()
        text = (gzip.decompress(data) if file.suffix == ".gz" else data).decode("utf-8")
        return [cast("dict[str, Any]", json.loads(line)) for line in text.splitlines() if line.strip()]
    except (OSError, EOFError) as error:
        reason = describe_system_error(error) if isinstance(error, OSError) else "it is cut off"
        raise UsageError(f"{file} cannot be read ({reason})") from error
    except ValueError as error:
        raise UsageError(f"{file} has a line that is no JSON ({error})") from error


def _create_task(suite: str, row: Mapping[str, Any]) -> EvalTask:
    given: Mapping[str, Any] = row["input"]
    kind, check = KINDS[row["kind"]], create_check(row)
    if kind == "generate":
        return _create_program_task(suite, row, check)
    target, code = str(given["path"]), str(given["code"])
    source, check = _add_preamble(code, check)
    tests, gate = _make_tests(row, check, PurePosixPath(target).stem) if target.endswith(MODULE_ENDING) else ({}, "")
    diagnostics = cast("list[Mapping[str, Any]]", given.get("diagnostics") or [])
    return EvalTask(
        id=str(row["id"]),
        suite=suite,
        kind=kind,
        files={target: source, **tests},
        target=target,
        text=str(given.get("instruction") or given.get("issue") or (diagnostics[0]["message"] if diagnostics else "")),
        check=check,
        tests=tuple(path for path in tests if PurePosixPath(path).name.startswith("test_")),
        gate=gate,
        finding=_read_finding(diagnostics[0], source.count("\n") - code.count("\n")) if diagnostics else None,
        gold={target: _complete_gold(str(row["gold"]), code, source)},
        modules=tuple(cast("list[str]", cast("Mapping[str, Any]", row.get("meta") or {}).get("libraries") or [])),
    )


def _create_program_task(suite: str, row: Mapping[str, Any], check: HiddenCheck) -> EvalTask:
    """Return the task to write a program from a stub. Its tests are visible, so the gate is the check."""
    given: Mapping[str, Any] = row["input"]
    visible = [str(path) for path in given.get("tests_visible") or ()]
    hidden = cast("Mapping[str, str]", row["check"]["files"])
    files = {**cast("Mapping[str, str]", given["files"]), **{path: hidden[path] for path in visible}}
    target, text = str(given["editable"][0]), str(given["instruction"])
    gold = cast("Mapping[str, str]", row["gold"])
    gate = "check" if visible else ""
    return EvalTask(
        str(row["id"]), suite, "generate", files, target, text, check, tests=tuple(visible), gate=gate, gold=gold
    )


def _add_preamble(code: str, check: HiddenCheck) -> tuple[str, HiddenCheck]:
    """Return the code with the lines that the check puts before it: without them it cannot be imported."""
    if isinstance(check, ProgramCheck) and check.before:
        return check.before + code, ProgramCheck(check.target, "", check.after, check.limit_s)
    return code, check


def _complete_gold(gold: str, code: str, source: str) -> str:
    return source.removesuffix(code) + gold


def _make_tests(row: Mapping[str, Any], check: HiddenCheck, module: str) -> tuple[dict[str, str], str]:
    """Return the visible tests of a case as files, and their origin (`EvalTask.gate`)."""
    given: Mapping[str, Any] = row["input"]
    path = f"test_{module}.py"
    if isinstance(check, CommandCheck):
        return choose_half({path: text for path, text in check.files.items() if path != given["path"]}), "half"
    if isinstance(check, ProgramCheck) and row["kind"] == "fix":
        if example := str(given.get("example_test") or ""):
            return {path: make_script_tests(module, example)}, "examples"
        if table := make_call_tests(module, str(given.get("visible_test") or "")):
            return {path: table}, "examples"
        if given.get("visible_test"):
            # the examples are written as prose, and the check runs just these
            return {path: make_script_tests(module, check.after, before=str(row["check"].get("before", "")))}, "check"
    examples = make_example_tests(module, str(given.get("docstring") or given["code"]))
    return ({path: examples}, "examples") if examples else ({}, "")


def _read_finding(diagnostic: Mapping[str, Any], preamble_lines: int) -> ReportedFinding:
    """Return a diagnostic of the code of a case, moved down by the lines that were put before this code."""
    start, end = diagnostic["range"]["start"], diagnostic["range"]["end"]
    return ReportedFinding(
        (int(start["line"]) + preamble_lines, int(start["character"])),
        (int(end["line"]) + preamble_lines, int(end["character"])),
        str(diagnostic["message"]),
        str(diagnostic.get("source") or ""),
        str(diagnostic.get("code") or ""),
    )
