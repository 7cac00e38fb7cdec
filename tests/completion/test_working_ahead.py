"""Tests of work before a request: warmed prompts, and the suggestion after the shown one."""

import asyncio
from typing import Any

import pytest

from lsp_harness.completion.completer import Completer
from lsp_harness.config.schema import Completion, Quiet
from lsp_harness.errors import EngineRefused
from lsp_harness.inference.backends.backend import FEATURES
from lsp_harness.inference.request import Infill, Props
from lsp_harness.kernel.results import Suggestion
from lsp_harness.process.background_permit import BackgroundPermit
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode
from tests.files.test_secrets import TOKEN
from tests.harness.tools import Script
from tests.support import desk as support
from tests.support import markup

AREA = "def area(r):\n    return <|>\n"
FAR = "".join(f"def f{n}(a, b):\n    x = a + b\n    return x * {n}\n" for n in range(60))


class Desk:
    """A completer, its engine and a document with a cursor."""

    def __init__(self, source: str, *replies: Any, settings: Completion | None = None, path: str = "a.py") -> None:
        src = markup.parse(source, path)
        self.engine = Script(*replies)
        self.completer = support.Desk(Completer(self.engine, settings or Completion(), background=BackgroundPermit()))
        self.document, self.cursor, self.path = src.document, src.cursor, path

    async def ask(self, *, automatic: bool = False) -> Suggestion | None:
        place = (self.document, parse(self.document), self.cursor, self.path)
        return await self.completer.complete(*place, persist=True, automatic=automatic)

    def warm(self, *, seen: bool = True) -> None:
        place = (self.document, parse(self.document), self.cursor, self.path)
        self.completer.warm(*place, is_visited=seen, persist=True)

    def type(self, text: str, at: int | None = None) -> None:
        new, start = encode(text), self.cursor if at is None else at
        self.document = self.document.apply_edit(Edit(start, start, new), self.document.version + 1)
        self.cursor = start + len(new) if at is None or at > self.cursor else self.cursor + len(new)

    async def settled(self) -> None:
        await self.completer.settled(self.document.uri)

    @property
    def background_requests(self) -> list[Infill]:
        return [request for request in self.engine.background_requests if isinstance(request, Infill)]


# -- speculation
async def test_a_server_without_background_requests_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    async def props(_: Script) -> Props:
        return Props("one", 8192, 0, {}, dict.fromkeys(FEATURES, False))

    monkeypatch.setattr(Script, "props", props)
    desk = Desk(AREA, "3 * r")
    assert await desk.ask()
    await desk.settled()
    assert desk.background_requests == []


async def test_after_an_accepted_suggestion_the_next_answer_is_ready() -> None:
    desk = Desk(AREA, "3.14 * r ** 2", {"text": "\n\n\ndef volume(r):", "background": True})
    first = await desk.ask()
    assert first
    await desk.settled()
    [request] = desk.background_requests
    assert (request.priority, request.sampling.t_max_predict_ms, request.budget_ms) == ("background", 0, 0)
    assert request.context.prefix == "def area(r):\n    return 3.14 * r ** 2"
    assert desk.completer.find(desk.document.uri, first.id)
    desk.type(first.text)
    result = await desk.ask()
    assert result
    assert "def volume(r):" in result.text
    assert (result.stats["cached"], result.stats["evaluated"]) == (True, 0)
    assert len(desk.engine.foreground_requests) == 1
    await desk.engine.aclose()


async def test_a_cached_text_must_pass_the_gate_too() -> None:
    desk = Desk(AREA, "3 * r", {"text": " + ) 2", "background": True})
    first = await desk.ask()
    assert first
    await desk.settled()
    desk.type(first.text)
    assert await desk.ask() is None
    assert len(desk.engine.foreground_requests) == 1


