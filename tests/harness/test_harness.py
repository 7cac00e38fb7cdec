"""The façade: what is held against edits the user took, for which version, and until when."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.config.schema import Config
from lsp_harness.errors import EngineError, NoAnswer, NotOpen, NotText, Stale
from lsp_harness.harness.harness import Harness
from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.inference.request import Infill
from lsp_harness.pipeline.offers import Offer, Progress
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit, apply
from lsp_harness.text.position import encode
from lsp_harness.text.uri import local_path
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.ruff import Ruff
from tests.harness.tools import Script, checked, edits, of_type, settings
from tests.support import markup

QUICK = settings(verification={"debounce_ms": 0})
AREA = """
    def area(r):
        width = r
        return pi * width ** 2
        #      ^^ F821 what is this
    """
GOOD = "return 3 * width ** 2"


class Bench:
    """A harness over a folder, with a script for an engine and all that was published."""

    def __init__(self, folder: Path, ruff: Ruff, config: Config, replies: Sequence[Any]) -> None:
        self.folder = folder
        self.engine = Script(*replies)
        self.harness = Harness(config, lambda config: self.engine)
        self.harness.roots.append(folder)
        self.harness._ruff = ruff  # shared, so that a text is checked once in a run
        self.harness.on_findings = self._published
        self.published: list[tuple[int, list[tuple[str, int]]]] = []
        """Version, and code and line of each finding."""
        self.stale: list[int] = []
        """Versions that were not current any more when something was published about them."""
        self._more = asyncio.Event()

    def open(self, text: str, name: str = "a.py", version: int = 1) -> markup.Source:
        src = markup.parse(text, self.folder / name, version=version)
        self.harness.open(src.document)
        return src

    def type(self, src: markup.Source, text: str, at: int) -> int:
        """Insert at an offset; the cursor after it."""
        uri = src.document.uri
        self.harness.change(uri, Edit(at, at, encode(text)), self.harness.documents.get(uri).version + 1)
        return at + len(encode(text))

    async def next(self) -> tuple[int, list[tuple[str, int]]]:
        """Wait for the next publication."""
        self._more.clear()
        await self._more.wait()
        return self.published[-1]

    async def settled(self, src: markup.Source) -> None:
        await self.harness.watch.settled(src.document.uri)

    def _published(self, uri: str, version: int, findings: Sequence[Finding]) -> None:
        document = self.harness.documents.get(uri) if uri in self.harness.documents else None
        if document and document.version != version:
            # not an assertion: nobody would hear of it in a background task
            self.stale.append(version)
        text = document or Document.of(uri, "")
        self.published.append((version, [(f.code, text.line_of(f.start)) for f in findings]))
        self._more.set()


class Held(Ruff):
    """A ruff that answers when it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.go = asyncio.Event(), asyncio.Event()

    async def check(self, *args: Any, **more: Any) -> Any:
        self.asked.set()
        await self.go.wait()
        return await super().check(*args, **more)


@pytest.fixture(scope="session")
def ruff() -> Ruff:
    return Ruff()


