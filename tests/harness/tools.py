"""Tools for tests of the drivers: an engine that can be waited for, settings by name, and the log's invariants."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.coding.turn.turn_states import NEXT_STATES, State
from lsp_harness.config.schema import Config
from lsp_harness.harness.edits.turns import TurnWork
from lsp_harness.inference.request import Chunk, Infill, ModelRequest, Props
from lsp_harness.inference.scripted_engine import ScriptedEngine, prompt_text
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.wire.event import Event
from lsp_harness.workspace.snapshot import Snapshot


class Script(ScriptedEngine):
    """The scripted engine; a reply may be a bare text.

    `started` is set with every request, `ended` with every end, which `closed` counts; the background's are left out,
    but `begun_ahead` and `ended_ahead` are set with those.
    """

    def __init__(self, *replies: str | dict[str, Any]) -> None:
        super().__init__([{"text": reply} if isinstance(reply, str) else reply for reply in replies])
        self.counted: list[str] = []
        self.props_count = 0
        self.started = asyncio.Event()
        self.closed = 0
        self.ended = asyncio.Event()
        self.begun_ahead, self.ended_ahead = asyncio.Event(), asyncio.Event()
        self.held = False
        """Whether what is asked in the background never ends."""

    async def props(self) -> Props:
        self.props_count += 1
        return await super().props()

    async def count(self, texts: Sequence[str]) -> list[int]:
        self.counted += texts
        return await super().count(texts)

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        if request.priority == "background":
            try:
                async with aclosing(cast("Any", super().stream(request))) as chunks:
                    self.begun_ahead.set()
                    async for chunk in chunks:
                        if self.held:
                            await asyncio.Event().wait()
                        yield chunk
            finally:
                self.ended_ahead.set()
            return
        try:
            async with aclosing(cast("Any", super().stream(request))) as chunks:
                self.started.set()
                async for chunk in chunks:
                    yield chunk
        finally:
            self.closed += 1
            self.ended.set()

    def prompt(self, number: int) -> str:
        """Return the text of the prompt of a request; of an infill, both sides."""
        request = self.foreground_requests[number]
        if not isinstance(request, Infill):
            return prompt_text(request)
        return (
            "".join(text for _, text in request.context.extra)
            + request.context.prefix
            + "<FILL>"
            + request.context.suffix
        )


def make_settings(base: Config | None = None, /, **tables: dict[str, Any]) -> Config:
    """Return settings with some changed keys. Without a `base`, a fix asks the model at once."""
    config = base or Config()
    if base is None:
        config = replace(config, generation=replace(config.generation, repairs=False))
    return replace(config, **{table: replace(getattr(config, table), **keys) for table, keys in tables.items()})


def make_edit_settings(candidates: int, retries: int = 0, **more: Any) -> Config:
    """Return settings for a number of candidates that all come from the model."""
    config = make_settings(**more)
    return replace(
        config, generation=replace(config.generation, candidates=candidates, max_retries=retries, repairs=False)
    )


FLOW_TYPES = frozenset({"session.started", "turn.started", "turn.stopped", "step.started"})
"""Events that every turn has, whatever it does."""


def turn_context(b: Any, snapshot: Snapshot) -> TurnContext:
    """Return the context of a turn that no verb has begun."""
    work = TurnWork("edit", "a test", snapshot, lambda progress: None)
    return b.harness.turns.create_context(work, b.harness.services.session.log.turn())


def read_checked_log(log: Path) -> list[Event]:
    """Return the events of a log, after checking what must hold for every log."""
    events = list(read_log(log))
    assert [event.seq for event in events] == list(range(len(events)))
    assert len({event.id for event in events}) == len(events)
    for turn in {event.turn for event in events}:
        _check_turn([event for event in events if event.turn == turn])
    return [event for event in events if event.type not in FLOW_TYPES]


def _check_turn(events: list[Event]) -> None:
    if events[0].turn is None:
        return
    first, *rest = events
    if rest and rest[0].type == "turn.started":
        assert rest[-1].type in ("turn.stopped", "edit.applied")
    assert first.cause is None
    assert {event.cause for event in rest} <= {first.id}
    require_verified_proposals(events)
    state: State | None = None
    for event in events:
        if event.type == "state.entered":
            now: State = event.data["state"]
            assert state is None or now in NEXT_STATES[state], f"{state} → {now}"
            state = now
        elif event.type == "edit.proposed":
            assert state == "VERIFY"
        assert event.step == state or (state is None and event.step in (None, f"{event.turn}.0"))
    assert state is None or not NEXT_STATES[state], f"the log ends in {state}"


def require_verified_proposals(events: Iterable[Event]) -> int:
    """Return the number of proposals in a log. Each must have a passed verdict on the same bytes in its turn before."""
    passed, count = set[tuple[int | None, str]](), 0
    for event in events:
        if event.type == "verify.completed" and event.data["passed"]:
            statuses = [outcome["status"] for outcome in event.data["outcomes"]]
            assert "passed" in statuses, "nothing ran"
            assert not {"failed", "error"} & set(statuses)
            passed.add((event.turn, event.data["hash"]))
        elif event.type == "edit.proposed":
            assert (event.turn, event.data["hash"]) in passed, "proposed without a passed verdict on the same bytes"
            count += 1
    return count


def list_entered_states(events: list[Event]) -> list[str]:
    return [event.data["state"] for event in events if event.type == "state.entered"]


def select_event_data(events: list[Event], kind: str) -> list[dict[str, Any]]:
    return [event.data for event in events if event.type == kind]


def find_proposed_candidate(events: list[Event]) -> int:
    """Return the number of the proposed candidate."""
    [proposed] = select_event_data(events, "edit.proposed")
    return next(
        data["candidate"] for data in select_event_data(events, "verify.completed") if data["hash"] == proposed["hash"]
    )
