"""Helpers for tests of the scheduler: a model whose steps wait for the test, and a record of how requests ended."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

from lsp_harness.engine.cache.kv_cache import CacheLimits, KvCache
from lsp_harness.engine.decode.llama import Aborted, Llama, TokenRow
from lsp_harness.engine.decode.model_runtime import Prompt, TokenRequest
from lsp_harness.engine.decode.scheduler import Scheduler
from lsp_harness.inference.request import Owner, Priority, Sampling, Usage


class GatedLlama:
    """The tiny model. It logs the clients of each step, and its steps wait until the test sets `open`."""

    def __init__(self, llama: Llama) -> None:
        self.llama = llama
        self.kv = KvCache(llama, CacheLimits(cells=llama.n_ctx, slots=llama.n_seq))
        self.log: list[dict[str, int]] = []
        self.loop = asyncio.get_running_loop()
        self.at_work = asyncio.Event()
        self.open = threading.Event()
        self.waits = False
        self.broken = ""
        self.abortable = False
        self.should_abort: Callable[[], bool] = lambda: False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.llama, name)

    def decode(self, rows: Sequence[TokenRow]) -> None:
        clients = {self.kv.slots[row.seq].client: len(row.tokens) for row in rows}
        self.log.append(clients)
        self.loop.call_soon_threadsafe(self.at_work.set)
        while not self.open.wait(0.001):
            self.waits = True
            if self.abortable and self.should_abort():
                self.log[-1] = {"aborted": self.log[-1].popitem()[1]}
                raise Aborted
        if self.broken in clients:
            raise ZeroDivisionError("oh")
        self.llama.decode(rows)


class EndRecorder:
    """An observer that records how requests ended."""

    def __init__(self) -> None:
        self.ends: list[tuple[Priority, str, int]] = []
        self.usages: list[Usage] = []
        self.looks: Callable[[], None] = lambda: None

    def record_request(
        self,
        priority: Priority,
        outcome: str,
        usage: Usage,
        waited_ms: float,
        first_token_ms: float | None,
        total_ms: float,
    ) -> None:
        assert 0 <= waited_ms <= total_ms
        assert (first_token_ms is not None) == (usage.generated > 0)
        self.ends.append((priority, outcome, usage.generated))
        self.usages.append(usage)
        self.looks()


def make_request(name: str, steps: int = 2, prompt: int = 1, **sampling: Any) -> TokenRequest:
    tokens = [10 + len(name) + sum(map(ord, name)) % 200] * prompt
    return TokenRequest((Prompt(tokens),), Sampling(n_predict=steps, lookup=False, **sampling), Owner(name, name))


async def read_all_ends(scheduler: Scheduler, item: TokenRequest, priority: Priority = "normal") -> list[str]:
    """Return why each candidate ended, in the order of their ends."""
    return [str(chunk.stop) async for chunk in scheduler.submit(item, priority) if chunk.stop]


async def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for a condition. The time limit of the test run ends the wait."""
    while not condition():  # noqa: ASYNC110 - there is no event
        await asyncio.sleep(0)