@pytest.fixture
async def bench(tmp_path: Path, ruff: Ruff, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    (tmp_path / "ruff.toml").write_text('[lint]\nselect = ["F"]\n')
    made: list[Bench] = []

    def bench(*replies: Any, config: Config = QUICK) -> Bench:
        made.append(Bench(tmp_path, ruff, config, replies))
        return made[-1]

    yield bench
    for one in made:
        await one.harness.aclose()
        assert one.stale == []


Make = Callable[..., Bench]


async def accept(bench: Bench, src: markup.Source) -> None:
    """Complete at the cursor, put the text in and say so, as an editor does."""
    uri = src.document.uri
    [found] = await bench.harness.complete(bench.harness.snapshot(uri), src.cursor)
    bench.type(src, found.text, found.start)
    bench.harness.accepted(uri, found.id)


# -- accepted completions
async def test_a_finding_that_an_accepted_completion_brings_is_published_and_cleared_when_it_is_mended(
    bench: Make,
) -> None:
    b = bench("pi * r ** 2")
    src = b.open("def area(r):\n    return <|>\n")
    await accept(b, src)
    assert await b.next() == (2, [("F821", 1)])
    assert b.harness.findings(src.document.uri)[0] == 2
    assert [f.code for f in b.harness.findings(src.document.uri)[1]] == ["F821"]
    b.type(src, "from math import pi\n", 0)
    assert b.harness.findings(src.document.uri) == (3, ())
    assert await b.next() == (3, [])
    assert b.published == [(2, [("F821", 1)]), (3, [])]


async def test_a_finding_moves_with_the_text_until_it_is_mended(bench: Make) -> None:
    b = bench("pi * r ** 2")
    src = b.open("def area(r):\n    return <|>\n")
    await accept(b, src)
    await b.next()
    b.type(src, "# more\n", 0)
    assert await b.next() == (3, [("F821", 2)])


async def test_what_was_there_before_is_not_held_against_the_completion(bench: Make) -> None:
    b = bench("3 * r ** 2")
    src = b.open("import os\n\n\ndef area(r):\n    return <|>\n")
    await accept(b, src)
    await b.settled(src)
    assert b.published == []


async def test_a_verification_that_is_overtaken_is_never_published(bench: Make) -> None:
    b, held = bench("pi * r ** 2"), Held()
    b.harness._ruff = held
    src = b.open("def area(r):\n    return <|>\n")
    await accept(b, src)
    await held.asked.wait()
    for _ in range(7):
        b.type(src, "\n", 0)
    held.go.set()
    assert await b.next() == (9, [("F821", 8)])
    await b.settled(src)
    assert b.published == [(9, [("F821", 8)])]


async def test_a_result_for_a_version_that_is_gone_is_dropped(bench: Make) -> None:
    b, held = bench("pi * r ** 2"), Held()
    b.harness._ruff = held
    src = b.open("def area(r):\n    return <|>\n")
    await accept(b, src)
    await held.asked.wait()
    # behind the watch's back, so that nothing cancels what is under way
    b.harness.documents.change(src.document.uri, Edit(0, 0, b"\n"), 3)
    held.go.set()
    await b.settled(src)
    assert b.published == []


async def test_closing_clears_what_was_published(bench: Make) -> None:
    b = bench("pi * r ** 2")
    src = b.open("def area(r):\n    return <|>\n")
    await accept(b, src)
    await b.next()
    b.harness.close(src.document.uri)
    assert b.published[-1] == (2, [])
    with pytest.raises(NotOpen):
        b.harness.findings(src.document.uri)


async def test_closing_while_it_is_verified_publishes_nothing(bench: Make) -> None:
    b = bench("pi * r ** 2")
    src = b.open("def area(r):\n    return <|>\n")
    b.harness._ruff = held = Held()
    await accept(b, src)
    await held.asked.wait()
    b.harness.close(src.document.uri)
    held.go.set()
    await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}), return_exceptions=True)
    assert b.published == []


async def test_with_the_gates_switched_off_nothing_is_held_against_anybody(bench: Make) -> None:
    off = settings(QUICK, verification={"lint": False})
    b = bench("pi * r ** 2", config=off)
    src = b.open("def area(r):\n    return <|>\n")
    await accept(b, src)
    await b.settled(src)
    assert b.published == []


async def test_a_suggestion_nobody_knows_starts_nothing(bench: Make) -> None:
    b = bench()
    src = b.open("x = 1\n")
    b.harness.accepted(src.document.uri, "unknown")
    b.harness.accepted("file:///nowhere.py", "unknown")
    assert b.harness.findings(src.document.uri) == (1, ())


# -- completion
async def test_completion_that_is_switched_off_answers_only_when_asked_for(bench: Make) -> None:
    b = bench("3 * r", config=settings(completion={"enabled": False}))
    src = b.open("def area(r):\n    return <|>\n")
    snapshot = b.harness.snapshot(src.document.uri)
    assert await b.harness.complete(snapshot, src.cursor) == []
    [found] = await b.harness.complete(snapshot, src.cursor, automatic=False)
    assert found.text == "3 * r"


async def test_new_settings_count_from_the_next_request(bench: Make) -> None:
    b = bench("3 * r", "4 * r")
    src = b.open("def area(r):\n    return <|>\n")
    uri = src.document.uri
    await b.harness.complete(b.harness.snapshot(uri), src.cursor)
    b.harness.configure(settings(QUICK, completion={"max_tokens": 5}))
    cursor = b.type(src, "0 + ", src.cursor)
    await b.harness.complete(b.harness.snapshot(uri), cursor)
    made = [request.sampling.n_predict for request in b.engine.asked]
    assert made == [64, 5]


