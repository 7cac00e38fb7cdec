"""The precedence of the sources, as a table: claims at their times, and the state at the end."""

from dataclasses import dataclass, field

import pytest

from lsp_harness.runtime.agent_state import Activity, AgentStatus, BlockKind, StateClaim, StateSource
from lsp_harness.runtime.states.screen_reader import ScreenReading
from lsp_harness.runtime.states.state_ladder import StateLadder

EXACT: tuple[StateSource, ...] = ("transport", "hook", "osc")


@dataclass
class Clock:
    now: float = 1_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Bench:
    clock: Clock = field(default_factory=Clock)
    ladder: StateLadder = field(init=False)
    looks: int = 0

    def __post_init__(self):
        self.ladder = StateLadder(self.clock)
        self.ladder.start()

    def claim(self, source: StateSource, activity: Activity, kind: BlockKind = ""):
        self.clock.now += 0.01
        self.ladder.claim(StateClaim(source, activity, f"{source}/{activity}", kind))

    def look(self, title: Activity | None = None, screen: Activity | None = None, *, changed: bool = True):
        """Read a screen that shows these activities."""
        self.clock.now += 0.01
        self.looks += changed
        self.ladder.observe(
            ScreenReading(
                looks=(str(self.looks), ""),
                title=StateClaim("title", title, f"title/{title}") if title else None,
                screen=StateClaim("screen", screen, f"screen/{screen}") if screen else None,
            )
        )

    def wait(self, seconds: float):
        self.clock.now += seconds
        self.ladder.decide()

    @property
    def status(self) -> tuple[AgentStatus, StateSource]:
        return self.ladder.state.status, self.ladder.state.source


@pytest.fixture
def bench() -> Bench:
    return Bench()


LEVELS: list[tuple[Activity | None, Activity | None, AgentStatus, StateSource]] = [
    # title, screen, status, source that decides
    (None, None, "starting", "process"),
    (None, "idle", "ready", "screen"),
    (None, "working", "busy", "screen"),
    (None, "blocked", "blocked", "screen"),
    (None, "unknown", "unknown", "screen"),
    ("working", None, "busy", "title"),
    ("working", "idle", "busy", "title"),
    ("working", "working", "busy", "title"),
    ("working", "blocked", "blocked", "screen"),
    ("working", "unknown", "busy", "title"),
    ("blocked", "idle", "blocked", "title"),
    ("blocked", "working", "blocked", "title"),
    ("idle", None, "starting", "process"),
    ("idle", "idle", "ready", "screen"),
    ("idle", "working", "busy", "screen"),
    ("idle", "blocked", "blocked", "screen"),
    ("idle", "unknown", "unknown", "screen"),
]


@pytest.mark.parametrize(("title", "screen", "status", "source"), LEVELS)
def test_the_title_and_the_screen_decide_without_an_exact_source(
    bench: Bench, title: Activity | None, screen: Activity | None, status: AgentStatus, source: StateSource
):
    bench.look(title, screen)
    assert bench.status == (status, source)


@pytest.mark.parametrize("exact", EXACT)
@pytest.mark.parametrize(("title", "screen"), [(row[0], row[1]) for row in LEVELS])
@pytest.mark.parametrize(("activity", "expected"), [("idle", "ready"), ("done", "ready"), ("working", "busy")])
def test_the_screen_adds_only_questions_to_an_exact_source(
    bench: Bench,
    exact: StateSource,
    title: Activity | None,
    screen: Activity | None,
    activity: Activity,
    expected: AgentStatus,
):
    bench.claim(exact, activity)
    bench.look(title, screen)
    asks = "blocked" in (title, screen)
    assert bench.ladder.state.status == ("blocked" if asks else expected)
    assert bench.ladder.state.source == (("title" if title == "blocked" else "screen") if asks else exact)


@pytest.mark.parametrize("exact", EXACT)
@pytest.mark.parametrize(("title", "screen"), [(row[0], row[1]) for row in LEVELS])
def test_the_screen_does_not_end_the_question_of_an_exact_source(
    bench: Bench, exact: StateSource, title: Activity | None, screen: Activity | None
):
    bench.claim(exact, "blocked", "permission")
    bench.look(title, screen)
    assert bench.status == ("blocked", exact)
    assert bench.ladder.state.kind == "permission"


PAIRS: list[tuple[list[tuple[StateSource, Activity]], AgentStatus, AgentStatus]] = [
    # claims in order, status at once, status after the time to settle
    ([("hook", "working"), ("osc", "idle")], "busy", "ready"),
    ([("osc", "idle"), ("hook", "working")], "busy", "busy"),
    ([("hook", "idle"), ("osc", "working")], "ready", "busy"),
    ([("hook", "working"), ("osc", "blocked")], "blocked", "blocked"),
    ([("osc", "blocked"), ("hook", "working")], "busy", "busy"),
    ([("hook", "blocked"), ("osc", "working")], "blocked", "busy"),
    ([("hook", "blocked"), ("osc", "working"), ("hook", "blocked")], "blocked", "blocked"),
    ([("hook", "working"), ("osc", "working"), ("hook", "idle")], "ready", "ready"),
    ([("osc", "working"), ("osc", "error")], "ready", "ready"),
    ([("transport", "working"), ("hook", "idle")], "busy", "ready"),
]


@pytest.mark.parametrize(("claims", "at_once", "settled"), PAIRS)
def test_the_more_exact_of_two_sources_wins_while_it_is_recent(
    bench: Bench, claims: list[tuple[StateSource, Activity]], at_once: AgentStatus, settled: AgentStatus
):
    for source, activity in claims:
        bench.claim(source, activity)
    assert bench.ladder.state.status == at_once
    bench.wait(1)
    assert bench.ladder.state.status == settled


