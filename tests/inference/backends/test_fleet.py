"""Tests of the choice among several servers, and of servers that fail."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from lsp_harness.errors import EngineBusy, EngineUnavailable
from lsp_harness.inference.backends.endpoint import Endpoint, RetryableError, SilenceLimits
from lsp_harness.inference.backends.fleet import FIRST_RETRY_WAIT_S, MAX_REQUESTED_WAIT_S, MAX_RETRY_WAIT_S, Fleet
from lsp_harness.inference.backends.server_supply import ModelServer
from lsp_harness.inference.target import Target

KEYS = [f"file:///src/module_{n}.py" for n in range(600)]
LOST_SERVER = RetryableError(EngineUnavailable("gone"), server_lost=True)
BUSY = RetryableError(EngineBusy("later"), server_lost=False)


class Clock:
    """A clock whose sleeps end when the test says so."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.wakes: list[asyncio.Event] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.wakes.append(asyncio.Event())
        await self.wakes[-1].wait()

    async def at_once(self, seconds: float) -> None:
        self.slept.append(seconds)


def make_fleet(names: str, **more: Any) -> Fleet:
    servers = [ModelServer(Endpoint(Target(base=f"http://{name}:1"), SilenceLimits())) for name in names]
    return Fleet(servers, more.pop("retries", 3), **{"jitter": lambda low, high: high, **more})


def find_first_server(fleet: Fleet, key: str) -> str:
    return fleet.available_servers(key)[0].endpoint.name


def test_a_key_always_has_the_same_server():
    assert [find_first_server(make_fleet("abc"), key) for key in KEYS] == [
        find_first_server(make_fleet("cab"), key) for key in KEYS
    ]


def test_keys_are_spread():
    counts = Counter(find_first_server(make_fleet("abc"), key) for key in KEYS)

    assert len(counts) == 3
    assert min(counts.values()) > 120


async def test_only_the_keys_of_a_failed_server_move_and_later_return():
    three, clock = make_fleet("abc", sleep=Clock().sleep), Clock()
    three.sleep = clock.sleep
    before = {key: find_first_server(three, key) for key in KEYS}
    down = three.servers[0]

    three.mark_failed(down)
    meanwhile = {key: find_first_server(three, key) for key in KEYS}
    moved = [key for key in KEYS if meanwhile[key] != before[key]]
    three.mark_healthy(down)

    assert moved == [key for key in KEYS if before[key] == down.endpoint.name]
    assert len({meanwhile[key] for key in moved}) == 2
    assert {key: find_first_server(three, key) for key in KEYS} == before
    await three.aclose()


async def test_health_brings_a_server_back(monkeypatch: pytest.MonkeyPatch):
    clock, answers = Clock(), [False, False, True]
    two = make_fleet("ab", sleep=clock.sleep)
    down = two.servers[0]

    async def healthy(self: Endpoint) -> bool:
        assert self is down.endpoint
        return answers.pop(0)

    monkeypatch.setattr(Endpoint, "is_healthy", healthy)
    two.mark_failed(down)
    two.mark_failed(down)
    for number in range(3):
        while len(clock.wakes) == number:  # noqa: ASYNC110 - there is no event
            await asyncio.sleep(0)
        assert down not in two.available_servers("k")
        clock.wakes[number].set()
    while down not in two.available_servers("k"):  # noqa: ASYNC110 - there is no event
        await asyncio.sleep(0)

    assert clock.slept == [0.5, 1.0, 2.0]
    await two.aclose()


async def test_a_request_moves_to_the_next_server_at_once_and_waits_after_the_last():
    clock = Clock()
    two = make_fleet("ab", sleep=clock.at_once)
    order = [server.endpoint.name for server in two.ranked_servers("k")]
    attempts, result = two.attempts("k"), list[str]()
    while True:
        result.append((await attempts.next_server()).endpoint.name)
        if not await attempts.may_retry(BUSY):
            break

    assert result == [*order, *order]
    assert clock.slept == [FIRST_RETRY_WAIT_S]


async def test_waits_double_up_to_a_limit():
    clock = Clock()
    attempts = make_fleet("a", sleep=clock.at_once, retries=8).attempts("k")
    for _ in range(8):
        await attempts.next_server()
        assert await attempts.may_retry(BUSY)
    await attempts.next_server()

    assert not await attempts.may_retry(BUSY)
    assert clock.slept == [min(FIRST_RETRY_WAIT_S * 2**n, MAX_RETRY_WAIT_S) for n in range(8)]


async def test_a_short_delay_that_a_server_requests_is_waited():
    clock = Clock()
    attempts = make_fleet("a", sleep=clock.at_once).attempts("k")
    await attempts.next_server()

    assert await attempts.may_retry(RetryableError(EngineBusy(""), server_lost=False, wait_s=7))
    await attempts.next_server()
    assert not await attempts.may_retry(
        RetryableError(EngineBusy(""), server_lost=False, wait_s=MAX_REQUESTED_WAIT_S + 1)
    )
    assert clock.slept == [7]


async def test_if_all_servers_are_down_the_first_is_asked():
    two = make_fleet("ab", sleep=Clock().sleep)
    for server in two.servers:
        two.mark_failed(server)

    assert two.available_servers("k") == two.ranked_servers("k")
    attempts = two.attempts("k")
    server = await attempts.next_server()
    attempts.report_success(server)
    assert two.available_servers("k") == [server]
    await two.aclose()


async def test_a_single_server_is_always_asked():
    clock = Clock()
    alone = make_fleet("a", sleep=clock.sleep)
    alone.mark_failed(alone.servers[0])

    assert alone.available_servers("k") == list(alone.servers)
    assert clock.slept == []
