"""Random edits, accepted edits, saves and answers of checks, in any order: what the editor shows is never wrong.

Checks answer when the test says so, also long after the text was changed. Nothing waits for a real time.
"""

import asyncio
import random
from collections import Counter

import pytest

from lsp_harness.config.schema import Verification
from lsp_harness.harness.events import FindingsChanged, HarnessEvent
from lsp_harness.harness.verification.verifier import Verifier
from lsp_harness.text.edit import Edit
from lsp_harness.verify.change import Change
from lsp_harness.verify.check import Check, CheckContext, CheckTools, DocumentCheck
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.ruff_linter import Ruff
from tests.harness.bench import Make
from tests.harness.test_prepared_fixes import ManualClock
from tests.harness.tools import make_settings
from tests.support.rounds import count_rounds

STEPS = count_rounds(10_000)
WORDS = (b"wrong", b"worse")
PIECES = (*WORDS, b"fine", b"good", b"\n")
CONFIG = make_settings(verification={"on_save": True, "debounce_ms": 300}, background={"prepare_fixes": 0})


class LateCheck(DocumentCheck):
    """A check that fails a text with a word, once the test lets it answer, even after its cancellation."""

    feedback_label = "WORD"
    criterion = "the word is not there"

    def __init__(self, word: bytes, waiting: list[asyncio.Event], chance: random.Random) -> None:
        self.name = self.title = word.decode()  # type: ignore[misc]
        self._word = word
        self._waiting = waiting
        self._chance = chance

    async def run(self, change: Change) -> Outcome:
        go = asyncio.Event()
        self._waiting.append(go)
        try:
            await go.wait()
        except asyncio.CancelledError:
            if self._chance.random() < 0.5:
                raise
            # a tool that does not end when it is told to
            await go.wait()
        findings = find_word(change.after.data, self._word)
        return Outcome(self.name, "failed" if findings else "passed", tuple(findings))


def find_word(data: bytes, word: bytes) -> list[Finding]:
    """Return the findings of a check in a text. Each text with the word has them, whatever was there before."""
    at, findings = data.find(word), list[Finding]()
    while at >= 0:
        findings.append(Finding(at, at + len(word), word.decode(), "late", "word"))
        at = data.find(word, at + 1)
    return findings


class Screen:
    """The diagnostics that an editor shows, and the list of wrong ones."""

    def __init__(self) -> None:
        self.shown: dict[str, tuple[Finding, ...]] = {}
        self.wrong: list[str] = []
        self.published = 0

    def check(self, event: FindingsChanged, data: bytes, version: int) -> None:
        self.published += 1
        self.shown[event.uri] = event.findings.findings
        if event.findings.version != version:
            self.wrong.append(f"version {event.findings.version} was published when {version} was current")
        expected = [finding for word in WORDS for finding in find_word(data, word)]
        if unknown := [finding for finding in event.findings.findings if finding not in expected]:
            self.wrong.append(f"{unknown} is not in version {version}")


@pytest.mark.parametrize("seed", [1, 2])
async def test_no_wrong_diagnostic_is_ever_shown_and_none_remains_at_the_end(bench: Make, seed: int) -> None:
    chance, hand, screen = random.Random(seed), ManualClock(), Screen()
    waiting: list[asyncio.Event] = []

    def create_checks(settings: Verification, context: CheckContext) -> list[Check]:
        return [LateCheck(word, waiting, chance) for word in WORDS]

    b = bench(config=CONFIG, verifier=Verifier(CheckTools(Ruff()), create_checks), clock=hand.clock, works_ahead=False)
    harness = b.harness
    uris = [b.open("fine\n", f"{name}.py").document.uri for name in "abc"]

    def hear(event: HarnessEvent) -> None:
        if isinstance(event, FindingsChanged):
            text = harness.documents.get(event.uri).text
            screen.check(event, text.data, text.version)

    harness.events.subscribe(hear)

    def change(uri: str, start: int, end: int, new: bytes) -> None:
        harness.change(uri, Edit(start, end, new), harness.documents.get(uri).text.version + 1)

    def edit(uri: str) -> None:
        data = harness.documents.get(uri).text.data
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.choice((0, 0, 1, 5, 20)) * (len(data) > 60 or chance.random() < 0.5))
        change(uri, start, end, chance.choice(PIECES))

    def accept(uri: str) -> None:
        base = harness.documents.get(uri).text
        edit(uri)
        harness.verification.start(harness.documents.get(uri), base)

    def save(uri: str) -> None:
        harness.verification.record_save(uri)

    def answer(uri: str) -> None:
        if waiting:
            waiting.pop(chance.randrange(len(waiting))).set()

    def pass_time(uri: str) -> None:
        hand.move(chance.choice((0.1, 0.4)))

    acts = Counter({edit: 5, accept: 2, save: 2, answer: 6, pass_time: 3})
    for act in chance.choices(list(acts), list(acts.values()), k=STEPS):
        act(chance.choice(uris))
        for _ in range(chance.randrange(4)):
            await asyncio.sleep(0)

    # all is right again
    for uri in uris:
        change(uri, 0, len(harness.documents.get(uri).text.data), b"fine\n")
        save(uri)
    verifying = asyncio.ensure_future(harness.verification.wait_until_idle())
    hand.move(1)
    while not verifying.done():
        for go in waiting:
            go.set()
        waiting.clear()
        await asyncio.sleep(0)
        if not verifying.done() or not hand.timers:
            continue
        verifying = asyncio.ensure_future(harness.verification.wait_until_idle())
        hand.move(1)
    assert screen.wrong == []
    assert {uri: shown for uri, shown in screen.shown.items() if shown} == {}
    assert screen.published > STEPS / 100
    for uri in uris:
        text = harness.documents.get(uri).text
        assert harness.verification.findings(text).findings == ()
