"""Tests of ghost text: the shown text, the replaced text, and answers without the model."""

import asyncio
from typing import Any

import pytest

from lsp_harness.completion.completer import Completer
from lsp_harness.completion.displayed_suggestions import MAX_RECENT_SUGGESTIONS
from lsp_harness.completion.text_generation import find_valid_start
from lsp_harness.config.schema import Completion, Config
from lsp_harness.errors import EngineError, RequestSuperseded
from lsp_harness.inference.request import Infill
from lsp_harness.kernel.results import Suggestion
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit, apply
from lsp_harness.text.position import decode, encode
from tests.harness.tools import Script, make_settings
from tests.support import markup
from tests.support.desk import Desk

AREA = "def area(r):\n    return <|>\n"
SHORT = make_settings(completion={"outline_tokens": 0})


async def ask(completer: Desk, document: Document, offset: int, *, automatic: bool = False) -> Suggestion | None:
    path = document.uri.rsplit("/", 1)[-1]
    return await completer.complete(document, parse(document), offset, path, automatic=automatic)


async def check(
    source: str, *replies: Any, path: str = "a.py", config: Config | None = None, dedent: bool = True
) -> str | None:
    """Return the text that is shown at the cursor. Every reply must have been used."""
    src = markup.parse(source, path)
    engine = Script(*replies)
    result = await ask(Desk(Completer(engine, (config or Config()).completion)), src.document, src.cursor)
    await engine.aclose()
    assert result is None or (result.start, result.end) == (src.cursor, src.cursor)
    return result.text if result else None


def type_text(document: Document, offset: int, text: str) -> tuple[Document, int]:
    """Type `text` at the byte `offset`. Return the new document and the cursor after the text."""
    new = encode(text)
    return document.apply_edit(Edit(offset, offset, new), document.version + 1), offset + len(new)


# -- shown
async def test_the_answer_of_the_model_is_shown_at_the_cursor() -> None:
    assert await check(AREA, "3.14 * r ** 2") == "3.14 * r ** 2"


async def test_the_request_is_an_infill_with_the_limits_of_the_settings() -> None:
    src = markup.parse("import math\n\n\n" + AREA)
    engine = Script("3")
    config = make_settings(completion={"max_tokens": 7, "latency_ms": 99})
    await ask(Desk(Completer(engine, config.completion)), src.document, src.cursor, automatic=True)
    [request] = engine.foreground_requests
    assert isinstance(request, Infill)
    assert (request.context.prefix, request.context.suffix) == ("import math\n\n\ndef area(r):\n    return ", "\n")
    assert (request.sampling.n_predict, request.sampling.t_max_predict_ms) == (7, 2 * 99)
    assert (request.sampling.temperature, request.priority) == (0.0, "interactive")


async def test_a_suggestion_carries_the_figures_of_its_request() -> None:
    src = markup.parse(AREA)
    completer = Desk(Completer(Script("3 * r"), SHORT.completion))
    result = await ask(completer, src.document, src.cursor)
    assert result
    assert {k: v for k, v in result.stats.items() if not k.endswith("ms")} == {
        "prompt_tokens": 3,
        "evaluated": 3,
        "reused": 0,
        "generated": 3,
    }
    assert 0 <= result.stats["waited_ms"] + result.stats["engine_ms"] <= result.stats["ms"] + 0.1
    assert completer.last_figures == result.stats | {"id": result.id}


@pytest.mark.parametrize("reply", ["", "   ", "\n\n", "<|endoftext|>"])
async def test_an_empty_answer_shows_no_suggestion(reply: str) -> None:
    assert await check(AREA, reply) is None


async def test_a_text_that_breaks_the_syntax_is_dropped() -> None:
    assert await check(AREA, "3 * ) r") is None
    assert await check("let x = <|>;\n", "1 ] + 1", path="a.js") is None


async def test_a_block_is_shown_up_to_its_first_broken_line() -> None:
    source = "def area(r):\n    <|>\n"
    assert await check(source, "x = 1\n    y = 2\n    z = = 3\n") == "x = 1\n    y = 2"


async def test_a_text_that_is_only_unfinished_is_shown() -> None:
    assert await check("x = <|>", "foo(1,", config=SHORT) == "foo(1,"


async def test_without_a_grammar_a_suggestion_is_not_checked_for_syntax() -> None:
    assert await check("some <|>\n", "words ) here", path="notes.txt") == "words ) here"


