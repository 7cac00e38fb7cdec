"""Fixes that are computed and verified before the user asks for them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from lsp_harness.config.schema import Config
from lsp_harness.errors import NoAnswer, StaleDocument
from lsp_harness.harness.clock import Clock
from lsp_harness.harness.verification.verifier import Verifier
from lsp_harness.kernel.results import FixOffer, Proposal
from lsp_harness.text.edit import Edit
from lsp_harness.verify.check import CheckTools
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.reviewer import Reviewer
from lsp_harness.verify.ruff_linter import Ruff
from lsp_harness.workspace.snapshot import Snapshot
from tests.harness.bench import AREA, GOOD, QUICK, Bench, Make
from tests.harness.tools import make_settings
from tests.support import markup

ALWAYS = make_settings(QUICK, background={"when": "always", "prepare_fixes": 1500})
BY_REPAIR = make_settings(ALWAYS, generation={"repairs": True})
BY_MODEL = make_settings(ALWAYS, generation={"candidates": 1, "max_retries": 0})
FIXED = "def area(r):\n    width = r\n    return 3 * width ** 2\n"


class ManualClock:
    """A clock that the test moves. Timers are called in their order."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[tuple[float, Callable[[], None]]] = []

    @property
    def clock(self) -> Clock:
        return Clock(lambda: self.now, lambda delay_s, call: self.timers.append((self.now + delay_s, call)))

    def move(self, seconds: float) -> None:
        self.now += seconds
        due = sorted((timer for timer in self.timers if timer[0] <= self.now), key=lambda timer: timer[0])
        self.timers = [timer for timer in self.timers if timer[0] > self.now]
        for _, call in due:
            call()


class PreparedFixBench:
    """A harness of a client that stays, its clock, and an open document with a diagnostic."""

    def __init__(self, bench: Make, *replies: Any, config: Config = BY_REPAIR, **options: Any) -> None:
        self.hand = ManualClock()
        self.b: Bench = bench(*replies, config=config, clock=self.hand.clock, works_ahead=True, **options)
        self.src: markup.Source = self.b.open(AREA)
        self.b.harness.documents.focused_uri = self.src.document.uri

    @property
    def prepared(self) -> Any:
        return self.b.harness.fixes.prepared

    @property
    def counts(self) -> dict[str, int]:
        counts = self.b.harness.services.statistics.counts
        names = ("prepared", "used", "dropped", "offered", "ready")
        return {name: count for name in names if (count := getattr(counts, f"fixes_{name}"))}

    def snapshot(self) -> Any:
        return self.b.harness.snapshot(self.src.document.uri)

    def report(self, finding: Finding | None = None) -> None:
        """Let the client report the diagnostic."""
        self.prepared.record(self.snapshot(), [finding or self.src.finding])

    async def wait(self, seconds: float = 2.0) -> Any:
        """Let the diagnostic stand for some time. Return the fix that is ready then."""
        self.hand.move(seconds)
        await self.prepared.wait_until_idle()
        return self.prepared.find(self.snapshot(), self.src.finding)

    async def start_engine(self) -> None:
        await self.b.harness.services.engines.current.props()

    def apply(self, edits: Any) -> None:
        for edit in sorted(edits, reverse=True):
            self.b.harness.change(self.src.document.uri, edit, self.snapshot().document.version + 1)


async def test_a_fix_is_prepared_shortly_after_its_diagnostic(bench: Make) -> None:
    table = PreparedFixBench(bench)
    table.report()
    assert await table.wait(1.4) is None
    fix = await table.wait(0.2)

    assert fix.title == "Fix with lsp-harness: `widht` → `width` (parse ✓, kept ✓, lint ✓, gone ✓)"
    assert fix.proposal.changes.main.after.text == FIXED
    assert table.b.engine.foreground_requests == []
    # who chooses it gets this very edit, with nothing computed again
    [offer] = await table.b.harness.fixes.offer(table.snapshot(), [table.src.finding])
    assert await table.b.harness.fixes.fix(table.snapshot(), offer, lambda progress: None) is fix.proposal
    assert table.counts == {"prepared": 1, "offered": 1, "ready": 1}
    table.apply(fix.proposal.edits)
    assert table.counts == {"prepared": 1, "used": 1, "offered": 1, "ready": 1}


