"""How many suggestions a user gets who asks for them."""

from tests.harness.bench import Bench, Make
from tests.harness.tools import make_settings
from tests.support import markup

RETURN = "def area(r):\n    return <|>\n"
THREE = make_settings(completion={"alternatives": 3, "speculate": False})


async def ask(b: Bench, src: markup.Source, at: int) -> list[str]:
    suggestions = await b.harness.completions.complete(b.harness.snapshot(src.document.uri), at, automatic=False)
    return [suggestion.text for suggestion in suggestions]


async def test_the_most_likely_suggestion_is_shown_before_the_others(bench: Make) -> None:
    b = bench("3 * r", "r ** 2", "2 * r", config=THREE)
    src = b.open(RETURN)
    assert await ask(b, src, src.cursor) == ["3 * r"]
    assert len(b.engine.foreground_requests) == 1
    # asked again where it is displayed
    assert await ask(b, src, src.cursor) == ["3 * r", "r ** 2", "2 * r"]


async def test_an_ordinary_request_at_another_place_gets_one_suggestion(bench: Make) -> None:
    b = bench("3 * r", "* 3", config=THREE)
    src = b.open(RETURN)
    assert await ask(b, src, src.cursor) == ["3 * r"]
    assert await ask(b, src, b.type(src, "r ", src.cursor)) == ["* 3"]


async def test_if_the_most_likely_one_is_rejected_the_others_are_shown_at_once(bench: Make) -> None:
    b = bench(") (", "r ** 2", "2 * r", config=THREE)
    src = b.open(RETURN)
    assert await ask(b, src, src.cursor) == ["r ** 2", "2 * r"]