async def test_another_model_is_another_engine_and_both_are_closed(bench: Make) -> None:
    b = bench()
    engines: list[Config] = []
    closed: list[Config] = []

    class Closing(Script):
        async def aclose(self) -> None:
            closed.append(engines[len(closed)])

    def make(config: Config) -> Script:
        engines.append(config)
        return Closing("3 * r" if len(engines) == 1 else "4 * r")

    b.harness = Harness(QUICK, make)
    src = b.open("def area(r):\n    return <|>\n")
    uri = src.document.uri
    await b.harness.complete(b.harness.snapshot(uri), src.cursor)
    other = settings(QUICK, model={"path": "other", "context_length": 4096, "n_gpu_layers": 0})
    b.harness.configure(other)
    [found] = await b.harness.complete(b.harness.snapshot(uri), b.type(src, "1 + ", src.cursor))
    assert found.text == "4 * r"
    assert engines == [QUICK, other]
    await b.harness.aclose()
    assert closed == [QUICK, other]


# -- fixes
async def fixed(b: Bench, src: markup.Source, offer: Offer | None = None) -> Any:
    snapshot = b.harness.snapshot(src.document.uri)
    return await b.harness.fix(snapshot, offer or Offer("", "model", src.finding), lambda progress: None)


def log_of(b: Bench) -> Path:
    return b.harness.log.path


async def test_an_applied_proposal_is_in_the_log_and_its_text_is_clean(bench: Make) -> None:
    b = bench(GOOD, config=edits(1))
    src = b.open(AREA)
    proposal = await fixed(b, src)
    [edit] = proposal.edits
    b.harness.change(src.document.uri, edit, 2)
    b.harness.applied(src.document.uri, proposal.id)
    await b.settled(src)
    events = checked(log_of(b))
    assert events[-1].type == "edit.applied"
    assert events[-1].data == {"proposal": proposal.id}
    assert b.published == []
    b.harness.applied(src.document.uri, proposal.id)
    b.harness.applied(src.document.uri, "unknown")
    assert len(of_type(checked(log_of(b)), "edit.applied")) == 1


async def test_a_client_that_does_not_say_so_is_seen_to_have_applied_a_fix(bench: Make) -> None:
    b = bench(GOOD, config=edits(1))
    src = b.open(AREA)
    proposal = await fixed(b, src)
    cursor = b.type(src, "x", 0)
    b.harness.change(src.document.uri, Edit(0, cursor, b""), 3)
    assert of_type(checked(log_of(b)), "edit.applied") == []
    b.harness.change(src.document.uri, proposal.edits[0], 4)
    assert of_type(checked(log_of(b)), "edit.applied") == [{"proposal": proposal.id}]


async def test_what_is_done_to_a_fix_afterwards_is_verified_again(bench: Make) -> None:
    b = bench(GOOD, config=edits(1, verification={"debounce_ms": 0}))
    src = b.open(AREA)
    proposal = await fixed(b, src)
    b.harness.change(src.document.uri, proposal.edits[0], 2)
    end = b.harness.documents.get(src.document.uri).data.index(b" ** 2")
    b.type(src, " * tau", end)
    b.harness.applied(src.document.uri, proposal.id)
    assert await b.next() == (3, [("F821", 2)])


async def test_a_document_that_changed_meanwhile_makes_the_fix_stale(bench: Make) -> None:
    b = bench(GOOD, config=edits(1))
    src = b.open(AREA)

    def typing(progress: Progress) -> None:
        if progress.percentage == 0:
            b.type(src, "# typed\n", 0)

    snapshot = b.harness.snapshot(src.document.uri)
    with pytest.raises(Stale, match="the document changed while the fix was computed; ask again"):
        await b.harness.fix(snapshot, Offer("", "model", src.finding), typing)
    events = checked(log_of(b))
    assert events[-1].type == "edit.stale"
    assert of_type(events, "edit.applied") == []


async def test_every_candidate_failing_changes_nothing(bench: Make) -> None:
    b = bench("return pi + 1", config=edits(1))
    src = b.open(AREA)
    with pytest.raises(NoAnswer):
        await fixed(b, src)
    assert b.harness.documents.get(src.document.uri) == src.document
    checked(log_of(b))


async def test_the_linter_s_own_fix_is_offered_first_and_needs_no_engine(bench: Make) -> None:
    b = bench()
    src = b.open("import os\n#      ^^ F401 `os` imported but unused\nx = 1\n")
    offers = await b.harness.offers(b.harness.snapshot(src.document.uri), src.findings)
    assert offers == [
        Offer("Fix with ruff's own safe fix: Remove unused import: `os`", "linter", src.finding),
        Offer("Fix with lsp-harness: `os` imported but unused", "model", src.finding),
    ]
    proposal = await fixed(b, src, offers[0])
    assert apply(src.document.data, proposal.edits) == b"x = 1\n"
    assert proposal.verdict.passed
    assert b.engine.asked == []
    checked(log_of(b))