async def test_the_next_fix_of_a_diagnostic_is_prepared_if_the_first_one_does_not_pass(
    bench: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = PreparedFixBench(bench)
    compute, tried = table.prepared._compute, list[str]()

    async def find_offers(snapshot: Snapshot, findings: Sequence[Finding]) -> list[FixOffer]:
        return [FixOffer("Fix", source, finding) for finding in findings for source in ("linter", "repair", "model")]

    async def compute_fix(snapshot: Snapshot, offer: FixOffer, engine: Any) -> Proposal:
        tried.append(offer.source)
        if offer.source == "linter":
            raise NoAnswer("it does not pass")
        return await compute(snapshot, offer, engine)

    monkeypatch.setattr(table.prepared, "_find_offers", find_offers)
    monkeypatch.setattr(table.prepared, "_compute", compute_fix)
    table.report()
    fix = await table.wait()
    assert (fix.offer.source, tried) == ("repair", ["linter", "repair"])
    # another fix of this diagnostic is not that one
    chosen = FixOffer("Fix with ruff", "linter", table.src.finding)
    with pytest.raises(StaleDocument, match="no longer offers"):
        await table.b.harness.fixes.fix(table.snapshot(), chosen, lambda progress: None)
    # nothing is computed twice for the same text
    table.report()
    await table.wait()
    assert tried == ["linter", "repair"]


async def test_a_diagnostic_of_our_own_checks_needs_no_report(bench: Make) -> None:
    table = PreparedFixBench(bench)
    table.b.harness.close(table.src.document.uri)
    src = table.b.open("def area(radius):\n    return 3\n", "b.py")
    uri = src.document.uri
    table.b.harness.documents.focused_uri = uri
    at = src.document.data.index(b"3")
    table.b.harness.change(uri, Edit(at, at + 1, b"raduis"), 2)
    table.b.harness.verification.start(table.b.harness.documents.get(uri), src.document)
    assert await table.b.next() == (2, [("F821", 1)])
    table.hand.move(2)
    await table.prepared.wait_until_idle()
    text = table.b.harness.snapshot(uri)
    [finding] = table.b.harness.verification.findings(text.document).findings
    assert table.prepared.find(text, finding).proposal.changes.main.after.text.endswith("return radius\n")


async def test_each_edit_drops_the_prepared_fix(bench: Make) -> None:
    table = PreparedFixBench(bench)
    table.report()
    fix = await table.wait()
    table.b.type(table.src, "# more\n", 0)
    assert table.prepared.find(table.snapshot(), table.src.finding) is None
    assert table.counts == {"prepared": 1, "dropped": 1}
    # nothing is prepared for the old diagnostic in the new text
    assert await table.wait() is None
    # a client that sends an edit in pieces has used it nevertheless
    table.b.harness.record(table.src.document.uri, fix.proposal.id, "applied")
    assert table.counts == {"prepared": 1, "used": 1}


async def test_work_that_an_edit_overtakes_is_cancelled(bench: Make) -> None:
    table = PreparedFixBench(bench, {"hang": True, "background": True}, config=BY_MODEL)
    await table.start_engine()
    table.report()
    table.hand.move(2)
    await table.b.engine.begun_ahead.wait()
    table.b.type(table.src, "# more\n", 0)
    await table.prepared.wait_until_idle()
    assert table.b.engine.ended_ahead.is_set()
    assert table.counts == {}


async def test_a_prepared_fix_uses_background_requests_and_its_tokens_count(bench: Make) -> None:
    table = PreparedFixBench(bench, {"text": GOOD, "background": True}, config=BY_MODEL)
    await table.start_engine()
    table.report()
    fix = await table.wait()

    assert fix.proposal.is_by_model
    assert fix.proposal.changes.main.after.text == FIXED
    [request] = table.b.engine.background_requests
    assert request.priority == "background"
    assert table.b.harness.services.statistics.counts.fix_tokens > 0
    totals = table.b.harness.completions.statistics()
    assert totals["fixes_prepared"] == 1
    assert totals["fix_tokens"] == table.b.harness.services.statistics.counts.fix_tokens


async def test_no_more_tokens_are_used_than_the_settings_allow_in_a_minute(bench: Make) -> None:
    reply = {"text": "no", "background": True}
    table = PreparedFixBench(bench, reply, reply, config=make_settings(BY_MODEL, background={"fix_tokens": 3}))
    await table.start_engine()
    for seconds, requests in ((2, 1), (2, 1), (60, 2)):
        table.b.type(table.src, "\n", table.snapshot().document.data.index(b"def"))
        moved = markup.parse(AREA).finding
        shift = len(table.snapshot().document.data) - len(table.src.document.data)
        table.report(Finding(moved.start + shift, moved.end + shift, moved.message, "ruff", moved.code))
        await table.wait(seconds)
        assert len(table.b.engine.background_requests) == requests


@pytest.mark.parametrize("reason", ["off", "never", "untrusted", "private", "other document", "leaves"])
async def test_no_fix_is_prepared_if_the_settings_or_the_file_forbid_it(bench: Make, reason: str) -> None:
    config = {
        "off": make_settings(BY_REPAIR, background={"prepare_fixes": 0}),
        "never": make_settings(BY_REPAIR, background={"when": "never"}),
    }.get(reason, BY_REPAIR)
    table = PreparedFixBench(bench, config=config, is_trusted=reason != "untrusted")
    if reason == "private":
        (table.b.folder / ".gitignore").write_text("a.py\n")
    if reason == "other document":
        table.b.harness.documents.focused_uri = "file:///another.py"
    table.report()
    if reason == "leaves":
        table.b.harness.close(table.src.document.uri)
        table.hand.move(2)
        table.b.open(AREA)
    assert await table.wait() is None
    assert table.counts == {}


async def test_a_model_that_is_not_idle_or_not_started_is_not_asked(bench: Make) -> None:
    table = PreparedFixBench(bench, config=BY_MODEL)
    table.report()
    assert await table.wait() is None
    assert table.b.engine.background_requests == []
    assert table.b.engine.props_count == 0


async def test_a_fix_that_waits_for_a_busy_engine_is_prepared_later(
    bench: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = PreparedFixBench(bench, {"text": GOOD, "background": True}, config=BY_MODEL)
    await table.start_engine()
    engine, background = table.b.harness.services.engines.current, table.b.harness.services.background
    table.report()
    with monkeypatch.context() as patch:

        async def wait_for_machine() -> None:
            patch.setattr(engine, "_running_count", 1)

        patch.setattr(background, "wait", wait_for_machine)
        assert await table.wait() is None
        assert table.b.engine.background_requests == []
    fix = await table.wait()
    assert fix.proposal.is_by_model


async def test_a_request_of_the_user_does_not_wait_for_background_work(bench: Make) -> None:
    table = PreparedFixBench(bench, {"hang": True, "background": True}, GOOD, config=BY_MODEL)
    await table.start_engine()
    table.report()
    table.hand.move(2)
    await table.b.engine.begun_ahead.wait()
    [offer] = await table.b.harness.fixes.offer(table.snapshot(), [table.src.finding])
    proposal = await table.b.harness.fixes.fix(table.snapshot(), offer, lambda progress: None)
    assert proposal.changes.main.after.text == FIXED
    assert table.counts == {"offered": 1}


async def test_work_that_a_request_of_the_user_interrupted_begins_again(bench: Make) -> None:
    hanging = {"hang": True, "background": True}
    table = PreparedFixBench(bench, hanging, GOOD, {"text": GOOD, "background": True}, config=BY_MODEL)
    await table.start_engine()
    table.report()
    table.hand.move(2)
    await table.b.engine.begun_ahead.wait()
    [offer] = await table.b.harness.fixes.offer(table.snapshot(), [table.src.finding])
    await table.b.harness.fixes.fix(table.snapshot(), offer, lambda progress: None)
    # the user does not take that fix; the diagnostic still stands
    assert (await table.wait()).proposal.changes.main.after.text == FIXED


@pytest.mark.parametrize("check", ["tests", "types", ""])
async def test_a_change_of_another_file_drops_a_fix_that_depends_on_it(bench: Make, check: str) -> None:
    table = PreparedFixBench(bench)
    other = table.b.open(AREA, "other.py")
    table.report()
    fix = await table.wait()
    outcomes = (*fix.proposal.verdict.outcomes, *([Outcome(check, "passed")] if check else []))
    verdict = replace(fix.proposal.verdict, outcomes=outcomes)
    part = table.prepared._find_part(table.b.harness.documents.get(table.src.document.uri))
    [problem] = part.ready
    part.ready[problem] = replace(fix, proposal=replace(fix.proposal, verdict=verdict))
    table.b.type(other, "# more\n", 0)
    assert (table.prepared.find(table.snapshot(), table.src.finding) is None) == bool(check)
    # it is prepared again while its diagnostic stands
    table.b.harness.documents.focused_uri = table.src.document.uri
    assert await table.wait()


async def test_a_change_of_the_settings_drops_prepared_fixes(bench: Make) -> None:
    table = PreparedFixBench(bench)
    table.report()
    assert await table.wait()
    table.b.harness.configure(make_settings(BY_REPAIR, edits={"confirm": "always"}))
    assert table.prepared.find(table.snapshot(), table.src.finding) is None
    assert table.counts == {"prepared": 1, "dropped": 1}


async def test_an_edit_that_the_permissions_forbid_is_not_offered(bench: Make) -> None:
    table = PreparedFixBench(bench, config=make_settings(BY_REPAIR, permissions={"mode": "deny"}))
    table.report()
    assert await table.wait() is None
    assert table.counts == {}


async def test_a_review_of_a_prepared_fix_is_work_of_the_background_too(bench: Make) -> None:
    replies = [{"text": text, "background": True} for text in (GOOD, "YES")]
    verifier = Verifier(CheckTools(Ruff(), reviewer=Reviewer(lambda: table.b.engine)))
    config = make_settings(BY_MODEL, verification={"diff_review": "veto"})
    table = PreparedFixBench(bench, *replies, config=config, verifier=verifier)
    await table.start_engine()
    table.report()
    fix = await table.wait()
    assert fix.title.endswith("review ✓)")
    assert table.b.engine.foreground_requests == []
