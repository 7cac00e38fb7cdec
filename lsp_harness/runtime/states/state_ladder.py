"""The state of an agent, decided from the claims of sources of different rank, such as its own status reports."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from lsp_harness.runtime.agent_state import (
    ENDED,
    SOURCE_ORDER,
    Activity,
    AgentState,
    AgentStatus,
    BlockKind,
    StateClaim,
    StateSource,
)
from lsp_harness.runtime.states.screen_reader import ScreenReading

ACTIVITIES: dict[str, Activity] = {
    "idle": "idle",
    "working": "working",
    "blocked": "blocked",
    "done": "done",
    "error": "error",
}
KINDS: dict[str, BlockKind] = {"permission": "permission", "question": "question", "auth": "auth"}
TRUST_MESSAGE = "trust this folder"
"""The message by which Claude's question about the folder differs from its other permission questions."""


class StateReport(Protocol):
    """A report that was read from the output of an agent. Its texts are clean, but not trusted."""

    @property
    def state(self) -> str:
        """The state that the program reported."""
        ...

    @property
    def id(self) -> str:
        """The part of the program that it is about. Empty: the program."""
        ...

    @property
    def kind(self) -> str:
        """The kind of question for which the program waits."""
        ...

    @property
    def message(self) -> str:
        """The text of the question or of the error."""
        ...


def claim_of_reports(reports: Sequence[StateReport]) -> StateClaim | None:
    """Return the claim of the newest reports of all parts of a program, or None without a report.

    A question of any part is a question of the agent. Otherwise the program speaks for itself, and only without a
    report of its own do its parts speak for it.

    Args:
        reports: The records, the newest one last.
    """
    known = [report for report in reversed(reports) if report.state in ACTIVITIES]
    blocked = [report for report in known if report.state == "blocked"]
    own = [report for report in known if not report.id]
    working = [report for report in known if report.state == "working"]
    for report in (*blocked, *own, *working, *known):
        return make_claim(report)
    return None


def make_claim(report: StateReport) -> StateClaim:
    """Return the claim of one report with a known state."""
    kind: BlockKind = KINDS.get(report.kind, "dialog" if report.state == "blocked" else "")
    if kind == "permission" and report.message.strip() == TRUST_MESSAGE:
        kind = "trust"
    return StateClaim("osc", ACTIVITIES[report.state], f"osc7501/{report.state}", kind, report.message)


SETTLE_S = 0.5
"""A newer claim of the lower one of two exact sources counts after this time without a new claim of the higher one.
Claude sends no `Stop` hook after Esc, but its status report says `idle`."""
STALL_S: dict[StateSource, float] = {"process": 8.0, "hook": 120.0, "osc": 120.0, "title": 8.0, "screen": 8.0}
"""An agent whose screen does not change for so long, although this source says that it starts or works, is `unknown`.
A model behind a structured transport may think for any time."""
EXACT_SOURCES: frozenset[StateSource] = frozenset({"transport", "hook", "osc"})
"""The sources that report each change by themselves. Titles and screens are only looked at."""
STATUSES: dict[Activity, AgentStatus] = {
    "idle": "ready",
    "done": "ready",
    # the turn failed, and the agent takes the next message
    "error": "ready",
    "working": "busy",
    "blocked": "blocked",
    "unknown": "unknown",
}


@dataclass(frozen=True, slots=True)
class TimedClaim:
    """A claim, and when it was made."""

    claim: StateClaim
    time: float


