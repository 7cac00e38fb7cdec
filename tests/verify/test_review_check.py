"""The opinion of the model: how it is asked, what is recorded, and what it may decide."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.config.schema import Verification
from lsp_harness.inference.request import ChatRequest, Chunk, ModelRequest, TokenLogprob
from lsp_harness.inference.scripted_engine import ScriptedEngine
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.check import CheckContext, CheckTools, run_check, run_checks
from lsp_harness.verify.checks import ReviewCheck, create_checks
from lsp_harness.verify.finding import Outcome
from lsp_harness.verify.reviewer import Reviewer
from lsp_harness.verify.ruff_linter import Ruff

TASK = "return the area"
ONLY_REVIEW = Verification(parse_check=False, kept=False, lint=False, test=False)


class JudgingModel(ScriptedEngine):
    """A model with one answer and its probability of YES."""

    def __init__(self, answer: str, yes: float | None = None) -> None:
        super().__init__([])
        self.answer, self.yes = answer, yes
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        self.requests.append(request)
        top = (
            ()
            if self.yes is None
            else (("YES", _logarithm(self.yes)), ("NO", _logarithm(1 - self.yes)), (" the", -9.0))
        )
        logprobs = (TokenLogprob(self.answer, top[0][1] if self.answer == "YES" else top[1][1], top),) if top else ()
        yield Chunk(self.answer, logprobs=logprobs)
        yield Chunk("", "eos")


def _logarithm(probability: float) -> float:
    from math import log

    return log(probability)


def change(after: str = "def area(r):\n    return 3 * r ** 2\n", name: str = "a.py") -> ChangeSet:
    file = Path("/project") / name
    before = Document.from_text(file.as_uri(), "def area(r):\n    return 0\n", language="python")
    return ChangeSet.of(Change.from_documents(before, Document.from_text(before.uri, after), file))


async def judge(
    engine: JudgingModel, *, can_veto: bool = False, changes: ChangeSet | None = None, **options: Any
) -> Outcome:
    check = ReviewCheck(Reviewer(lambda: engine, **options), TASK, can_veto=can_veto)
    return await run_check(check, changes or change())


async def test_the_question_is_short_and_has_two_answers() -> None:
    engine = JudgingModel("YES", 0.75)
    outcome = await judge(engine)
    assert (outcome.status, outcome.reason) == ("passed", "YES, probability 0.75")
    [request] = engine.requests
    assert isinstance(request, ChatRequest)
    assert request.sampling.grammar == 'root ::= "YES" | "NO"\n'
    assert request.sampling.n_predict == 4
    question = request.messages[-1][1]
    assert question.endswith("Does this change correctly address: return the area? YES/NO")
    assert "-    return 0\n+    return 3 * r ** 2\n" in question


async def test_the_answer_no_is_recorded_and_the_check_fails_only_with_a_veto() -> None:
    report = await judge(JudgingModel("NO", 0.25))
    assert (report.status, report.reason, report.lines) == ("skipped", "NO, probability 0.75; it has no veto", ())
    veto = await judge(JudgingModel("NO", 0.25), can_veto=True)
    assert (veto.status, veto.reason, veto.lines) == ("failed", "NO, probability 0.75", ("REVIEW: NO",))


async def test_a_server_without_probabilities_still_answers() -> None:
    assert (await judge(JudgingModel("YES"))).reason == "YES"
    assert (await judge(JudgingModel("maybe"))).reason == "the model answered neither YES nor NO"


async def test_a_yes_of_the_model_is_no_pass() -> None:
    tools = CheckTools(Ruff(), reviewer=Reviewer(lambda: JudgingModel("YES", 0.9)))
    settings = replace(ONLY_REVIEW, diff_review="report")
    verdict = await run_checks(change(), create_checks(settings, CheckContext(tools, task=TASK)))
    assert [outcome.status for outcome in verdict.outcomes] == ["passed"]
    assert not verdict.passed
    settings = replace(settings, parse_check=True)
    verdict = await run_checks(change(), create_checks(settings, CheckContext(tools, task=TASK)))
    assert verdict.passed


@pytest.mark.parametrize(
    ("word", "answer", "passes", "asked"),
    [("off", "NO", True, 0), ("report", "NO", True, 1), ("veto", "NO", False, 1), ("veto", "YES", True, 1)],
)
async def test_the_setting_decides(word: str, answer: str, passes: bool, asked: int) -> None:
    engine = JudgingModel(answer)
    settings = replace(ONLY_REVIEW, parse_check=True, diff_review=word)
    context = CheckContext(CheckTools(Ruff(), reviewer=Reviewer(lambda: engine)), task=TASK)
    verdict = await run_checks(change(), create_checks(settings, context))
    assert (verdict.passed, len(engine.requests)) == (passes, asked)


async def test_private_code_is_not_sent_for_a_review() -> None:
    engine = JudgingModel("YES")
    private = await judge(engine, private_reason=lambda uri: "ignored by .gitignore")
    assert private.reason == "a.py is ignored by .gitignore, so it is not sent to the model"
    secret = change("def area(r):\n    key = 'AKIAIOSFODNN7EXAMPLA'\n    return key\n")
    assert "looks like a secret" in (await judge(engine, changes=secret)).reason
    long = change("def area(r):\n" + "    r = r + 1\n" * 900 + "    return r\n")
    assert "a review has room for 1024" in (await judge(engine, changes=long)).reason
    assert engine.requests == []


async def test_without_a_task_the_review_does_not_run() -> None:
    tools = CheckTools(Ruff(), reviewer=Reviewer(lambda: JudgingModel("NO")))
    settings = replace(ONLY_REVIEW, diff_review="veto")
    assert create_checks(settings, CheckContext(tools)) == []
