"""The arms of an evaluation: ways to answer a task. A new arm is a function and a row in the table."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal

from benchmarks.evaluation.attempt import UNRESOLVED, Attempt, CandidateAnswer
from benchmarks.evaluation.direct_rewrite import Rewrite, build_rewrite, generate_rewrites
from benchmarks.evaluation.edit_request import request_edit
from benchmarks.evaluation.rewrite_gate import RewriteGate
from benchmarks.evaluation.task_workspace import OpenTask
from lsp_harness.errors import NoAnswer
from lsp_harness.kernel.results import Proposal
from lsp_harness.text.position import decode

REWRITES = 8
SAMPLE_TEMPERATURE = 0.8
FIRST_SEED = 1

Attempting = Callable[[OpenTask, bool], Awaitable[Attempt]]
"""Makes an attempt. The second argument says whether all candidates are wanted, although one has passed."""


@dataclass(frozen=True, slots=True)
class Arm:
    """A way to answer a task.

    Attributes:
        name: The name in options and results.
        title: Its description on the page of results.
        attempt: The name of the attempt. Arms with the same one share its run.
        judges: "answer" judges what a user would see, and "any" whether any candidate is right (an oracle).
    """

    name: str
    title: str
    attempt: str
    judges: Literal["answer", "any"] = "answer"


async def answer_once(opened: OpenTask, wants_all: bool) -> Attempt:
    """Rewrite the code once at temperature 0, without a check."""
    del wants_all
    request = await build_rewrite(opened)
    async with aclosing(generate_rewrites(opened, request, temperature=0.0, seed=0, count=1)) as rewrites:
        async for rewrite in rewrites:
            candidates = (_convert_to_candidate(opened, rewrite),)
            if rewrite.text:
                return Attempt(opened.task.answer(rewrite.text), kind="rewrite", candidates=candidates)
            ending = "cut off" if rewrite.is_cut else "no answer"
            return Attempt(None, ending, "the answer has no code", candidates=candidates)
    return Attempt(None, "error", "the engine sent nothing")


async def answer_best_of(opened: OpenTask, wants_all: bool) -> Attempt:
    """Rewrite the code eight times, and return the first rewrite that passes the checks and the visible tests."""
    request, gate = await build_rewrite(opened), RewriteGate(opened)
    best = Attempt()
    candidates: list[CandidateAnswer] = []
    cut_count = 0
    for temperature, seed, count in ((0.0, 0, 1), (SAMPLE_TEMPERATURE, FIRST_SEED, REWRITES - 1)):
        rewrites = generate_rewrites(opened, request, temperature=temperature, seed=seed, count=count)
        async with aclosing(rewrites):
            async for rewrite in rewrites:
                cut_count += rewrite.is_cut
                result = await gate.judge(rewrite.text)
                candidates.append(_convert_to_candidate(opened, rewrite, result.reason))
                if result.passed and best.answer is None:
                    best = Attempt(opened.task.answer(rewrite.text), kind="rewrite", checks=result.checks)
                if best.answer is not None and not wants_all:
                    break
        if best.answer is not None and not wants_all:
            break
    if best.answer is None:
        is_cut = cut_count == len(candidates)
        return Attempt(None, "cut off" if is_cut else "no answer", candidates[-1].reason, candidates=tuple(candidates))
    return Attempt(best.answer, kind=best.kind, checks=best.checks, candidates=tuple(candidates))


async def answer_with_harness(opened: OpenTask, wants_all: bool) -> Attempt:
    """Let the harness do what it does for a user."""
    del wants_all
    try:
        proposal = await request_edit(opened)
    except NoAnswer as error:
        return Attempt(None, "no answer", error.message, candidates=_list_recorded_candidates(opened))
    answer = {change.file.relative_to(opened.root).as_posix(): decode(change.after.data) for change in proposal.changes}
    checks = {
        outcome.check: UNRESOLVED if outcome.is_unresolved else outcome.status for outcome in proposal.verdict.outcomes
    }
    kind = _find_kind(opened, proposal)
    return Attempt(answer, kind=kind, checks=checks, candidates=_list_recorded_candidates(opened))


async def answer_with_gold(opened: OpenTask, wants_all: bool) -> Attempt:
    """Return the answer of the set, which tells whether its check works here."""
    del wants_all
    if opened.task.gold is None:
        return Attempt(None, "no answer", "the set has no right answer")
    return Attempt(opened.task.gold, kind="gold")


ATTEMPTS: Mapping[str, Attempting] = {
    "once": answer_once,
    "best-of": answer_best_of,
    "harness": answer_with_harness,
    "gold": answer_with_gold,
}
ARMS: Mapping[str, Arm] = {
    arm.name: arm
    for arm in (
        Arm("single", "one rewrite at temperature 0, without a check", "once"),
        Arm("best8", "the first of eight rewrites that passes the checks and the visible tests", "best-of"),
        Arm("oracle8", "whether any of these rewrites is right", "best-of", "any"),
        Arm("ladder", "the harness as it is", "harness"),
        Arm("oracle", "whether any candidate of the harness is right", "harness", "any"),
        Arm("gold", "the answer of the set, to test its check", "gold"),
    )
}
"""Name → arm."""


def group_arms(names: Sequence[str]) -> dict[str, list[Arm]]:
    """Return name of an attempt → the arms that judge it, in the order of the names."""
    groups: dict[str, list[Arm]] = {}
    for name in names:
        groups.setdefault(ARMS[name].attempt, []).append(ARMS[name])
    return groups


def _convert_to_candidate(opened: OpenTask, rewrite: Rewrite, reason: str = "") -> CandidateAnswer:
    answer = opened.task.answer(rewrite.text) if rewrite.text else None
    return CandidateAnswer("rewrite", answer, reason or ("" if answer else "the answer has no code"))


def _list_recorded_candidates(opened: OpenTask) -> tuple[CandidateAnswer, ...]:
    task = opened.task
    return tuple(
        CandidateAnswer(candidate.kind, task.answer(candidate.text) if candidate.text else None, candidate.reason)
        for candidate in opened.record.candidates(task.source)
    )


def _find_kind(opened: OpenTask, proposal: Proposal) -> str:
    """Return how the proposed candidate was made, or an empty text for an edit of the linter."""
    text = decode(proposal.changes.main.after.data)
    kinds = [candidate.kind for candidate in opened.record.candidates(opened.task.source) if candidate.text == text]
    return kinds[0] if kinds else ""
