"""The hidden checks of tasks, by their names in the development sets. A new one is a class and a row in the table."""

import ast
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import PurePosixPath
from typing import Any, cast

from benchmarks.evaluation.suites.check_process import PYTHON_MARK, Judgement, judge_by_program
from lsp_harness.process.tool_run import find_tool, run_tool
from lsp_harness.text.position import encode

Files = Mapping[str, str]
"""Path → text."""
DEFAULT_LIMIT_S = 15.0
SET_ENVIRONMENT = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""The tests of the sets need no plugin of pytest, and importing those of this machine takes a second."""
SILENCED = re.compile(r"#\s*(noqa|ruff|type:\s*ignore)")
MIN_KEPT_SHARE, MAX_GROWTH, MAX_ADDED_NODES = 0.5, 2.5, 20
"""Limits of an answer that makes a diagnostic go away: it may not throw most of the code away."""
MAX_METHOD_DIFFERENCE = 0.10


class HiddenCheck(ABC):
    """The check of an answer that only the evaluation sees."""

    @abstractmethod
    async def judge(self, answer: Files) -> Judgement:
        """Return whether an answer is right. It maps the paths of changed files to their texts."""


@dataclass(frozen=True, slots=True)
class ProgramCheck(HiddenCheck):
    """A program around the answer, which ends with status 0 if the answer is right (`script`).

    Attributes:
        target: The path of the answer.
        before: Code before the answer.
        after: Code behind it.
        limit_s: The time limit.
    """

    target: str
    before: str = ""
    after: str = ""
    limit_s: float = DEFAULT_LIMIT_S

    async def judge(self, answer: Files) -> Judgement:
        name = f"program{PurePosixPath(self.target).suffix}"
        command = ["node", name] if name.endswith(".js") else [PYTHON_MARK, "-I", name]
        return await judge_by_program({name: self.before + answer[self.target] + self.after}, command, self.limit_s)


@dataclass(frozen=True, slots=True)
class CommandCheck(HiddenCheck):
    """A command in a folder with files that the harness did not see, and with the answer (`files`).

    Attributes:
        files: The files of the check. The answer replaces those of the same path.
        command: The command.
        editable: The paths of the answer that are used. Empty if all are.
        limit_s: The time limit.
        env: Variables of the environment.
    """

    files: Files
    command: tuple[str, ...]
    editable: tuple[str, ...] = ()
    limit_s: float = DEFAULT_LIMIT_S
    env: Files = field(default_factory=dict[str, str])

    async def judge(self, answer: Files) -> Judgement:
        used = {path: text for path, text in answer.items() if not self.editable or path in self.editable}
        return await judge_by_program({**self.files, **used}, self.command, self.limit_s, self.env)


@dataclass(frozen=True, slots=True)
class DiagnosticCheck(HiddenCheck):
    """The question whether a rule of ruff no longer reports the code, and the code was kept (`ruff`).

    Attributes:
        target: The path of the answer.
        source: The text before.
        rule: The code of the rule.
    """

    target: str
    source: str
    rule: str

    async def judge(self, answer: Files) -> Judgement:
        text = answer[self.target]
        try:
            before, after = ast.parse(self.source), ast.parse(text)
        except (SyntaxError, ValueError):
            return Judgement(False, "it is not valid Python")
        if objection := _find_loss(before, after, self.source, text):
            return Judgement(False, objection)
        if find_tool("ruff") is None:
            return Judgement(False, missing="ruff")
        if self.rule in await _find_ruff_codes(text, self.rule):
            return Judgement(False, f"{self.rule} is still reported")
        added = await _find_ruff_codes(text, "F,E9") - await _find_ruff_codes(self.source, "F,E9")
        return Judgement(not added, f"new: {', '.join(sorted(added))}" if added else "")


@dataclass(frozen=True, slots=True)
class MovedMethodCheck(HiddenCheck):
    """The question whether a method became a function of about the same size, as aider's benchmark asks (`refactor`).

    Attributes:
        target: The path of the answer.
        method: The method.
        owner: Its class.
        method_size: The number of AST nodes of the method.
        owner_size: The number of AST nodes of its class.
    """

    target: str
    method: str
    owner: str
    method_size: int
    owner_size: int

    async def judge(self, answer: Files) -> Judgement:
        try:
            tree = ast.parse(answer[self.target])
        except (SyntaxError, ValueError):
            return Judgement(False, "it is not valid Python")
        functions = [node for node in tree.body if _is_function(node) and getattr(node, "name", "") == self.method]
        owners = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == self.owner]
        if not functions or not owners:
            return Judgement(False, f"there is no function {self.method} or no class {self.owner}")
        if any(_is_function(node) and getattr(node, "name", "") == self.method for node in owners[0].body):
            return Judgement(False, f"{self.owner} still has the method")
        moved = abs(_count_nodes(functions[0]) - self.method_size) / self.method_size
        rest = abs(_count_nodes(owners[0]) - (self.owner_size - self.method_size)) / self.owner_size
        is_right = moved < MAX_METHOD_DIFFERENCE and rest < MAX_METHOD_DIFFERENCE
        return Judgement(is_right, "" if is_right else "the function or the class has another size")


def create_check(row: Mapping[str, Any]) -> HiddenCheck:
    """Return the check of a case of a development set.

    Raises:
        ValueError: The case has a check that is unknown here.
    """
    create = CHECKS.get(str(row["check"]["type"]))
    if create is None:
        raise ValueError(f"the check {row['check']['type']!r} is unknown; known are {', '.join(CHECKS)}")
    return create(row)


def find_missing_module(modules: tuple[str, ...]) -> str:
    """Return the first Python module that a check needs and that is not installed, or an empty text."""
    return next((name for name in modules if find_spec(name) is None), "")


def _read_program_check(row: Mapping[str, Any]) -> HiddenCheck:
    check: Mapping[str, Any] = row["check"]
    limit_s = float(check.get("timeout", DEFAULT_LIMIT_S))
    return ProgramCheck(str(row["input"]["path"]), check.get("before", ""), check.get("after", ""), limit_s)


def _read_command_check(row: Mapping[str, Any]) -> HiddenCheck:
    check: Mapping[str, Any] = row["check"]
    editable = tuple(row["input"]["editable"]) if row["kind"] == "agent" else (str(check["target"]),)
    limit_s = float(check.get("timeout", DEFAULT_LIMIT_S))
    return CommandCheck(check["files"], tuple(check["cmd"]), editable, limit_s, SET_ENVIRONMENT)


def _read_diagnostic_check(row: Mapping[str, Any]) -> HiddenCheck:
    return DiagnosticCheck(row["input"]["path"], row["input"]["code"], row["check"]["rule"])


def _read_moved_method_check(row: Mapping[str, Any]) -> HiddenCheck:
    check: Mapping[str, Any] = row["check"]
    names = (str(row["input"]["path"]), str(check["method"]), str(check["class"]))
    return MovedMethodCheck(*names, int(check["method_nodes"]), int(check["class_nodes"]))


CHECKS: Mapping[str, Callable[[Mapping[str, Any]], HiddenCheck]] = {
    "script": _read_program_check,
    "files": _read_command_check,
    "ruff": _read_diagnostic_check,
    "refactor": _read_moved_method_check,
}
"""Name in `check.type` → the function that creates the check of a case."""


def _find_loss(before: ast.Module, after: ast.Module, source: str, text: str) -> str:
    """Return why an answer does not keep the code, or an empty text."""
    lost = _find_names(before) - _find_names(after)
    if lost:
        return f"it lost {', '.join(sorted(lost))}"
    size_before, size_after = _count_nodes(before), _count_nodes(after)
    if not text.strip() or size_after < MIN_KEPT_SHARE * size_before:
        return "it threw code away"
    if size_after > MAX_GROWTH * size_before + MAX_ADDED_NODES:
        return "it added too much code"
    return "it silences the linter" if SILENCED.search(text) and not SILENCED.search(source) else ""


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _find_names(tree: ast.AST) -> set[str]:
    return {
        node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }


def _count_nodes(tree: ast.AST) -> int:
    return sum(1 for _ in ast.walk(tree))


async def _find_ruff_codes(text: str, select: str) -> set[str]:
    """Return the codes of the rules that ruff reports, without the settings of any project."""
    ruff = find_tool("ruff") or "ruff"
    options = ["--isolated", "--no-cache", "--preview", "--target-version", "py312", "--select", select]
    command = [ruff, "check", *options, "--output-format", "json", "--stdin-filename", "t.py", "-"]
    result = await run_tool(command, stdin=encode(text))
    rows = cast("list[dict[str, Any]]", json.loads(result.stdout or b"[]"))
    return {str(row["code"]) for row in rows}