async def test_a_linter_that_changed_its_mind_makes_its_fix_stale(bench: Make) -> None:
    b = bench()
    src = b.open("x = 1\n#^ F401 was never there\n")
    with pytest.raises(Stale, match="no longer offers this fix"):
        await fixed(b, src, Offer("", "linter", src.finding))


async def test_a_linter_that_fails_offers_nothing_of_its_own(bench: Make) -> None:
    b = bench()
    b.harness._ruff = Ruff()
    (b.folder / "ruff.toml").write_text("nonsense = 1\n")
    src = b.open("import os\n#      ^^ F401 unused\n")
    offers = await b.harness.offers(b.harness.snapshot(src.document.uri), src.findings)
    assert [offer.how for offer in offers] == ["model"]


async def test_each_fix_is_a_turn_of_one_session(bench: Make) -> None:
    b = bench(GOOD, GOOD, config=edits(1))
    src = b.open(AREA)
    await fixed(b, src)
    await fixed(b, src)
    events = checked(log_of(b))
    assert {event.turn for event in events} == {0, 1}
    assert {event.session_id for event in events} == {b.harness.log.id}


async def test_a_binary_is_not_fixed_and_not_diagnosed(bench: Make) -> None:
    b = bench()
    src = b.open("x\0\n")
    snapshot = b.harness.snapshot(src.document.uri)
    with pytest.raises(NotText):
        await b.harness.fix(snapshot, Offer("", "model", Finding(0, 1, "x")), lambda progress: None)
    with pytest.raises(NotText):
        await b.harness.diagnose(snapshot)


async def test_own_diagnostics_are_syntax_errors_or_else_the_linter_s(bench: Make) -> None:
    b = bench()
    for name, text, expected in (
        ("a.py", "import os\n", ["F401"]),
        ("b.py", "import os\nx = = 1\n", ["syntax"]),
        ("c.js", "foo(1;\n", ["syntax"]),
        ("d.js", "foo(1);\n", []),
        ("e.txt", "foo(1;\n", []),
    ):
        src = b.open(text, name)
        assert [f.code for f in await b.harness.diagnose(b.harness.snapshot(src.document.uri))] == expected


# -- documents and status
async def test_a_snapshot_is_named_from_its_workspace_and_frozen(bench: Make) -> None:
    b = bench()
    src = b.open("x = 1\n", "src/a b.py")
    snapshot = b.harness.snapshot(src.document.uri)
    assert snapshot == Snapshot(src.document, "src/a b.py", b.folder / "src/a b.py", b.folder)
    b.type(src, "y", 0)
    assert snapshot.document.text == "x = 1\n"
    outside = Document.of("file:///elsewhere/c.py", "")
    b.harness.open(outside)
    assert b.harness.snapshot(outside.uri) == Snapshot(outside, "c.py", Path("/elsewhere/c.py"))
    unsaved = Document.of("untitled:Untitled-1", "")
    b.harness.open(unsaved)
    assert b.harness.snapshot(unsaved.uri) == Snapshot(unsaved, "Untitled-1")
    assert local_path("untitled:x") is None


async def test_the_tree_of_a_document_follows_its_changes(bench: Make) -> None:
    b = bench()
    src = b.open("x = 1\n")
    uri = src.document.uri
    old = b.harness.tree(b.harness.snapshot(uri))
    at = b.type(src, "def f():\n    return 1\n", 0)
    b.type(src, "y = é\n", at)
    new = b.harness.tree(b.harness.snapshot(uri))
    assert old
    assert new
    assert new.data == b"def f():\n    return 1\ny = \xc3\xa9\nx = 1\n"
    assert [child.type for child in new.root.children] == ["function_definition", *["expression_statement"] * 2]
    assert new is b.harness.tree(b.harness.snapshot(uri))


async def test_status_says_what_is_in_use(bench: Make) -> None:
    b = bench("3 * r")
    assert await b.harness.status() == {"engine": None, "completion": None, "log": None}
    src = b.open("def area(r):\n    return <|>\n")
    [found] = await b.harness.complete(b.harness.snapshot(src.document.uri), src.cursor)
    assert await b.harness.status() == {
        "engine": {"model": "scripted", "pid": 0, "scripted": True},
        "completion": found.stats,
        "log": None,
    }


async def test_an_engine_that_does_not_end_well_is_heard_of(tmp_path: Path, ruff: Ruff) -> None:
    b = Bench(tmp_path, ruff, QUICK, ["never used"])
    assert b.harness.engine is b.engine
    with pytest.raises(EngineError, match="1 of 1 scripted replies were not used"):
        await b.harness.aclose()
    await b.harness.aclose()


# -- ahead of being asked
RETURN = "def area(r):\n    return <|>\n"