async def test_a_new_question_ends_the_speculation_at_once() -> None:
    desk = Desk(AREA, "3 * r", {"hang": True, "background": True}, "4 * r", {"text": "", "background": True})
    await desk.ask()
    await desk.engine.begun_ahead.wait()
    desk.type("2 + ")
    result = await desk.ask()
    assert result
    assert result.text == "4 * r"
    await desk.settled()
    assert len(desk.background_requests) == 2
    await desk.engine.aclose()


async def test_typing_along_does_not_end_the_speculation() -> None:
    desk = Desk(AREA, "3 * r", {"text": " + 1", "background": True})
    await desk.ask()
    desk.type("3 ")
    assert await desk.ask()
    await desk.settled()
    desk.type("* r")
    result = await desk.ask()
    assert result
    assert (result.text, result.stats["cached"]) == (" + 1", True)


async def test_no_speculation_starts_if_the_setting_forbids_it_or_the_front_end_ends() -> None:
    desk = Desk(AREA, "3 * r", settings=Completion(speculate=False))
    assert await desk.ask()
    await desk.settled()
    assert desk.background_requests == []
    desk = Desk(AREA, "3 * r")
    desk.completer = support.Desk(Completer(desk.engine, Completion()))
    assert await desk.ask()
    desk.warm()
    await desk.settled()
    assert desk.background_requests == []


async def test_a_known_answer_is_not_speculated_again() -> None:
    desk = Desk(AREA, "3 * r", {"text": " + 1", "background": True}, "9")
    first = await desk.ask()
    assert first
    await desk.settled()
    desk.type("9 + ")
    await desk.ask()
    await desk.settled()
    desk.document, desk.cursor = desk.document.apply_edit(Edit(desk.cursor - 4, desk.cursor, b""), 9), desk.cursor - 4
    again = await desk.ask()
    assert again
    assert (again.text, again.stats["cached"]) == (first.text, True)
    await desk.settled()
    assert len(desk.engine.foreground_requests) == 2
    assert len(desk.background_requests) == 2


# -- results
async def test_an_answer_survives_edits_elsewhere_and_not_those_that_the_model_would_see() -> None:
    desk = Desk(FAR + AREA, "3 * r", "4 * r")
    assert await desk.ask()
    desk.type("1", at=FAR.index("a + b") + 5)
    result = await desk.ask()
    assert result
    assert (result.text, result.stats["cached"]) == ("3 * r", True)
    desk.type("c, ", at=FAR.index("a, b"))
    result = await desk.ask()
    assert result
    assert result.text == "4 * r"


async def test_settings_that_change_the_answer_ask_again() -> None:
    desk = Desk(AREA, "3 * r", "4 * r")
    await desk.ask()
    desk.completer.completer.configure(Completion(max_tokens=9), Quiet())
    desk.type("\n", at=len(desk.document.data))
    desk.document, desk.cursor = (
        Document.from_text(desk.document.uri, desk.document.data[:-1], language="python"),
        desk.cursor,
    )
    desk.completer.close(desk.document.uri)
    result = await desk.ask()
    assert result
    assert result.text == "4 * r"


@pytest.mark.parametrize("reply", [{"stop": "deadline"}, {"rung": 1}])
async def test_an_answer_that_could_be_better_is_not_remembered(reply: dict[str, Any]) -> None:
    desk = Desk(AREA, {"text": "3 * r", **reply}, "4 * r")
    await desk.ask()
    desk.completer.close(desk.document.uri)
    result = await desk.ask()
    assert result
    assert result.text == "4 * r"


# -- warming
async def test_the_prompts_are_evaluated_cheapest_first_and_are_those_of_the_completion() -> None:
    desk = Desk(FAR + AREA, "3 * r")
    desk.warm()
    await desk.settled()
    short, full = desk.background_requests
    assert {(request.sampling.n_predict, request.priority) for request in desk.background_requests} == {
        (0, "background")
    }
    assert desk.engine.foreground_requests == []
    await desk.ask(automatic=True)
    [request] = desk.engine.foreground_requests
    assert isinstance(request, Infill)
    assert (request.context, request.shorter[-1]) == (full.context, short.context)


