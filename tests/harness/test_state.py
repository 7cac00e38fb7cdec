"""Tests of the status: the engine as its requests show it, and whether suggestions are paused."""

from pathlib import Path

import pytest

from lsp_harness.errors import ConfigError, EngineRefused, EngineUnavailable, UsageError
from lsp_harness.harness.engines import ObservedEngine
from lsp_harness.inference.request import Continuation
from lsp_harness.inference.scripted_engine import ScriptedEngine
from tests.harness.bench import Bench, Make, accept
from tests.harness.tools import make_settings


class FailingPropsEngine(ScriptedEngine):
    """An engine that raises a prepared error when its properties are requested."""

    error: Exception | None = None

    async def props(self):
        if self.error:
            raise self.error
        return await super().props()


async def test_the_state_of_the_engine_follows_its_requests():
    engine, seen = FailingPropsEngine([{"text": "a b"}]), list[str]()
    observed = ObservedEngine(engine, lambda: seen.append(observed.state), lambda _: None)
    assert observed.state == "off"

    await observed.props()
    async for _ in observed.stream(Continuation("x")):
        assert observed.state == "busy"
    assert observed.state == "ready"
    assert list(dict.fromkeys(seen)) == ["starting", "ready", "busy"]

    engine.error = EngineUnavailable("it does not start: no memory")
    with pytest.raises(EngineUnavailable):
        await observed.props()
    assert (observed.state, observed.message) == ("failed", "it does not start: no memory")

    engine.error = EngineRefused("no such thing")
    with pytest.raises(EngineRefused):
        await observed.props()
    assert observed.state == "failed"

    engine.error = None
    await observed.props()
    assert (observed.state, observed.message) == ("ready", "")


@pytest.mark.parametrize("named", [{"url": "http://h"}, {"model": "ollama/m"}, {"script": "replies.json"}])
async def test_a_foreign_engine_is_not_restarted(bench: Make, named: dict[str, str]):
    b = bench(config=make_settings(engine=named))
    with pytest.raises(ConfigError, match="lsp-harness cannot restart"):
        await b.harness.restart_engine()
    assert b.harness.state()["engine"] == "off"


async def test_a_paused_window_shows_only_requested_suggestions(bench: Make):
    b = bench("1 + 1", config=make_settings(completion={"alternatives": 1}))
    src = b.open("x = <|>\n")
    snapshot = b.harness.snapshot(src.document.uri)

    assert b.harness.completions.pause("here", on=True) == "here"
    assert await b.harness.completions.complete(snapshot, src.cursor) == []
    assert await b.harness.completions.complete(snapshot, src.cursor, automatic=False)
    assert b.harness.completions.pause("here", on=False) is False
    assert await b.harness.completions.complete(snapshot, src.cursor)


async def test_a_pause_of_all_windows_holds_until_one_window_ends_it(bench: Make):
    one, other, told = bench(), bench(), list[object]()
    src = other.open("x = <|>\n")
    other.on_state(lambda: told.append(other.harness.state()["paused"]))

    one.harness.completions.pause("everywhere", on=True)
    assert await other.harness.completions.complete(other.harness.snapshot(src.document.uri), src.cursor) == []
    assert told[-1] == "everywhere"
    other.harness.completions.pause("here", on=False)
    assert one.harness.completions.pause("here", on=False) is False


async def test_the_state_is_known_without_a_request(bench: Make):
    b = bench("1 + 1")
    src = b.open("x = <|>\n")
    assert b.harness.state()["engine"] == "off"

    await accept(b, src)

    state = b.harness.state()
    assert state["engine"] == "ready"
    assert state["statistics"] | {"survived": 0} == {
        "shown": 1,
        "accepted": 1,
        "accepted_partly": 0,
        "typed_through": 0,
        "dismissed": 0,
        "survived": 0,
        "types_passed": 0,
        "types_replaced": 0,
        "types_cut": 0,
        "types_hidden": 0,
        "types_skipped": 0,
        "fixes_prepared": 0,
        "fixes_used": 0,
        "fixes_dropped": 0,
        "fixes_offered": 0,
        "fixes_ready": 0,
        "fix_tokens": 0,
    }
    assert state["types"] == []
    assert state["last"]["generated"] == 3


async def test_a_verdict_can_be_read_after_its_server_ended(bench: Make, tmp_path: Path):
    b = bench("pi * r ** 2")
    src = b.open("def area(r):\n    return <|>\n")
    await accept(b, src)
    await b.next()
    name = b.harness.verification.findings(b.harness.documents.get(src.document.uri).text).verdict
    text = b.harness.turns.verdict(name)

    later: Bench = bench()
    assert later.harness.turns.verdict(name) == text
    assert "| lint | ✗ failed |" in text
    with pytest.raises(UsageError, match="no longer in the session log"):
        later.harness.turns.verdict(f"{'0' * 26}/0")


@pytest.mark.parametrize(("url", "then"), [("http://127.0.0.1:8012", "scripted"), ("", "named in the settings")])
async def test_the_model_of_a_foreign_server_is_reported_as_the_server_names_it(bench: Make, url: str, then: str):
    model = {"path": "named in the settings"}
    b = bench("1 + 1", config=make_settings(completion={"alternatives": 1}, model=model, engine={"url": url}))
    src, told = b.open("x = <|>\n"), list[object]()
    b.on_state(lambda: told.append(b.harness.state()["model"]))

    assert b.harness.state()["model"] == "named in the settings"
    await b.harness.completions.complete(b.harness.snapshot(src.document.uri), src.cursor)
    assert b.harness.state()["model"] == told[-1] == then
