"""Asks the harness for the verdict about proposed texts, as programs do without an editor, in a chosen sandbox."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from benchmarks.layouts.layout import ProposedEdit
from lsp_harness.config.permission_schema import Permissions
from lsp_harness.config.schema import Config
from lsp_harness.inference.engine_choice import make_engine
from lsp_harness.mcp.served_project import ServedProject
from lsp_harness.mcp.text_verification import TextVerdict, TextVerifier
from lsp_harness.process.sandbox import sandbox_choice
from lsp_harness.process.sandbox.sandbox import Sandbox

BEST = "best"
"""The name of the sandbox that the harness chooses itself."""


def find_sandboxes() -> list[str]:
    """Return the names of the sandboxes that work on this machine, the strongest first."""
    names: list[str] = []
    for sandbox_class in sandbox_choice.SANDBOXES:
        sandbox = sandbox_class()
        if not sandbox.find_problem():
            names.append(sandbox.name)
    return names


@contextmanager
def use_sandbox(name: str) -> Iterator[None]:
    """Let this process use the sandbox with a name.

    Raises:
        LookupError: There is none.
    """
    if name == BEST:
        yield
        return
    found: list[type[Sandbox]] = [one for one in sandbox_choice.SANDBOXES if one.name == name]
    if not found:
        raise LookupError(f"no sandbox is called {name}")
    choose = sandbox_choice.choose_sandbox
    sandbox_choice.choose_sandbox = lambda candidates=found: choose(found)
    sandbox_choice.machine_sandbox.cache_clear()
    try:
        yield
    finally:
        sandbox_choice.choose_sandbox = choose
        sandbox_choice.machine_sandbox.cache_clear()


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict of the harness about one edit.

    Attributes:
        word: The whole verdict, as `verify_change` says it.
        tests: The status of the check by tests, or an empty text if it is not among the checks.
        reason: The reason of the check by tests, or what failed.
        is_incomplete: Whether the verdict says itself that too little was looked at.
        seconds: Time.
    """

    word: str
    tests: str
    reason: str
    is_incomplete: bool
    seconds: float

    def rate(self, *, must_fail: bool) -> str:
        """Return what the verdict is worth.

        "right", "false ✓" (the tests passed an edit that must fail), "silent ✓" (no test ran, and the whole verdict
        passed an edit that must fail without a word about it), "false ✗" or "skipped".
        """
        if self.word == "failed":
            return "right" if must_fail else "false ✗"
        if self.tests == "passed":
            return "false ✓" if must_fail else "right"
        return "silent ✓" if must_fail and self.word == "passed" and not self.is_incomplete else "skipped"


def read_judgement(verdict: TextVerdict, seconds: float) -> Judgement:
    """Return what a verdict says about an edit."""
    outcomes = {outcome.check: outcome for outcome in verdict.verdict.outcomes}
    tests = outcomes.get("tests")
    reasons = [f"{name}: {'; '.join(one.lines)}" for name, one in outcomes.items() if one.status == "failed"]
    if tests and tests.reason:
        reasons.append(tests.reason)
    is_incomplete = verdict.word not in ("passed", "failed") or not verdict.verdict.is_verified
    reason = " | ".join(" ".join(text.split()) for text in reasons)
    return Judgement(verdict.word, tests.status if tests else "", reason, is_incomplete, seconds)


class Judge:
    """The harness on one trusted folder. Close it.

    Args:
        root: The folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        config = Config(permissions=Permissions(trusted_folders=(str(root),)))
        self._project = ServedProject(root, config, make_engine)
        self._verifier = TextVerifier(self._project)

    async def judge(self, path: str, text: str) -> Judgement:
        """Return the verdict about a text that would replace a file."""
        start = perf_counter()
        verdict = await self._verifier.verify_change(path, text)
        return read_judgement(verdict, perf_counter() - start)

    async def judge_edits(self, edits: Sequence[ProposedEdit]) -> list[Judgement]:
        """Return the verdict about each edit of the files as they are on disk."""
        return [await self.judge(edit.path, edit.apply((self._root / edit.path).read_text())) for edit in edits]

    async def aclose(self) -> None:
        """End all processes."""
        await self._project.aclose()


def switch_types_off() -> None:
    """Let no type checker start. Only the tests are to decide."""
    from tests.support.real_checkers import PROGRAM_VARIABLES

    os.environ.update(dict.fromkeys(PROGRAM_VARIABLES, "off"))
