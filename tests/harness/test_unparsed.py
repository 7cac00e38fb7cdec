"""Open documents whose text cannot be parsed within the budget."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from lsp_harness.errors import NoAnswer, RequestSuperseded
from lsp_harness.kernel.results import FixOffer
from lsp_harness.syntax.parse_budget import BUDGET, Allowance
from lsp_harness.syntax.plain_text import is_plain_text
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.verify.finding import Finding
from lsp_harness.workspace import document_syntax
from lsp_harness.workspace.document_syntax import FIRST_PAUSE_S, DocumentSyntax, SyntaxService
from tests.harness.bench import Bench

URI = "file:///a.py"
PLAIN = "def one():\n    return 1\n"
SIGNS = "x = " + "(" * 400 + ")" * 400 + "\n"
"""Not what people write, so that a process tries it first; it parses quickly."""
COSTLY = "parsing takes more than 150 ms"

Make = Callable[..., Bench]


class RefusingTrials:
    """A parse process that refuses each text with a word of `costly` in it."""

    costly = b"hostile"

    def __init__(self) -> None:
        self.tried: list[bytes] = []
        self.cancelled = 0
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()
        self.go_on.set()

    async def refusal_reason(self, language: str, data: bytes) -> str:
        self.tried.append(data)
        self.begun.set()
        try:
            await self.go_on.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return COSTLY if self.costly in data else ""

    async def aclose(self) -> None: ...


@pytest.fixture
def refusing_trials(monkeypatch: pytest.MonkeyPatch) -> RefusingTrials:
    trials = RefusingTrials()
    monkeypatch.setattr(document_syntax, "Trials", lambda: trials)
    return trials


class RecordedAllowance:
    """Parse allowances that record their thread and their seconds."""

    def __init__(self, *spent: bool) -> None:
        self.made: list[tuple[float, list[int]]] = []
        self._spent = list(spent)

    def __call__(self, seconds: float) -> Allowance:
        threads: list[int] = []
        self.made.append((seconds, threads))
        spent = self._spent.pop(0) if self._spent else False

        def clock() -> float:
            threads.append(threading.get_ident())
            return float(len(threads)) * seconds if spent else 0.0

        return Allowance(seconds, clock)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def make_document(text: str) -> Document:
    return Document.from_text(URI, text, language="python", version=1)


def apply_and_follow(parsed: DocumentSyntax, before: Document, edit: Edit) -> Document:
    after = before.apply_edit(edit, before.version + 1)
    parsed.follow(before, edit, after)
    return after


def replace_whole_text(before: Document, text: str) -> Edit:
    return Edit(0, len(before.data), text.encode())


def test_plain_text_is_distinguished_from_code():
    assert is_plain_text(PLAIN.encode())
    assert is_plain_text(b"")
    assert not is_plain_text(SIGNS.encode())
    assert not is_plain_text(b"a" * 600_000)
    assert not is_plain_text(b"name\x01")
    text = PLAIN.encode() * 1_000
    assert is_plain_text(text)
    assert not is_plain_text(text[:9_000] + b"(" * 4_000 + text[9_000:], 9_000, 13_000)


async def test_a_text_that_is_expensive_to_parse_has_no_tree_but_a_reason(refusing_trials: RefusingTrials):
    changes: list[str] = []
    service = SyntaxService(lambda: changes.append(parsed.missing_reason))
    parsed = DocumentSyntax(service)
    text = make_document(f"{SIGNS}# hostile\n")
    assert parsed.tree(text) is None
    assert await parsed.tree_when_ready(text) is None
    assert parsed.declarations(text) == []
    assert parsed.missing_reason == COSTLY
    assert changes == [COSTLY]
    parsed.close()
    assert changes[1:] == [""]
    assert parsed.missing_reason == ""
    parsed.close()
    await service.aclose()


async def test_a_text_that_becomes_smaller_has_a_tree_again_at_once(refusing_trials: RefusingTrials):
    changes: list[int] = []
    service = SyntaxService(lambda: changes.append(1), clock=Clock())
    parsed = DocumentSyntax(service)
    text = make_document(f"{SIGNS}# hostile\n")
    assert await parsed.tree_when_ready(text) is None
    text = apply_and_follow(parsed, text, replace_whole_text(text, PLAIN))
    tree = await parsed.tree_when_ready(text)
    assert tree is not None
    assert tree.data == PLAIN.encode()
    assert [one.name for one in parsed.declarations(text)] == ["one"]
    assert parsed.missing_reason == ""
    assert len(changes) == 2
    parsed.close()
    await service.aclose()


async def test_a_text_of_the_same_size_is_tried_again_after_pauses_that_double(refusing_trials: RefusingTrials):
    clock = Clock()
    service = SyntaxService(clock=clock)
    parsed = DocumentSyntax(service)
    text = make_document(f"{SIGNS}# hostile\n")
    assert await parsed.tree_when_ready(text) is None
    for pause in (FIRST_PAUSE_S, 2 * FIRST_PAUSE_S):
        text = apply_and_follow(parsed, text, Edit(0, 0, b"y = 1\n"))
        before = len(refusing_trials.tried)
        clock.now += pause - 0.5
        assert await parsed.tree_when_ready(text) is None
        assert len(refusing_trials.tried) == before
        clock.now += 1.0
        assert await parsed.tree_when_ready(text) is None
        assert len(refusing_trials.tried) == before + 1
    place = text.data.index(b"hostile")
    text = apply_and_follow(parsed, text, Edit(place, place + 7, b"calm"))
    clock.now += 4 * FIRST_PAUSE_S + 0.5
    assert await parsed.tree_when_ready(text) is not None
    assert parsed.missing_reason == ""
    parsed.close()
    await service.aclose()


async def test_a_request_about_a_text_that_changes_meanwhile_is_superseded(refusing_trials: RefusingTrials):
    service = SyntaxService()
    parsed = DocumentSyntax(service)
    text = make_document(SIGNS)
    refusing_trials.go_on.clear()
    task = asyncio.create_task(parsed.tree_when_ready(text))
    await refusing_trials.begun.wait()
    text = apply_and_follow(parsed, text, Edit(0, 0, b"y = 1\n"))
    refusing_trials.go_on.set()
    with pytest.raises(RequestSuperseded):
        await task
    # what was made is about a text that is gone
    assert parsed.tree(text) is None
    parsed.close()
    await service.aclose()


async def test_a_closed_document_is_not_parsed_any_further(refusing_trials: RefusingTrials):
    service = SyntaxService()
    parsed = DocumentSyntax(service)
    refusing_trials.go_on.clear()
    task = asyncio.create_task(parsed.tree_when_ready(make_document(SIGNS)))
    await refusing_trials.begun.wait()
    parsed.close()
    assert await task is None
    assert refusing_trials.cancelled == 1
    parsed.close()
    await service.aclose()
    assert parsed.missing_reason == ""


async def test_no_parse_on_the_event_loop_has_more_than_the_budget_of_a_key(refusing_trials: RefusingTrials):
    recorded = RecordedAllowance()
    service = SyntaxService(new_allowance=recorded)
    parsed = DocumentSyntax(service)
    text = make_document(PLAIN)
    for n in range(4):
        assert await parsed.tree_when_ready(text) is not None
        text = apply_and_follow(parsed, text, Edit(0, 0, f"x{n} = 1\n".encode()))
    text = apply_and_follow(parsed, text, Edit(0, 0, SIGNS.encode()))
    assert await parsed.tree_when_ready(text) is not None
    here = threading.get_ident()
    assert {seconds for seconds, threads in recorded.made if here in threads} == {BUDGET.keystroke_s}
    assert [seconds for seconds, threads in recorded.made if threads and here not in threads] == [2 * BUDGET.text_s]
    parsed.close()
    await service.aclose()


async def test_an_edit_that_is_slow_to_parse_is_parsed_in_the_thread(refusing_trials: RefusingTrials):
    service = SyntaxService(new_allowance=RecordedAllowance(False, True), clock=Clock())
    parsed = DocumentSyntax(service)
    text = make_document(PLAIN)
    assert await parsed.tree_when_ready(text) is not None
    text = apply_and_follow(parsed, text, Edit(0, 0, b"'"))
    assert refusing_trials.tried == []
    tree = await parsed.tree_when_ready(text)
    assert refusing_trials.tried == [text.data]
    assert tree is not None
    assert tree.data == text.data
    parsed.close()
    await service.aclose()


def test_without_an_event_loop_the_reason_is_known_too():
    service = SyntaxService(new_allowance=RecordedAllowance(True), clock=Clock())
    parsed = DocumentSyntax(service)
    assert parsed.tree(make_document(PLAIN)) is None
    assert parsed.missing_reason.startswith("parsing takes more than")


# -- the harness
async def test_features_that_need_a_tree_are_off_and_on_again(bench: Make, refusing_trials: RefusingTrials):
    b = bench("1")
    src = b.open(f"{SIGNS}value = hostile\n<|>\n")
    uri = src.document.uri
    snapshot = b.harness.snapshot(uri)
    states: list[int] = []
    b.on_state(lambda: states.append(1))
    finding = Finding(0, 1, "`value` is not defined", "x", "F821")
    with pytest.raises(NoAnswer, match=rf"a\.py has no syntax tree to check an edit with: {COSTLY}"):
        await b.harness.fixes.fix(snapshot, FixOffer("fix", "model", finding), lambda progress: None)
    assert (await b.harness.status())["unparsed"] == [{"uri": uri, "why": COSTLY}]
    assert b.harness.state()["unparsed"] == [{"uri": uri, "why": COSTLY}]
    assert states
    assert await b.harness.fixes.offer(snapshot, [finding]) == []
    # ghost text needs no tree
    await b.harness.completions.complete(snapshot, src.cursor)
    b.harness.change(uri, replace_whole_text(snapshot.document, PLAIN), 2)
    assert await b.harness.documents.tree_when_ready(b.harness.documents.get(uri).text) is not None
    assert (await b.harness.status())["unparsed"] == []
    await b.harness.aclose()
