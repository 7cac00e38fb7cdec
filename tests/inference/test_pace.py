"""Tests of the size of a completion on a slow and on a fast machine."""

from typing import Any

import pytest

from lsp_harness.completion.completer import Completer
from lsp_harness.config.schema import Completion
from lsp_harness.inference.pace import Pace, PaceMonitor
from lsp_harness.inference.request import Infill, Props
from lsp_harness.syntax.tree import parse
from tests.harness.tools import Script
from tests.support import markup
from tests.support.desk import Desk

SLOW = {"curve": {"prompt_per_second": 130, "generated_per_second": 18, "decode_ms": {"1": 55}, "candidates": 5}}
QUICK = {"curve": {"prompt_per_second": 4000, "generated_per_second": 90, "decode_ms": {"1": 11}, "candidates": 16}}


def test_a_slow_machine_writes_less_and_reads_little_after_a_jump() -> None:
    slow, settings = Pace.from_props(SLOW), Completion()
    assert slow.budget_ms(settings) == 345
    assert slow.prompt_token_limit(settings) == 44
    assert (slow.n_predict(settings), slow.line_end_limit_ms(settings), slow.generation_limit_ms(settings)) == (
        36,
        800,
        2000,
    )


def test_a_quick_machine_is_limited_only_by_the_settings() -> None:
    quick, settings = Pace.from_props(QUICK), Completion()
    assert quick.prompt_token_limit(settings) > 1000
    assert quick.n_predict(settings) == settings.max_tokens


def test_a_very_slow_machine_still_writes_a_line() -> None:
    snail, settings = Pace(generated_per_second=4, step_ms=500), Completion()
    assert (snail.n_predict(settings), snail.generation_limit_ms(settings)) == (16, 4000)
    assert snail.budget_ms(settings) == 200


def test_patience_is_a_setting() -> None:
    patient = Completion(latency_ms=1000)
    assert Pace.from_props(SLOW).prompt_token_limit(patient) == 122
    assert Pace.from_props(SLOW).n_predict(patient) == 64


@pytest.mark.parametrize(
    "props", [{}, {"curve": None}, {"curve": {"prompt_per_second": "fast", "generated_per_second": 0, "decode_ms": []}}]
)
def test_an_engine_without_a_known_speed_has_no_token_limit(props: dict[str, Any]) -> None:
    assert Pace.from_props(props) == Pace()
    assert Pace().n_predict(Completion()) == 64


class CountingScript(Script):
    """An engine that counts the requests for its figures."""

    def __init__(self, *replies: Any, facts: dict[str, Any]) -> None:
        super().__init__(*replies)
        self.extra_props, self.told = facts, 0

    async def props(self) -> Props:
        self.told += 1
        return await super().props()


async def test_the_speed_is_requested_once_and_again_after_a_while() -> None:
    now = 100.0
    engine = CountingScript(facts=SLOW)
    pacer = PaceMonitor(engine, lambda: now)
    assert await pacer.current() == await pacer.current() == Pace.from_props(SLOW)
    engine.extra_props, now = QUICK, now + 59
    assert (await pacer.current(), engine.told) == (Pace.from_props(SLOW), 1)
    now += 2
    assert (await pacer.current(), engine.told) == (Pace.from_props(QUICK), 2)


async def test_a_request_is_shortened_for_a_slow_machine() -> None:
    long = "".join(f"def f{n}(a, b):\n    x = a + b\n    return x * {n}\n" for n in range(60))
    src = markup.parse(long + "y = <|>\n")
    items: list[Infill] = []
    for facts in (SLOW, QUICK):
        engine = CountingScript("1", facts=facts)
        place = (src.document, parse(src.document), src.cursor, "a.py")
        await Desk(Completer(engine, Completion())).complete(*place, automatic=True)
        [request] = engine.foreground_requests
        assert isinstance(request, Infill)
        items.append(request)
    slow, quick = items
    assert (slow.budget_ms, quick.budget_ms) == (345, 389)
    assert (slow.sampling.n_predict, quick.sampling.n_predict) == (36, 64)
    # whatever is warm is used in full
    assert slow.context == quick.context
    assert slow.context.extra
    assert len(slow.shorter[-1].prefix) < len(quick.shorter[-1].prefix)


async def test_a_line_that_takes_too_long_is_shown_in_part() -> None:
    src = markup.parse("def area(r):\n    return <|>\n")
    engine = Script({"text": "3.14 * r", "hang": True})
    suggestion = await Desk(Completer(engine, Completion(latency_ms=1))).complete(
        src.document, parse(src.document), src.cursor, "a.py", automatic=True
    )
    assert suggestion
    assert (suggestion.text, engine.closed) == ("3.14 * r", 1)