async def test_without_a_known_cursor_only_the_shortest_prompt_is_warmed() -> None:
    desk = Desk(FAR + AREA)
    desk.warm(seen=False)
    await desk.settled()
    desk.warm()
    await desk.settled()
    alone, short, full = desk.background_requests
    assert (alone.context, len(full.context.prefix) > len(short.context.prefix)) == (short.context, True)


@pytest.mark.parametrize(
    ("source", "prefix"),
    [
        ("def f():<|>\n    pass\n", "def f():\n    "),
        ("x = 1<|>", "x = 1\n"),
        ("def f():<|>\r\n    pass\r\n", "def f():\r\n    "),
        ("def f():<|>\n\n    pass\n", "def f():\n"),
        ("if a:\n\tb = 1<|>\n\tpass\n", "if a:\n\tb = 1\n\t"),
        # where something else is likelier
        ("x = <|>\n", "x = "),
        ("f(<|>)\n", "f("),
        ("x = 1\n<|>\n", "x = 1\n"),
        ("<|>\n", ""),
    ],
)
async def test_at_the_end_of_a_line_the_prompt_of_the_next_line_is_warmed(source: str, prefix: str) -> None:
    for order, read in (("suffix-first", prefix), ("prefix-suffix-middle", None)):
        desk = Desk(source)
        desk.engine.extra_props = {"fim_order": order}
        desk.warm()
        await desk.settled()
        [request] = desk.background_requests
        before, after = desk.document.text[: desk.cursor], desk.document.text[desk.cursor :]
        assert (request.context.prefix, request.context.suffix) == (before if read is None else read, after)


async def test_a_model_without_fill_in_the_middle_is_not_warmed() -> None:
    desk = Desk(AREA)
    desk.engine.extra_props = {"fim_tokens": {"pre": 1, "suf": 2, "mid": -1}}
    with pytest.raises(EngineRefused, match="has no fill-in-the-middle; choose one that has"):
        await desk.ask()
    desk.warm()
    await desk.settled()
    assert (desk.engine.foreground_requests, desk.background_requests) == ([], [])


async def test_a_place_from_the_last_session_is_evaluated_again_for_the_user() -> None:
    desk = Desk(FAR + AREA)
    desk.engine.held = True
    desk.warm(seen=False)
    await desk.engine.begun_ahead.wait()
    desk.warm()
    desk.engine.held = False
    await desk.settled()
    glanced, short, full = desk.background_requests
    assert glanced.context == short.context != full.context


async def test_a_small_document_has_one_prompt_to_warm() -> None:
    desk = Desk(AREA)
    desk.warm()
    await desk.settled()
    assert len(desk.background_requests) == 1


async def test_a_place_is_warmed_once_and_only_the_last_place() -> None:
    desk = Desk(AREA)
    desk.warm()
    desk.warm()
    desk.cursor = 3
    desk.warm()
    await desk.settled()
    assert [request.context.prefix for request in desk.background_requests] == ["def"]


async def test_a_running_completion_is_not_disturbed() -> None:
    desk = Desk(AREA, {"hang": True})
    task = asyncio.ensure_future(desk.ask())
    await desk.engine.started.wait()
    desk.cursor = 3
    desk.warm()
    await desk.settled()
    assert desk.background_requests == []
    assert not task.done()
    task.cancel()
    await asyncio.wait({task})


async def test_accepting_a_suggestion_does_not_end_its_speculation() -> None:
    desk = Desk(AREA, "3 * r", {"text": " + 1", "background": True})
    result = await desk.ask()
    assert result
    desk.type(result.text)
    desk.warm()
    await desk.settled()
    assert [request.sampling.n_predict > 0 for request in desk.background_requests] == [True]


async def test_an_answer_from_a_short_prompt_has_the_full_one_warmed() -> None:
    desk = Desk(FAR + AREA, {"text": "3 * r", "rung": 2}, settings=Completion(speculate=False, patience_ms=0))
    result = await desk.ask(automatic=True)
    assert result
    assert result.stats["rung"] == 2
    assert result.stats["prompt_tokens"] < 60
    await desk.settled()
    [request] = desk.background_requests
    [outcome] = desk.engine.foreground_requests
    assert isinstance(outcome, Infill)
    assert (request.context, request.sampling.n_predict, request.shorter) == (outcome.context, 0, ())