class StateLadder:
    """The sources of an agent's state in their order.

    A claim of a higher source wins while it is fresh. Lower sources may only add `blocked`, they never turn `working`
    into `idle`. A source that says nothing is no evidence: only a claim makes an agent `ready`. The claim `idle` of a
    title alone is none either, because agents show it over their dialogs too; the screen must say so. Once an exact
    source has spoken, `idle` of the screen does not count any more, as after a message that is not taken yet.

    Args:
        clock: Returns the time in seconds since the epoch.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._claims: dict[StateSource, TimedClaim] = {}
        self._exact: set[StateSource] = set()
        self._changed_at = clock()
        self._looks: tuple[str, str] = ("", "")
        self.state = AgentState("pending", "process", "process/created", since=clock())
        """The present state."""

    def start(self) -> AgentState:
        """Begin with a program that was started."""
        self._claims.clear()
        self._exact.clear()
        self._changed_at = self._clock()
        return self._set(AgentState("starting", "process", "process/started"))

    def stop(self) -> AgentState:
        """Note that the runtime ends the program. From now on no claim of a source counts."""
        return self._set(AgentState("stopping", "process", "process/stopping"))

    def end(self, reason: str, *, is_error: bool = False) -> AgentState:
        """Note that the program has ended."""
        status: AgentStatus = "error" if is_error else "stopped"
        return self._set(AgentState(status, "process", "process/ended", message=reason))

    def claim(self, claim: StateClaim) -> AgentState:
        """Replace the earlier claim of a source by a new one. Return the state that follows."""
        self._claims[claim.source] = TimedClaim(claim, self._clock())
        if claim.source in EXACT_SOURCES:
            self._exact.add(claim.source)
        return self.decide()

    def withdraw(self, source: StateSource) -> AgentState:
        """Forget the claim of a source, for example after the report `clear`."""
        self._claims.pop(source, None)
        self._exact.discard(source)
        return self.decide()

    def observe(self, reading: ScreenReading) -> AgentState:
        """Take a look at the terminal: what its title and screen say now. A changed screen ends a stall."""
        now = self._clock()
        if reading.looks != self._looks:
            self._looks = reading.looks
            self._changed_at = now
        self._claims.pop("title", None)
        self._claims.pop("screen", None)
        for claim in (reading.title, reading.screen):
            if claim:
                self._claims[claim.source] = TimedClaim(claim, now)
        return self.decide()

    def note_sent(self) -> AgentState:
        """Note that a message was submitted: claims from before it do not make the agent `ready`."""
        for source, timed in tuple(self._claims.items()):
            if timed.claim.activity in ("idle", "done", "error"):
                del self._claims[source]
        self._changed_at = self._clock()
        return self._set(AgentState("busy", "process", "process/message-sent"))

    def decide(self) -> AgentState:
        """Decide the state anew. Call it now and then: a stall is the lack of any event."""
        if self.state.status in ENDED or self.state.status in ("pending", "stopping"):
            return self.state
        leader = self._find_leader()
        if blocked := self._find_blocked(leader):
            return self._set(_make_state(self._complete(blocked.claim)))
        if leader is None:
            return self._decide_without_leader()
        if stalled := self._find_stall(leader.claim.source, leader.claim.activity == "working"):
            return self._set(stalled)
        return self._set(_make_state(leader.claim))

    def explain(self) -> list[dict[str, Any]]:
        """Return the last claim of each source, the highest source first."""
        now = self._clock()
        return [
            {
                "source": source,
                "rule": timed.claim.rule,
                "matched": timed.claim.rule == self.state.rule and source == self.state.source,
                "detail": f"{timed.claim.activity} {timed.claim.kind}".strip() + f", {now - timed.time:.1f} s ago",
            }
            for source in SOURCE_ORDER
            if (timed := self._claims.get(source))
        ]

    def _find_leader(self) -> TimedClaim | None:
        """Return the claim that decides, apart from questions that lower sources add."""
        leader: TimedClaim | None = None
        for source in SOURCE_ORDER:
            timed = self._claims.get(source)
            if timed is None or (_is_idle(timed.claim) and not self._can_make_ready(source)):
                continue
            is_newer = leader is None or (source in EXACT_SOURCES and self._has_settled(timed, leader))
            if is_newer:
                leader = timed
        return leader

    def _can_make_ready(self, source: StateSource) -> bool:
        return source in EXACT_SOURCES or (source == "screen" and not self._exact)

    def _has_settled(self, timed: TimedClaim, higher: TimedClaim) -> bool:
        return timed.time > higher.time and self._clock() - timed.time >= SETTLE_S

    def _find_blocked(self, leader: TimedClaim | None) -> TimedClaim | None:
        """Return the claim of the highest source that saw a question since the leader spoke."""
        for source in SOURCE_ORDER:
            timed = self._claims.get(source)
            if timed and timed.claim.activity == "blocked" and (leader is None or timed.time >= leader.time):
                return timed
        return None

    def _complete(self, blocked: StateClaim) -> StateClaim:
        """Add what lower sources know about the same question: titles have no words, and some reports neither."""
        for source in SOURCE_ORDER[SOURCE_ORDER.index(blocked.source) + 1 :]:
            timed = self._claims.get(source)
            if timed is None or timed.claim.activity != "blocked":
                continue
            kind = timed.claim.kind if blocked.kind in ("", "dialog") else blocked.kind
            blocked = replace(blocked, kind=kind, message=blocked.message or timed.claim.message)
        return blocked

    def _find_stall(self, source: StateSource, is_working: bool) -> AgentState | None:
        limit = STALL_S.get(source)
        quiet = self._clock() - self._changed_at
        if limit is None or not is_working or quiet < limit:
            return None
        message = f"{source} says that the agent works, but nothing changed on its screen for {quiet:.0f} s"
        return AgentState("unknown", "stall", f"stall/{source}", message=message)

    def _decide_without_leader(self) -> AgentState:
        """Keep a state that allows no message until nothing changes any more. End one that does."""
        if stalled := self._find_stall("process", self.state.status in ("starting", "busy")):
            return self._set(stalled)
        if self.state.status in ("starting", "busy") or self.state.source == "stall":
            return self.state
        return self._set(AgentState("unknown", "process", "process/no-source"))

    def _set(self, state: AgentState) -> AgentState:
        same = replace(state, since=self.state.since, message=self.state.message) == self.state
        if same and state.source == "stall":
            return self.state
        since = self.state.since if state.status == self.state.status else self._clock()
        self.state = replace(state, since=since)
        return self.state


def _is_idle(claim: StateClaim) -> bool:
    return claim.activity in ("idle", "done")


def _make_state(claim: StateClaim) -> AgentState:
    status = STATUSES[claim.activity]
    if claim.kind == "auth" and claim.activity in ("blocked", "error"):
        status = "authenticating"
    return AgentState(status, claim.source, claim.rule, claim.kind, claim.message)