async def warmed(b: Bench, src: markup.Source) -> list[Any]:
    """The prefix of everything that was evaluated in the background, once that is over."""
    # the harness warms with the next turn of the loop
    turned = asyncio.Event()
    asyncio.get_running_loop().call_soon(turned.set)
    await turned.wait()
    if b.harness._completer:
        await b.harness._completer.settled(src.document.uri)
    return [request.around.prefix for request in b.engine.ahead if isinstance(request, Infill)]


async def test_a_place_is_warmed_where_the_user_is_or_was_last_seen(bench: Make) -> None:
    b = bench()
    b.harness.eager = True
    src = b.open(RETURN)
    uri = src.document.uri
    b.harness.warm(uri)
    assert await warmed(b, src) == [""]
    b.harness.warm(uri, 3)
    assert await warmed(b, src) == ["", "def"]
    b.type(src, "1", src.cursor)
    b.harness.warm(uri)
    assert await warmed(b, src) == ["", "def", "def area(r):\n    return 1"]
    b.harness.warm("file:///not/open.py")
    b.harness.warm(uri, 5)
    b.harness.close(uri)
    assert len(await warmed(b, src)) == 3


async def test_a_document_that_is_opened_again_is_warmed_where_the_user_left_it(bench: Make) -> None:
    b = bench()
    b.harness.eager = True
    src = b.open(RETURN)
    b.harness.warm(src.document.uri, 3)
    assert await warmed(b, src) == ["def"]
    b.harness.close(src.document.uri)
    b.harness.open(Document.of(src.document.uri, "de", language="python"))
    b.harness.warm(src.document.uri)
    # it may have become shorter
    assert await warmed(b, src) == ["def", "de"]


async def test_an_accepted_completion_has_the_place_behind_it_warmed(bench: Make) -> None:
    b = bench("3 * r", config=settings(QUICK, completion={"speculate": False}))
    b.harness.eager = True
    src = b.open(RETURN)
    await accept(b, src)
    assert await warmed(b, src) == ["def area(r):\n    return 3 * r"]
    await b.settled(src)


@pytest.mark.parametrize(
    ("completion", "eager", "trusted"),
    [({}, False, True), ({}, True, False), ({"warm": False}, True, True), ({"enabled": False}, True, True)],
)
async def test_nothing_is_warmed_where_that_is_not_wanted(
    bench: Make, completion: dict[str, Any], eager: bool, trusted: bool
) -> None:
    b = bench(config=settings(QUICK, completion=completion))
    b.harness.eager, b.harness.trusted = eager, trusted
    src = b.open(RETURN)
    b.harness.warm(src.document.uri)
    assert await warmed(b, src) == []


# -- trust
async def test_only_a_document_of_a_trusted_workspace_may_be_kept_on_disk(bench: Make) -> None:
    for trusted, name, expected in ((True, "a.py", True), (True, "/elsewhere/a.py", False), (False, "a.py", False)):
        b = bench("3 * r", "return 4", config=edits(1))
        b.harness.trusted = trusted
        src = b.open(RETURN + "x = pi\n#   ^^ F821 what\n", name)
        snapshot = b.harness.snapshot(src.document.uri)
        await b.harness.complete(snapshot, src.cursor)
        with pytest.raises(NoAnswer):
            await b.harness.fix(snapshot, Offer("", "model", src.finding), lambda progress: None)
        assert [request.owner.persist for request in b.engine.asked] == [expected] * 2


async def test_without_trust_no_linter_is_run_and_nothing_is_worked_out_ahead(bench: Make) -> None:
    b = bench("3 * r", GOOD, config=edits(1))
    b.harness.trusted, b.harness.eager = False, True
    b.harness._ruff = None
    src = b.open(AREA)
    snapshot = b.harness.snapshot(src.document.uri)
    assert [offer.how for offer in await b.harness.offers(snapshot, src.findings)] == ["model"]
    assert await b.harness.diagnose(snapshot) == []
    assert await b.harness.complete(snapshot, 0)
    assert await warmed(b, src) == []
    proposal = await fixed(b, src)
    said = {outcome.check: (outcome.status, outcome.reason) for outcome in proposal.verdict.outcomes}
    assert said["lint"] == ("skipped", "the workspace is not trusted, so nothing is run on it")
    assert said["gone"][0] == "skipped"


async def test_for_a_file_that_is_secret_by_name_no_fix_of_the_model_is_offered(bench: Make) -> None:
    b = bench()
    src = b.open("A=1\n#^ something is wrong\n", ".env")
    assert await b.harness.offers(b.harness.snapshot(src.document.uri), src.findings) == []
