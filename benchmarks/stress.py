"""Many mixed requests with cancels, deadlines and disconnects, and an engine that is killed under them.

    python -m benchmarks.stress [--requests 10000] [--kills 200] [--real]

Every request must have exactly one outcome, and after all of them nothing may be left behind: no request pending, no
sequence busy, no file descriptor and no memory more than after the first fifth. The tiny random model by default,
which shows plumbing only; `--real` takes the configured one.
"""

import argparse
import asyncio
import os
import random
import signal
import sys
import tempfile
from collections import Counter
from contextlib import aclosing
from pathlib import Path
from time import perf_counter
from typing import Any, cast

import psutil

from lsp_harness.config.schema import Config, EngineSettings, ModelSettings
from lsp_harness.errors import EngineError
from lsp_harness.inference.client import EngineClient
from lsp_harness.inference.request import PRIORITIES, Continuation, Infill, InfillContext, Owner, Sampling
from tests.support.tiny import tiny_gguf

WORDS = ["def", "return", "value", "self", "class", "in", "(", ")", ":", "\n", "   ", ",", "=", "'text'", "#", "é"]
AT_ONCE = 12
HANGS_AFTER = 120.0


def draw_request(chance: random.Random) -> tuple[Continuation | Infill, str]:
    """Draw a request, and whether the caller will leave early."""
    text = " ".join(chance.choice(WORDS) for _ in range(chance.choice((2, 10, 40, 300))))
    grammar = 'root ::= "yes" | "no"' if chance.random() < 0.1 else ""
    sampling = Sampling(
        n_predict=chance.choice((0, 1, 8, 32, 64)),
        temperature=chance.choice((0.0, 0.8)),
        seed=chance.randrange(1000),
        n=1 if chance.random() < 0.8 else chance.randrange(2, 6),
        grammar=grammar,
        stop=("\n",) if chance.random() < 0.3 else (),
        t_max_predict_ms=chance.choice((0, 0, 5, 50)),
    )
    owner = Owner(f"client{chance.randrange(6)}", f"r{chance.random()}", persist=chance.random() < 0.5)
    priority = chance.choice(PRIORITIES)
    leaves = "early" if chance.random() < 0.25 else ""
    if chance.random() < 0.5:
        return Continuation(text, sampling, priority, owner), leaves
    around = InfillContext(text, " ".join(chance.choice(WORDS) for _ in range(20)))
    return Infill(around, sampling=sampling, priority=priority, owner=owner), leaves


async def run_request(client: EngineClient, chance: random.Random) -> str:
    asked, leaves = draw_request(chance)
    left = asked.sampling.n
    patience = chance.randrange(4)
    try:
        async with asyncio.timeout(HANGS_AFTER), aclosing(cast("Any", client.stream(asked))) as chunks:
            async for chunk in chunks:
                if leaves:
                    patience -= 1
                    if patience < 0:
                        return "left"
                left -= chunk.stop is not None
    except EngineError as error:
        return type(error).__name__
    except TimeoutError:
        return "HANGS"
    return "answered" if left == 0 else "INCOMPLETE"


async def run_many_requests(
    client: EngineClient, count: int, chance: random.Random, ends: Counter[str], what: str
) -> None:
    gate = asyncio.Semaphore(AT_ONCE)
    done = 0

    async def one(seed: int) -> None:
        nonlocal done
        async with gate:
            ends[await run_request(client, random.Random(seed))] += 1
        done += 1
        if done % 100 == 0:
            sys.stderr.write(f"\r{what}: {done}/{count} ")

    async with asyncio.TaskGroup() as group:
        for _ in range(count):
            group.create_task(one(chance.randrange(2**32)))
    sys.stderr.write("\n")


async def wait_until_settled(client: EngineClient) -> dict[str, Any]:
    """Return the properties of the engine once no request is pending."""
    while (props := (await client.props()).raw)["pending"]:  # noqa: ASYNC110 - another process
        await asyncio.sleep(0.05)
    return props


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--real", action="store_true")
    args = parser.parse_args()
    chance = random.Random(args.seed)
    ends: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LSP_HARNESS_HOME"] = folder
        model = ModelSettings() if args.real else ModelSettings(str(tiny_gguf(Path(folder) / "tiny.gguf")))
        client = EngineClient(Config(model=model, engine=EngineSettings(idle_seconds=3600)))
        began = perf_counter()
        quiet = args.requests * 7 // 10 if args.kills else args.requests
        await run_many_requests(client, quiet // 5, chance, ends, "first fifth")
        engine = psutil.Process((await wait_until_settled(client))["pid"])
        before = engine.memory_info().rss, engine.num_fds()
        await run_many_requests(client, quiet - quiet // 5, chance, ends, "the rest, nobody killed")
        props = await wait_until_settled(client)
        after = engine.memory_info().rss, engine.num_fds()
        busy = [resident for resident in props["residents"] if resident["busy"]]
        killed = 0

        async def kill() -> None:
            nonlocal killed
            while killed < args.kills:
                await asyncio.sleep(chance.random() * 3)
                pid = (await client.props()).pid
                os.kill(pid, signal.SIGKILL)
                killed += 1

        killer = asyncio.create_task(kill())
        rest = args.requests - quiet
        while rest > 0 or not killer.done():
            if killer.done():
                await killer
            part = max(1, min(rest, 300)) if rest > 0 else 50
            await run_many_requests(client, part, chance, ends, f"killed {killed}")
            rest -= part
        last = await wait_until_settled(client)
        os.kill(last["pid"], signal.SIGTERM)
        await client.aclose()
    print(
        f"{sum(ends.values())} requests in {perf_counter() - began:.0f} s, engine killed {killed} times: {dict(ends)}"
    )
    print(f"memory {before[0] / 2**20:.0f} → {after[0] / 2**20:.0f} MiB, descriptors {before[1]} → {after[1]}")
    print(f"busy sequences left: {len(busy) + sum(r['busy'] for r in last['residents'])}")
    bad = ends["HANGS"] + ends["INCOMPLETE"]
    if bad or busy or after[1] > before[1] + 2 or after[0] > before[0] * 1.1:
        sys.exit("NOT as it should be")


if __name__ == "__main__":
    asyncio.run(main())