def test_a_broken_file_is_not_blamed_on_the_suggestion() -> None:
    src = markup.parse("x = = 1\ny = <|>\n")
    tree = parse(src.document)
    assert tree
    assert find_valid_start(tree, src.cursor, "2") == "2"
    assert find_valid_start(tree, src.cursor, ") 2") is None


# -- fidelity
async def test_a_suggestion_has_the_line_ends_and_tabs_of_its_document() -> None:
    go = "package a\r\n\r\nfunc f() {\r\n\t<|>\r\n}\r\n"
    result = await check(go, "x := 1\n\tif x > 0 {\n\t\tg(x)\n\t}", path="a.go")
    assert result == "x := 1\r\n\tif x > 0 {\r\n\t\tg(x)\r\n\t}"
    src = markup.parse(go, "a.go")
    text = decode(apply(src.document.data, [Edit(src.cursor, src.cursor, encode(result))]))
    assert text.count("\r\n") == text.count("\n")


async def test_wide_characters_before_the_cursor_do_not_move_a_suggestion() -> None:
    assert await check("é = '😀漢'; y = <|>\n", "é + '😀'") == "é + '😀'"


async def test_an_empty_document_can_be_completed() -> None:
    assert await check("<|>", "import os") == "import os"


# -- nothing at all
@pytest.mark.parametrize("data", [b"x\0y", b"# " + b"x" * MAX_TEXT_BYTES])
async def test_a_binary_or_enormous_text_is_not_completed(data: bytes) -> None:
    document = Document.from_text("file:///a.py", data, language="python")
    assert await Desk(Completer(Script(), Completion())).complete(document, None, 1, "a.py") is None


# -- typing along
async def test_typing_the_shown_text_does_not_ask_the_model() -> None:
    src = markup.parse(AREA)
    engine = Script("3.14 * r ** 2")
    completer = Desk(Completer(engine, Completion()))
    await ask(completer, src.document, src.cursor)
    document, cursor, result = src.document, src.cursor, None
    for char in "3.14 ":
        document, cursor = type_text(document, cursor, char)
        result = await ask(completer, document, cursor)
        assert result
        assert (result.start, result.stats["typed_along"], result.stats["evaluated"]) == (cursor, True, 0)
    assert result
    assert result.text == "* r ** 2"
    assert completer.find(document.uri, result.id)
    await engine.aclose()


async def test_the_rest_of_a_suggestion_fits_behind_a_bracket_that_the_editor_closes() -> None:
    src = markup.parse("area = pow<|>\n")
    completer = Desk(Completer(Script("(r, 2)"), Completion()))
    assert await ask(completer, src.document, src.cursor)
    document, end = type_text(src.document, src.cursor, "()")
    result = await ask(completer, document, end - 1)
    assert result
    assert (result.text, result.start, result.stats["typed_along"]) == ("r, 2", end - 1, True)


async def test_a_second_request_at_the_same_place_does_not_ask_the_model() -> None:
    src = markup.parse(AREA)
    completer = Desk(Completer(Script("3 * r"), Completion()))
    first = await ask(completer, src.document, src.cursor)
    again = await ask(completer, src.document, src.cursor)
    assert first
    assert again
    assert first.text == again.text


async def test_typing_another_text_asks_the_model_again() -> None:
    src = markup.parse(AREA)
    engine = Script("3 * r", "r * 4")
    completer = Desk(Completer(engine, Completion()))
    await ask(completer, src.document, src.cursor)
    result = await ask(completer, *type_text(src.document, src.cursor, "4 + "))
    assert result
    assert result.text == "r * 4"


async def test_a_request_after_the_typed_suggestion_asks_the_model_again() -> None:
    src = markup.parse(AREA)
    engine = Script("3 * r", " + 1")
    completer = Desk(Completer(engine, Completion()))
    await ask(completer, src.document, src.cursor)
    result = await ask(completer, *type_text(src.document, src.cursor, "3 * r"))
    assert result
    assert (result.text, len(engine.foreground_requests)) == (" + 1", 2)


async def test_a_change_elsewhere_asks_the_model_again() -> None:
    src = markup.parse(AREA)
    completer = Desk(Completer(Script("3 * r", "4 * r"), Completion()))
    await ask(completer, src.document, src.cursor)
    document, _ = type_text(src.document, 0, "# new\n")
    result = await ask(completer, document, src.cursor + len("# new\n"))
    assert result
    assert result.text == "4 * r"