def test_the_screen_adds_the_words_of_a_question_that_a_title_shows(bench: Bench):
    bench.ladder.observe(
        ScreenReading(
            looks=("", ""),
            title=StateClaim("title", "blocked", "title/blocked", "dialog"),
            screen=StateClaim("screen", "blocked", "screen/permission", "permission", "Run it?"),
        )
    )
    state = bench.ladder.state
    assert (state.source, state.kind, state.message) == ("title", "permission", "Run it?")


def test_a_question_is_over_when_the_agent_continues(bench: Bench):
    bench.look(screen="blocked")
    bench.claim("osc", "working")
    assert bench.ladder.state.status == "busy"


def test_an_unknown_screen_ends_the_status_ready_but_not_busy(bench: Bench):
    bench.look(screen="working")
    bench.look()
    assert bench.ladder.state.status == "busy"
    bench.look(screen="idle")
    assert bench.ladder.state.status == "ready"
    bench.look()
    assert bench.status == ("unknown", "process")
    bench.look(screen="blocked")
    bench.look()
    assert bench.status == ("unknown", "process")


@pytest.mark.parametrize(("source", "limit"), [("title", 8), ("screen", 8), ("hook", 120), ("osc", 120)])
def test_an_agent_that_works_and_never_moves_is_unknown(bench: Bench, source: StateSource, limit: float):
    bench.look()
    bench.claim(source, "working")
    bench.wait(limit - 1)
    assert bench.ladder.state.status == "busy"
    bench.wait(2)
    assert (bench.ladder.state.status, bench.ladder.state.rule) == ("unknown", f"stall/{source}")


def test_a_stall_ends_when_the_screen_moves(bench: Bench):
    bench.look("working")
    bench.wait(9)
    assert bench.status == ("unknown", "stall")
    bench.look("working")
    assert bench.status == ("busy", "title")


def test_an_unchanged_screen_does_not_end_a_stall(bench: Bench):
    bench.look("working")
    for _ in range(9):
        bench.wait(1)
        bench.look("working", changed=False)
    assert bench.status == ("unknown", "stall")
    since = bench.ladder.state
    bench.look("working", changed=False)
    assert bench.ladder.state is since


def test_a_transport_may_think_for_any_time(bench: Bench):
    bench.claim("transport", "working")
    bench.wait(3_600)
    assert bench.status == ("busy", "transport")


def test_an_agent_that_never_shows_a_known_screen_is_unknown(bench: Bench):
    bench.look()
    bench.wait(7)
    assert bench.ladder.state.status == "starting"
    bench.wait(2)
    assert (bench.ladder.state.status, bench.ladder.state.rule) == ("unknown", "stall/process")


def test_a_sent_message_ends_an_earlier_idle_state(bench: Bench):
    bench.look(screen="idle")
    bench.ladder.note_sent()
    assert bench.ladder.state.status == "busy"
    bench.look("working", "idle")
    assert bench.status == ("busy", "title")
    bench.look("idle", "idle")
    assert bench.status == ("ready", "screen")


def test_an_idle_screen_does_not_end_a_message_that_the_exact_source_has_not_seen(bench: Bench):
    bench.claim("osc", "idle")
    bench.ladder.note_sent()
    bench.look("idle", "idle")
    assert bench.ladder.state.status == "busy"
    bench.claim("osc", "working")
    bench.claim("osc", "done")
    assert bench.status == ("ready", "osc")


def test_a_message_without_a_reaction_does_not_stay_busy_for_ever(bench: Bench):
    bench.claim("osc", "idle")
    bench.ladder.note_sent()
    bench.look(screen="idle")
    bench.wait(10)
    assert (bench.ladder.state.status, bench.ladder.state.source) == ("unknown", "stall")


def test_the_screen_decides_after_a_source_is_withdrawn(bench: Bench):
    bench.claim("osc", "working")
    bench.look(screen="idle")
    bench.ladder.withdraw("osc")
    assert bench.status == ("ready", "screen")


@pytest.mark.parametrize("activity", ["blocked", "error"])
def test_a_required_login_has_its_own_status(bench: Bench, activity: Activity):
    bench.claim("osc", activity, "auth")
    assert bench.ladder.state.status == "authenticating"


def test_no_source_changes_the_status_after_the_end(bench: Bench):
    bench.claim("osc", "idle")
    bench.ladder.stop()
    bench.claim("osc", "working")
    assert bench.ladder.state.status == "stopping"
    bench.ladder.end("killed by signal 9", is_error=True)
    bench.claim("osc", "idle")
    bench.look(screen="idle")
    assert (bench.ladder.state.status, bench.ladder.state.message) == ("error", "killed by signal 9")


def test_a_status_keeps_the_time_at_which_it_began(bench: Bench):
    bench.claim("osc", "working")
    began = bench.ladder.state.since
    bench.look("working")
    bench.claim("hook", "working")
    assert bench.ladder.state.since == began
    bench.claim("hook", "idle")
    assert bench.ladder.state.since > began


def test_the_claims_of_all_sources_are_listed(bench: Bench):
    bench.claim("osc", "working")
    bench.look("idle", "blocked")
    rows = bench.ladder.explain()
    assert [(row["source"], row["rule"], row["matched"]) for row in rows] == [
        ("osc", "osc/working", False),
        ("title", "title/idle", False),
        ("screen", "screen/blocked", True),
    ]