async def test_the_continuation_of_a_short_answer_is_generated_after_the_full_prompt_is_warm() -> None:
    desk = Desk(FAR + AREA, {"text": "3 * r", "rung": 2}, {"text": " + 1", "background": True})
    result = await desk.ask()
    assert result
    await desk.settled()
    await desk.settled()
    assert [request.sampling.n_predict > 0 for request in desk.background_requests] == [False, True]
    desk.type(result.text)
    again = await desk.ask()
    assert again
    assert again.stats["cached"]


async def test_a_request_uses_a_warming_that_still_runs() -> None:
    replies = [{"text": text, "rung": 1} for text in ("3 * r", "4 * r")]
    desk = Desk(FAR + AREA, *replies, settings=Completion(speculate=False))
    desk.engine.held = True
    await desk.ask()
    await desk.engine.begun_ahead.wait()
    desk.type("2 + ")
    await desk.ask()
    assert len(desk.background_requests) == 1
    desk.completer.stop_background()


async def test_without_warming_only_the_short_prompt_is_evaluated() -> None:
    desk = Desk(FAR + AREA, {"text": "3 * r", "rung": 2}, settings=Completion(speculate=False, warm=False))
    await desk.ask()
    await desk.settled()
    assert desk.background_requests == []


async def test_an_error_of_the_engine_while_warming_is_ignored() -> None:
    desk = Desk(AREA, "3 * r", {"error": "out of memory", "background": True})
    assert await desk.ask()
    await desk.settled()
    assert len(desk.background_requests) == 1


async def test_closing_a_document_ends_its_background_work() -> None:
    desk = Desk(AREA, "3 * r", {"hang": True, "background": True})
    await desk.ask()
    await desk.engine.begun_ahead.wait()
    desk.completer.close(desk.document.uri)
    await desk.engine.ended_ahead.wait()
    await desk.completer.aclose()


# -- secrets and trust
@pytest.mark.parametrize("data", [b"x\0y", b"# " + b"x" * MAX_TEXT_BYTES])
async def test_a_binary_or_enormous_text_is_not_warmed(data: bytes) -> None:
    desk = Desk(AREA)
    desk.document = Document.from_text("file:///a.py", data, language="python")
    desk.warm()
    await desk.settled()
    assert desk.background_requests == []


@pytest.mark.parametrize("path", [".env", "deploy/server.pem"])
async def test_a_file_with_a_secret_name_gets_no_suggestion(path: str) -> None:
    desk = Desk("KEY=<|>\n", path=path)
    desk.warm()
    await desk.settled()
    assert await desk.ask() is None
    assert desk.background_requests == desk.engine.foreground_requests == []


async def test_beside_a_secret_no_work_is_done_ahead_and_no_prompt_is_saved() -> None:
    desk = Desk(f"key = '{TOKEN}'\n\n{AREA}", "3 * r")
    desk.warm()
    result = await desk.ask()
    assert result
    await desk.settled()
    assert desk.background_requests == []
    [request] = desk.engine.foreground_requests
    assert isinstance(request, Infill)
    assert not request.owner.persist
    assert TOKEN not in repr(request)


async def test_a_line_with_a_secret_gets_no_suggestion() -> None:
    desk = Desk(f"key = '{TOKEN}'<|>\n")
    assert await desk.ask() is None


async def test_a_prompt_that_may_be_saved_names_its_document() -> None:
    desk = Desk(AREA, "3 * r")
    await desk.ask()
    await desk.settled()
    owners = {request.owner for request in (*desk.engine.foreground_requests, *desk.engine.background_requests)}
    assert {(owner.persist, owner.affinity) for owner in owners} == {(True, desk.document.uri)}