# -- one at a time
async def test_a_newer_request_for_the_document_answers_and_the_older_is_superseded() -> None:
    src = markup.parse(AREA)
    engine = Script({"text": "3", "hang": True}, " * r")
    completer = Desk(Completer(engine, Completion()))
    older = asyncio.ensure_future(ask(completer, src.document, src.cursor))
    await engine.started.wait()
    newer = await ask(completer, *type_text(src.document, src.cursor, "4"))
    assert newer
    with pytest.raises(RequestSuperseded):
        await older
    assert engine.closed == 2


async def test_many_requests_in_a_burst_leave_one_answer() -> None:
    src = markup.parse(AREA)
    engine = Script("1 * r", "2 * r", "3 * r")
    completer = Desk(Completer(engine, Completion()))
    burst = [ask(completer, src.document, src.cursor) for _ in range(5)]
    results = await asyncio.gather(*burst, return_exceptions=True)
    assert [isinstance(result, RequestSuperseded) for result in results] == [True] * 4 + [False]


async def test_requests_for_other_documents_go_on() -> None:
    item, other = markup.parse(AREA, "a.py"), markup.parse(AREA, "b.py")
    engine = Script("1 * r", "2 * r")
    completer = Desk(Completer(engine, Completion()))
    result = await asyncio.gather(
        ask(completer, item.document, item.cursor), ask(completer, other.document, other.cursor)
    )
    assert sorted(suggestion.text for suggestion in result if suggestion) == ["1 * r", "2 * r"]


async def test_a_cancelled_request_closes_the_stream_and_is_not_called_superseded() -> None:
    src = markup.parse(AREA)
    engine = Script({"hang": True}, "3 * r")
    completer = Desk(Completer(engine, Completion()))
    task = asyncio.ensure_future(ask(completer, src.document, src.cursor))
    await engine.started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await engine.ended.wait()
    result = await ask(completer, src.document, src.cursor)
    assert result
    assert result.text == "3 * r"


async def test_closing_a_document_ends_its_request_and_forgets_its_suggestions() -> None:
    src = markup.parse(AREA)
    engine = Script("3 * r", {"hang": True})
    completer = Desk(Completer(engine, Completion()))
    result = await ask(completer, src.document, src.cursor)
    assert result
    engine.started.clear()
    task = asyncio.ensure_future(ask(completer, *type_text(src.document, src.cursor, "x")))
    await engine.started.wait()
    completer.close(src.document.uri)
    assert completer.find(src.document.uri, result.id) is None
    with pytest.raises((RequestSuperseded, asyncio.CancelledError)):
        await task


async def test_an_engine_error_is_raised_to_the_caller() -> None:
    src = markup.parse(AREA)
    engine = Script({"error": "out of memory"}, "3 * r")
    completer = Desk(Completer(engine, Completion()))
    with pytest.raises(EngineError, match="out of memory"):
        await ask(completer, src.document, src.cursor)
    assert await ask(completer, src.document, src.cursor)


async def test_the_last_suggestions_of_a_document_are_known_with_the_text_each_was_made_for() -> None:
    src = markup.parse(AREA)
    completer = Desk(Completer(Script(*[f"{n} * r" for n in range(MAX_RECENT_SUGGESTIONS + 1)]), Completion()))
    document, cursor, result = src.document, src.cursor, list[tuple[Document, Suggestion]]()
    for _ in range(MAX_RECENT_SUGGESTIONS + 1):
        suggestion = await ask(completer, document, cursor)
        assert suggestion
        result.append((document, suggestion))
        document, cursor = type_text(document, cursor, "9 + ")
    forgotten, *entry = result
    assert completer.find(document.uri, forgotten[1].id) is None
    output = [completer.find(document.uri, suggestion.id) for _, suggestion in entry]
    assert [(item.document, item.suggestion) for item in output if item] == entry


async def test_the_rest_of_a_suggestion_is_the_same_one() -> None:
    src = markup.parse(AREA)
    completer = Desk(Completer(Script("3 * r"), Completion()))
    first = await ask(completer, src.document, src.cursor)
    document, cursor = type_text(src.document, src.cursor, "3 ")
    rest = await ask(completer, document, cursor)
    assert first
    assert rest
    assert (rest.id, rest.text) == (first.id, "* r")
    result = completer.find(document.uri, first.id)
    assert result
    assert result.document == document
