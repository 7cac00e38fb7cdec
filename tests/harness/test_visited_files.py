"""Tests of remembered cursors and often opened files, and of the prompts that are prepared for them."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.completion.document_completions import DocumentCompletions
from lsp_harness.harness.clock import Clock
from lsp_harness.harness.visited_files import (
    IDLE_S,
    MAX_FILES,
    MAX_OPENINGS,
    SAVE_DELAY_S,
    FileVisit,
    FileVisits,
    HotFiles,
    find_offset,
)
from lsp_harness.index.index_place import prepare_place
from lsp_harness.inference.request import Infill
from lsp_harness.text.document import Document
from tests.completion.test_working_ahead import FAR
from tests.harness.bench import QUICK, Bench, Make
from tests.harness.tools import make_settings
from tests.support import markup

PLACE = FAR + "def area(r):\n    return r * <|>\n" + FAR
OTHER = PLACE.replace("area", "volume")


@dataclass
class ManualClock:
    """A clock that the test moves."""

    now_s: float = 0.0
    calls: list[tuple[float, Callable[[], None]]] = field(default_factory=list[tuple[float, Callable[[], None]]])

    @property
    def clock(self) -> Clock:
        return Clock(lambda: self.now_s, lambda delay_s, call: self.calls.append((self.now_s + delay_s, call)))

    def move(self, seconds: float) -> None:
        self.now_s += seconds
        due = [entry for entry in self.calls if entry[0] <= self.now_s]
        self.calls = [entry for entry in self.calls if entry[0] > self.now_s]
        for _, call in due:
            call()


def save_file(b: Bench, text: str, name: str) -> int:
    """Write a file and return the place that is marked in it."""
    src = markup.parse(text, b.folder / name)
    (b.folder / name).write_bytes(src.document.data)
    return src.cursor


async def visit(bench: Make, text: str, name: str = "a.py", times: int = 1, **options: Any) -> None:
    """Open a file as a user does, and rest at the marked place."""
    b = bench(config=options.pop("config", QUICK), works_ahead=True, **options)
    for _ in range(times):
        src = b.open(text, name)
        b.harness.completions.warm(src.document.uri, src.cursor)
        b.harness.close(src.document.uri)
    await b.harness.aclose()


async def settle(b: Bench, uri: str) -> None:
    """Wait until nothing is prepared for a document any more."""
    for _ in range(3):
        await asyncio.sleep(0)
    if state := b.harness.documents.get(uri).find_part(DocumentCompletions):
        await state.prefetch.wait_until_idle()


def list_evaluated_prefixes(b: Bench) -> list[str]:
    return [request.context.prefix for request in b.engine.background_requests if isinstance(request, Infill)]


async def reopen(bench: Make, text: str = PLACE, name: str = "a.py", **options: Any) -> list[str]:
    """Open a file in a new session, and return the prefixes that are evaluated then."""
    b = bench(config=options.pop("config", QUICK), works_ahead=options.pop("works_ahead", True), **options)
    src = b.open(text, name)
    b.harness.completions.warm(src.document.uri)
    await settle(b, src.document.uri)
    return list_evaluated_prefixes(b)


# -- the last cursor
async def test_a_file_is_prepared_where_the_user_was_in_the_last_session(bench: Make) -> None:
    await visit(bench, PLACE)
    short, full = await reopen(bench)
    assert len(full) > len(short)
    assert full.endswith("    return r * ")


async def test_the_top_of_a_file_without_a_known_place_is_prepared(bench: Make) -> None:
    await visit(bench, OTHER, "b.py")
    assert await reopen(bench) == [""]


@pytest.mark.parametrize(
    "options",
    [
        {"is_trusted": False},
        {"works_ahead": False},
        {"config": make_settings(QUICK, background={"remember_places": False})},
        {"config": make_settings(QUICK, background={"when": "never"})},
        {"config": make_settings(QUICK, completion={"warm": False})},
    ],
)
async def test_no_place_is_recalled_if_the_settings_or_missing_trust_forbid_it(
    bench: Make, options: dict[str, Any]
) -> None:
    await visit(bench, PLACE)
    assert await reopen(bench, **options) in ([], [""])


@pytest.mark.parametrize(
    "options", [{"is_trusted": False}, {"config": make_settings(QUICK, background={"remember_places": False})}]
)
async def test_no_place_is_recorded_if_the_settings_or_missing_trust_forbid_it(
    bench: Make, options: dict[str, Any]
) -> None:
    await visit(bench, PLACE, **options)
    assert await reopen(bench) == [""]


async def test_a_remote_server_prepares_no_files(bench: Make) -> None:
    await visit(bench, PLACE)
    assert await reopen(bench, config=make_settings(QUICK, engine={"url": "http://h"})) == [""]


async def test_not_even_the_name_of_a_private_file_is_recorded(bench: Make) -> None:
    b = bench()
    (b.folder / ".gitignore").write_text("a.py\n")
    await visit(bench, PLACE)
    await visit(bench, "KEY=<|>1\n", ".env")
    await visit(bench, OTHER, "b.py")
    kept = (prepare_place(b.folder).folder / "visits.json").read_text()
    assert ("b.py" in kept, "a.py" in kept, ".env" in kept, "volume" in kept) == (True, False, False, False)


async def test_a_place_behind_the_end_of_the_file_becomes_its_last_line(bench: Make) -> None:
    text = Document.from_text("file:///a", "ab\ncdef\n")
    assert find_offset(text, FileVisit(0, 9)) == 2
    assert find_offset(text, FileVisit(1, 2)) == 5
    assert find_offset(text, FileVisit(9, 2)) == len(text.data)
    assert find_offset(text, FileVisit()) is None


async def test_keys_write_no_file_and_all_visits_are_written_together_later(bench: Make) -> None:
    timer = ManualClock()
    b = bench(config=QUICK, works_ahead=True, clock=timer.clock)
    file = prepare_place(b.folder).folder / "visits.json"
    src = b.open(PLACE)
    for _ in range(20):
        b.type(src, "x", src.cursor)
    assert len([entry for entry in timer.calls if entry[0] == SAVE_DELAY_S]) == 1
    assert not file.exists()
    timer.move(SAVE_DELAY_S)
    await asyncio.get_running_loop().run_in_executor(None, lambda: None)
    await b.harness.aclose()
    visits = FileVisits(file)
    assert visits.find("a.py") is not None
    assert [path for path, _ in visits.most_opened()] == ["a.py"]


def test_two_servers_of_a_folder_add_to_one_file(tmp_path: Path) -> None:
    first, second = FileVisits(tmp_path / "v.json"), FileVisits(tmp_path / "v.json")
    first.record_open("a.py", "python")
    first.record_place("a.py", 3, 4)
    second.record_open("a.py", "python")
    second.record_open("b.py", "python")
    second.record_place("b.py", 1, 0)
    first.save()
    second.save()
    visits = FileVisits(tmp_path / "v.json")
    found = {path: (visit.line, visit.column, visit.openings) for path, visit in visits.most_opened()}
    assert found == {"a.py": (3, 4, 2), "b.py": (1, 0, 1)}
    # what is saved already is not added again
    first.save()
    assert FileVisits(tmp_path / "v.json").most_opened() == visits.most_opened()


def test_the_file_of_visits_is_bounded_and_old_visits_lose_weight(tmp_path: Path) -> None:
    visits = FileVisits(tmp_path / "v.json")
    for number in range(MAX_FILES + 5):
        visits.record_open(f"{number}.py", "python")
    for _ in range(MAX_OPENINGS):
        visits.record_open("hot.py", "python")
    visits.save()
    visits = FileVisits(tmp_path / "v.json")
    hot = visits.find("hot.py")
    assert hot is None or hot.openings == MAX_OPENINGS // 2
    assert (tmp_path / "v.json").stat().st_size < 100_000


@pytest.mark.parametrize("content", ["", "[]", "[1]", '{"a": 1}', '{"a": {"b": 1}}', '{"a": {"line": "x"}}', "{" * 99])
def test_a_file_of_visits_with_other_content_is_replaced(tmp_path: Path, content: str) -> None:
    (tmp_path / "v.json").write_text(content)
    visits = FileVisits(tmp_path / "v.json")
    assert visits.most_opened() == []
    visits.record_open("a.py", "python")
    visits.record_place("a.py", 0, 0)
    visits.save()
    assert [path for path, _ in FileVisits(tmp_path / "v.json").most_opened()] == ["a.py"]


# -- the place that is prepared already
async def test_a_reported_place_that_is_evaluated_is_not_evaluated_again(bench: Make) -> None:
    await visit(bench, PLACE)
    b = bench(config=QUICK, works_ahead=True)
    b.engine.held = True
    src = b.open(PLACE)
    b.harness.completions.warm(src.document.uri)
    await b.engine.begun_ahead.wait()
    for _ in range(2):
        b.harness.completions.warm(src.document.uri, src.cursor)
        await asyncio.sleep(0)
    assert not b.engine.ended_ahead.is_set()
    assert len(list_evaluated_prefixes(b)) == 1
    await b.harness.aclose()


async def test_a_request_at_the_prepared_place_does_not_end_its_evaluation(bench: Make) -> None:
    await visit(bench, PLACE)
    b = bench("3", config=make_settings(QUICK, completion={"speculate": False}), works_ahead=True)
    b.engine.held = True
    src = b.open(PLACE)
    b.harness.completions.warm(src.document.uri)
    await b.engine.begun_ahead.wait()
    assert await b.harness.completions.complete(b.harness.snapshot(src.document.uri), src.cursor)
    assert not b.engine.ended_ahead.is_set()
    await b.harness.aclose()


# -- the files that are opened most
async def start(bench: Make, timer: ManualClock, *replies: Any, **tables: dict[str, Any]) -> Bench:
    """Return a session in which the engine runs and some file is open."""
    b = bench(*replies, config=make_settings(QUICK, **tables), works_ahead=True, clock=timer.clock)
    src = b.open("x = 1\n", "open.py")
    await b.harness.services.engines.current.props()
    b.harness.completions.warm(src.document.uri)
    await settle(b, src.document.uri)
    b.engine.background_requests.clear()
    b.engine.begun_ahead.clear()
    b.engine.ended_ahead.clear()
    return b


def find_hot_files(b: Bench) -> HotFiles:
    return b.harness.completions.hot_files


async def test_the_most_opened_files_are_prepared_while_the_user_is_idle(bench: Make) -> None:
    timer = ManualClock()
    await visit(bench, PLACE, "a.py", times=3)
    await visit(bench, OTHER, "b.py", times=2)
    await visit(bench, PLACE, "c.py")
    b = await start(bench, timer, background={"hot_files": 2})
    for text, name in ((PLACE, "a.py"), (OTHER, "b.py"), (PLACE, "c.py")):
        save_file(b, text, name)
    timer.move(IDLE_S - 1)
    assert list_evaluated_prefixes(b) == []
    timer.move(1)
    await find_hot_files(b).wait_until_idle()
    first, second = list_evaluated_prefixes(b)
    assert (first.count("area"), second.count("volume")) == (1, 1)
    assert all(request.owner.persist for request in b.engine.background_requests)
    # they are prepared once
    find_hot_files(b).postpone()
    timer.move(IDLE_S)
    await find_hot_files(b).wait_until_idle()
    assert len(list_evaluated_prefixes(b)) == 2
    await b.harness.aclose()


async def test_while_the_engine_is_busy_this_work_waits(bench: Make) -> None:
    timer = ManualClock()
    await visit(bench, PLACE, "a.py")
    b = await start(bench, timer)
    save_file(b, PLACE, "a.py")
    src = b.open(OTHER, "b.py")
    b.engine.held = True
    b.harness.completions.warm(src.document.uri, src.cursor)
    await b.engine.begun_ahead.wait()
    timer.move(IDLE_S)
    assert [prefix for prefix in list_evaluated_prefixes(b) if "area" in prefix] == []
    b.harness.close(src.document.uri)
    await b.engine.ended_ahead.wait()
    b.engine.held = False
    timer.move(IDLE_S)
    await find_hot_files(b).wait_until_idle()
    assert len([prefix for prefix in list_evaluated_prefixes(b) if "area" in prefix]) == 1
    await b.harness.aclose()


async def test_a_request_of_the_user_ends_this_work_at_once(bench: Make) -> None:
    timer = ManualClock()
    await visit(bench, PLACE, "a.py")
    b = await start(bench, timer, "2")
    save_file(b, PLACE, "a.py")
    b.engine.held = True
    timer.move(IDLE_S)
    await b.engine.begun_ahead.wait()
    src = b.open("y = <|>\n", "d.py")
    assert await b.harness.completions.complete(b.harness.snapshot(src.document.uri), src.cursor)
    await b.engine.ended_ahead.wait()
    await b.harness.aclose()


async def test_a_key_ends_this_work_at_once(bench: Make) -> None:
    timer = ManualClock()
    await visit(bench, PLACE, "a.py")
    b = await start(bench, timer)
    src = b.open("y = <|>\n", "d.py")
    save_file(b, PLACE, "a.py")
    b.engine.held = True
    timer.move(IDLE_S)
    await b.engine.begun_ahead.wait()
    b.type(src, "1", src.cursor)
    await b.engine.ended_ahead.wait()
    await b.harness.aclose()


@pytest.mark.parametrize(
    "tables",
    [
        {"background": {"hot_files": 0}},
        {"background": {"remember_places": False}},
        {"background": {"when": "never"}},
        {"completion": {"warm": False}},
        {"completion": {"enabled": False}},
        {"engine": {"url": "http://h"}},
    ],
)
async def test_settings_turn_this_work_off(bench: Make, tables: dict[str, dict[str, Any]]) -> None:
    timer = ManualClock()
    await visit(bench, PLACE, "a.py")
    b = await start(bench, timer, **tables)
    save_file(b, PLACE, "a.py")
    timer.move(IDLE_S)
    await find_hot_files(b).wait_until_idle()
    assert list_evaluated_prefixes(b) == []
    await b.harness.aclose()


@pytest.mark.parametrize("reason", ["ignored", "secret", "gone", "open"])
async def test_ignored_secret_deleted_and_open_files_are_not_prepared(bench: Make, reason: str) -> None:
    timer = ManualClock()
    await visit(bench, PLACE, "a.py")
    b = await start(bench, timer)
    save_file(b, PLACE, "a.py")
    match reason:
        case "ignored":
            (b.folder / ".gitignore").write_text("a.py\n")
        case "secret":
            save_file(b, f"password = 'https://me:{'x' * 20}@host'\n{PLACE}", "a.py")
        case "gone":
            (b.folder / "a.py").unlink()
        case _:
            b.open(PLACE, "a.py")
    timer.move(IDLE_S)
    await find_hot_files(b).wait_until_idle()
    assert list_evaluated_prefixes(b) == []
    await b.harness.aclose()


async def test_an_engine_is_not_started_to_prepare_files(bench: Make) -> None:
    timer = ManualClock()
    await visit(bench, PLACE, "a.py")
    b = bench(config=make_settings(QUICK, engine={"start_early": False}), works_ahead=True, clock=timer.clock)
    save_file(b, PLACE, "a.py")
    find_hot_files(b).postpone()
    timer.move(IDLE_S)
    await find_hot_files(b).wait_until_idle()
    assert (b.engine.props_count, list_evaluated_prefixes(b)) == (0, [])
