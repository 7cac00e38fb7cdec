"""Random answers that the grammars allow, in each state: only the table is followed, and all proposals are verified.

The answers are random, but the grammar of each request allows them, as llama.cpp itself says. Some of them are code
that passes the checks, so that every state is entered.
"""

import random
import re
import string
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lsp_harness.chat.chat_model import Model
from lsp_harness.coding.plan.plan_choice import CHANGE, KEEP, SWAP
from lsp_harness.coding.plan.understanding import INTENTS
from lsp_harness.coding.turn.turn_states import NEXT_STATES, State
from lsp_harness.errors import HarnessError
from lsp_harness.events.code_events import CheckReport, ChecksCompleted, EditProposed
from lsp_harness.inference.request import Chunk, ModelRequest, Usage
from lsp_harness.inference.scripted_engine import ScriptedEngine
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.sessions.session_opening import open_session
from lsp_harness.sessions.session_options import SessionOptions
from lsp_harness.verify.finding import Outcome
from lsp_harness.verify.reviewer import ANSWERS
from tests.harness.tools import require_verified_proposals
from tests.sessions.conftest import ask
from tests.sessions.test_code_turns import AREA, REPORT, SHOW, UNIT, UNIT_REPORT
from tests.support.rounds import count_rounds

if TYPE_CHECKING:
    from tests.support.grammar import Acceptor

STRINGS = count_rounds(100)
"""Answers of the model in each state."""
MAX_SESSIONS = 20
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
SIGNS = string.ascii_letters + string.digits + " ()[]{}:=.,+-*/'\"#ß→"
RIGHT = (UNIT, UNIT_REPORT, "```python\ndef area(radius):\n    return {number} * radius * radius\n```")
CHOICES: dict[frozenset[str], State] = {
    frozenset(INTENTS): "UNDERSTAND",
    frozenset({CHANGE, KEEP}): "PLAN",
    frozenset({CHANGE, KEEP, SWAP}): "PLAN",
    frozenset(ANSWERS): "VERIFY",
}


class RandomAnswers(ScriptedEngine):
    """Answers each request with a random text that its grammar allows, and counts the answers in each state.

    Some words are more likely than others, so that each state is entered often enough.
    """

    def __init__(self, acceptor: "Acceptor", likely: Sequence[str]) -> None:
        super().__init__([])
        self._acceptor = acceptor
        self._dice = random.Random(31)
        self._likely = likely
        self.counts = Counter[State]()

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        for index in range(request.sampling.n):
            text = self._answer(request.sampling.grammar)
            if request.sampling.grammar:
                assert self._acceptor.accepts(request.sampling.grammar, text)
            yield Chunk(text, index=index)
            yield Chunk("", "eos", Usage(generated=1), index)

    def _answer(self, grammar: str) -> str:
        if not grammar:
            self.counts["ANSWER"] += 1
            return self._noise(200)
        if "lines" in grammar:
            self.counts["GENERATE"] += 1
            right = self._dice.choice(RIGHT).replace("{number}", str(self._dice.randrange(1000)))
            return right if self._dice.random() < 0.5 else self._write_block()
        words = LITERAL.findall(grammar)
        state = CHOICES.get(frozenset(words), "LOCATE")
        self.counts[state] += 1
        likely = [word for word in words if word in self._likely]
        return self._dice.choice(likely if likely and self._dice.random() < 0.8 else words)

    def _write_block(self) -> str:
        code = self._dice.choice(RIGHT).split("\n")[1:-1]
        lines = [line if self._dice.random() < 0.7 else self._noise(40) for line in code]
        self._dice.shuffle(lines)
        return "\n".join(["```" + self._dice.choice(["", "python", "x"]), *(lines or ["pass"]), "```"])

    def _noise(self, size: int) -> str:
        return "".join(self._dice.choice(SIGNS) for _ in range(1 + self._dice.randrange(size)))


def test_a_proposal_without_a_passed_check_of_its_text_is_detected(tmp_path: Path) -> None:
    """This check runs after each test of this folder, so it must detect such a proposal."""
    for hash, passed in (("a", True), ("b", True), ("a", False)):
        log = SessionLog(tmp_path / f"{hash}{passed}")
        turn = log.turn()
        outcome = CheckReport.from_outcome(Outcome("syntax", "passed" if passed else "failed"))
        turn.append(ChecksCompleted(hash, passed, (outcome,)))
        turn.append(EditProposed("a", "-x\n+y", "candidate 1 passes"))
        log.close()
        if (hash, passed) == ("a", True):
            assert require_verified_proposals(read_log(log.path)) == 1
        else:
            with pytest.raises(AssertionError, match="without a passed verdict on the same bytes"):
                require_verified_proposals(read_log(log.path))


@pytest.mark.parametrize(
    ("likely", "states"),
    [
        (("explain",), ("UNDERSTAND", "LOCATE", "ANSWER")),
        (("edit", "0"), ("PLAN", "GENERATE")),
        (("edit", "0", "keep", "NO"), ("VERIFY",)),
    ],
    ids=["questions", "plans", "reviews"],
)
async def test_random_answers_within_the_grammars_follow_the_table_of_states(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    acceptor: "Acceptor",
    likely: Sequence[str],
    states: Sequence[State],
) -> None:
    settings = {
        "HOME": str(tmp_path / "home"),
        "LOCATE__RANKING": "model",
        "VERIFICATION__DIFF_REVIEW": "veto",
        "GENERATION__MAX_RETRIES": "1",
    }
    for key, value in settings.items():
        monkeypatch.setenv(f"LSP_HARNESS_{key}", value)
    project = tmp_path / "project"
    project.mkdir()
    engine = RandomAnswers(acceptor, likely)
    ends, proposals = Counter[State](), 0
    for _ in range(MAX_SESSIONS):
        opened = await open_session(SessionOptions(cwd=str(project), driver="code"), models=[Model("random", engine)])
        for _ in range(10):
            for name, text in (("geo", AREA), ("report", REPORT), ("show", SHOW)):
                (project / f"{name}.py").write_text(text)
            with suppress(HarnessError):
                await ask(opened, "let the area take a unit and return it")
        await opened.aclose()
        events = list(read_log(opened.session.log.path))
        proposals += require_verified_proposals(events)
        turns: dict[int | None, list[State]] = {}
        for event in events:
            if event.type == "state.entered":
                turns.setdefault(event.turn, []).append(event.data["state"])
        assert len(turns) == 10
        for entered in turns.values():
            assert entered[0] == "UNDERSTAND"
            assert all(following in NEXT_STATES[state] for state, following in pairwise(entered))
            assert not NEXT_STATES[entered[-1]]
            ends[entered[-1]] += 1
        if all(engine.counts[state] >= STRINGS for state in states):
            break
    assert all(engine.counts[state] >= STRINGS for state in states), engine.counts
    # the answers decide how a turn ends
    assert min(ends["COMPLETE"], ends["FAILED"], proposals) > 0
