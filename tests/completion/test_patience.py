"""How long a user waits for a prompt: not at all while typing, longer if a short prompt is not enough, and for the full
prompt if they ask for a suggestion."""

from typing import Any

from lsp_harness.completion.completer import Completer
from lsp_harness.config.schema import Completion
from lsp_harness.inference.request import Infill
from lsp_harness.kernel.results import Suggestion
from lsp_harness.syntax.tree import parse
from tests.harness.tools import Script
from tests.support import markup
from tests.support.desk import Desk

FAR = "".join(f"def step_{n}(width, height):\n    return width * {n}\n\n\n" for n in range(60))
AREA = FAR + "def area(r):\n    return <|>\n"


class CompletionPlace:
    """A place in a long file, and the engine that completes it."""

    def __init__(self, *replies: Any, **settings: Any) -> None:
        self.source = markup.parse(AREA)
        self.engine = Script(*replies)
        self.completer = Desk(Completer(self.engine, Completion(**settings)))

    async def ask(self, *, automatic: bool) -> Suggestion | None:
        document = self.source.document
        place = (document, parse(document), self.source.cursor, "a.py")
        return await self.completer.complete(*place, automatic=automatic)

    @property
    def requests(self) -> list[Infill]:
        return [request for request in self.engine.foreground_requests if isinstance(request, Infill)]


def make_short_reply(text: str, probability: float | None) -> dict[str, Any]:
    """Return a reply to the shortest prompt, with the probability of its token."""
    return {"rung": 2, "text": text} if probability is None else {"rung": 2, "tokens": [(text, probability)]}


async def test_a_likely_answer_to_a_short_prompt_is_shown_at_once() -> None:
    place = CompletionPlace(make_short_reply("3 * r", 0.95), min_short_probability=0.9)
    suggestion = await place.ask(automatic=True)
    assert suggestion
    assert (suggestion.text, suggestion.stats["rung"]) == ("3 * r", 2)


async def test_after_an_unlikely_answer_to_a_short_prompt_a_longer_one_is_evaluated() -> None:
    place = CompletionPlace(make_short_reply("2 * r", 0.85), "3 * r", min_short_probability=0.9, patience_ms=1234)
    suggestion = await place.ask(automatic=True)
    assert suggestion
    assert suggestion.text == "3 * r"
    quick, patient = place.requests
    assert quick.budget_ms < patient.budget_ms == 1234
    assert quick.context == patient.context


async def test_an_answer_of_unknown_probability_to_a_short_prompt_is_not_shown() -> None:
    place = CompletionPlace(make_short_reply("2 * r", None), "3 * r")
    suggestion = await place.ask(automatic=True)
    assert suggestion
    assert suggestion.text == "3 * r"


async def test_without_patience_the_answer_to_the_short_prompt_is_shown() -> None:
    place = CompletionPlace(make_short_reply("2 * r", 0.85), patience_ms=0)
    suggestion = await place.ask(automatic=True)
    assert suggestion
    assert suggestion.text == "2 * r"


async def test_an_explicit_request_waits_for_the_full_prompt_without_a_limit_of_time() -> None:
    place = CompletionPlace("3 * r", max_tokens=33)
    assert await place.ask(automatic=False)
    [request] = place.requests
    assert (request.shorter, request.budget_ms) == ((), 0)
    assert (request.sampling.n_predict, request.sampling.t_max_predict_ms) == (33, 0)


async def test_an_unlikely_answer_to_a_short_prompt_is_not_finished() -> None:
    place = CompletionPlace({"rung": 2, "tokens": [("2", 0.2)], "hang": True}, "3 * r")
    suggestion = await place.ask(automatic=True)
    assert suggestion
    assert suggestion.text == "3 * r"
