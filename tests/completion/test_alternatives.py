"""Tests of several suggestions for one place, on an explicit request."""

from lsp_harness.completion.completer import Completer
from lsp_harness.inference.request import Infill
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from tests.harness.tools import Script, make_settings
from tests.support import markup
from tests.support.desk import Desk

AREA = "def area(r):\n    return <|>\n"


async def request_choices(completer: Desk, document: Document, offset: int) -> list[str]:
    suggestions = await completer.choices(document, parse(document), offset, "a.py")
    return [result.text for result in suggestions]


async def test_alternatives_are_sorted_by_likelihood_checked_and_different() -> None:
    engine = Script("3 * r", "r ** 2", "3 * r\n\ndef other():", ") (")
    src = markup.parse(AREA)
    completer = Desk(Completer(engine, make_settings().completion))

    assert await request_choices(completer, src.document, src.cursor) == ["3 * r", "r ** 2"]

    await engine.aclose()
    likeliest, others = engine.foreground_requests
    assert isinstance(others, Infill)
    assert (likeliest.sampling.n, likeliest.sampling.temperature) == (1, 0.0)
    assert (others.sampling.n, others.sampling.temperature) == (3, 0.8)
    assert others.owner.id


async def test_an_alternative_that_is_shown_is_not_requested_again() -> None:
    engine = Script("3 * r", "r ** 2")
    src = markup.parse(AREA)
    completer = Desk(Completer(engine, make_settings(completion={"alternatives": 2}).completion))
    await completer.complete(src.document, parse(src.document), src.cursor, "a.py")

    assert await request_choices(completer, src.document, src.cursor) == ["3 * r", "r ** 2"]
    assert len(engine.foreground_requests) == 2


async def test_with_one_alternative_a_request_has_one_answer() -> None:
    engine = Script("3 * r")
    src = markup.parse(AREA)
    completer = Desk(Completer(engine, make_settings(completion={"alternatives": 1}).completion))
    assert await request_choices(completer, src.document, src.cursor) == ["3 * r"]


async def test_another_alternative_is_shown_if_the_most_likely_one_is_rejected() -> None:
    engine = Script(") (", "r ** 2")
    src = markup.parse(AREA)
    completer = Desk(Completer(engine, make_settings(completion={"alternatives": 2}).completion))
    assert await request_choices(completer, src.document, src.cursor) == ["r ** 2"]


async def test_each_alternative_can_be_typed_along_and_accepted() -> None:
    engine = Script("3 * r", "r ** 2")
    src = markup.parse(AREA)
    completer = Desk(Completer(engine, make_settings(completion={"alternatives": 2}).completion))
    suggestions = await completer.choices(src.document, parse(src.document), src.cursor, "a.py")
    assert all(completer.find(src.document.uri, result.id) for result in suggestions)

    typed = src.document.apply_edit(Edit(src.cursor, src.cursor, b"r *"), 2)
    rest = await completer.complete(typed, parse(typed), src.cursor + 3, "a.py")

    assert rest
    assert rest.text == "* 2"
