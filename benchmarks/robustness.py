"""Start-up, memory, a killed engine and fast typing, with the configured (real) model.

    python -m benchmarks.robustness

Figures depend on the machine and on what else it does; run it with nothing else running.
"""

import asyncio
import os
import signal
import statistics
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import psutil

from lsp_harness.cli.lsp_client import LspClient, RpcError
from lsp_harness.config.load import load
from lsp_harness.inference.models.model_files import resolve_model

MIB = 2**20
KV_BYTES_PER_TOKEN = 12 * 1024
"""Of the 0.5B model: 24 layers, 2 heads of 64, keys and values in 16 bits."""
SOURCE = '''"""A small bank."""


class Account:
    def __init__(self, owner: str, balance: float = 0.0) -> None:
        self.owner = owner
        self.balance = balance

    def deposit(self, amount: float) -> None:
        self.balance += amount

    def withdraw(self, amount: float) -> None:
'''
TYPED_CODE = (
    "        if amount > self.balance:\n            raise ValueError('not enough money')\n"
    "        self.balance -= amount\n\n    def transfer(self, other: 'Account', amount: float) -> None:\n"
    "        self.withdraw(amount)\n        other.deposit(amount)\n\n    def __str__(self) -> str:\n"
    "        return f'{self.owner}: {self.balance}'\n"
)


async def request_status(client: LspClient) -> dict[str, Any]:
    return await client.request("workspace/executeCommand", {"command": "lspHarness.status", "arguments": []})


def end_position(text: str) -> dict[str, int]:
    return {"line": text.count("\n"), "character": len(text) - text.rfind("\n") - 1}


async def start_up(root: Path) -> None:
    times: list[float] = []
    for _ in range(10):
        async with LspClient.start(root) as client:
            times.append(client.initialize_ms)
    print(f"initialize: median {statistics.median(times):.0f} ms of 10 spawns ({min(times):.0f} to {max(times):.0f})")


async def measure_memory(root: Path) -> None:
    folders = [root / "one", root / "two"]
    for folder in folders:
        folder.mkdir()
    async with LspClient.start(folders[0]) as a, LspClient.start(folders[1]) as b:
        pids: list[int] = []
        for client, folder in ((a, folders[0]), (b, folders[1])):
            for number in range(10):
                uri = client.open(folder / f"file{number}.py", SOURCE * 40 + f"# {number}\n", "python")
                if number in (0, 9):
                    await client.inline_completion(uri, SOURCE)
            pids.append((await request_status(client))["engine"]["pid"])
        engine = psutil.Process(pids[0])
        config, _ = load()
        file = resolve_model(config.model.path).stat().st_size
        kv = config.model.context_length * KV_BYTES_PER_TOKEN
        limit = file + kv + 350 * MIB
        rss = engine.memory_info().rss
        print(f"engine processes: {sorted(set(pids))} for servers {a.process.pid} and {b.process.pid}")
        for client in (a, b):
            own = psutil.Process(client.process.pid).memory_info().rss
            print(f"serve with ten open files: {own / MIB:.0f} MiB")
        print(f"engine: {rss / MIB:.0f} MiB; file {file / MIB:.0f} + KV {kv / MIB:.0f} + 350 = {limit / MIB:.0f} MiB")
        if len(set(pids)) != 1 or rss > limit:
            sys.exit("NOT as it should be")


async def kill_engine(root: Path) -> None:
    async with LspClient.start(root) as client:
        text = SOURCE + "        "
        uri = client.open(root / "kill.py", text, "python")
        await client.inline_completion(uri, text)
        failed = answered = good = 0
        for number in range(20):
            text = f"# {number}\n{text}"
            client.change(uri, text)
            pid = (await request_status(client))["engine"]["pid"]
            answer = asyncio.ensure_future(client.inline_completion(uri, text))
            await asyncio.sleep(0.05 + number / 40)
            os.kill(pid, signal.SIGKILL)
            [outcome] = await asyncio.gather(answer, return_exceptions=True)
            failed += isinstance(outcome, RpcError)
            answered += isinstance(outcome, list | RpcError)
            good += bool(await client.inline_completion(uri, text))
        alive = client.process.returncode is None
        print(
            f"engine killed 20 times: {answered} of 20 ids answered ({failed} by an error), next completion "
            f"worked {good} times, server alive: {alive}"
        )


async def type_fast(root: Path) -> None:
    async with LspClient.start(root) as client:
        text = SOURCE
        uri = client.open(root / "type.py", text, "python")
        await client.inline_completion(uri, text)
        sent: list[float] = []
        came: list[float] = []
        answers: list[asyncio.Future[Any]] = []
        typed = (TYPED_CODE * 2)[:300]
        began = perf_counter()
        for character in typed:
            end = end_position(text)
            client.edit(uri, {"start": end, "end": end}, character)
            text += character
            params = {"textDocument": {"uri": uri}, "position": end_position(text), "context": {"triggerKind": 2}}
            answer = client.begin("textDocument/inlineCompletion", params)[1]
            number = len(sent)
            sent.append(perf_counter())
            came.append(0.0)
            answer.add_done_callback(lambda _, n=number: came.__setitem__(n, perf_counter()))
            answers.append(answer)
            await asyncio.sleep(0.05)
        outcomes = await asyncio.gather(*answers, return_exceptions=True)
        await asyncio.sleep(0)
        refused = [n for n, o in enumerate(outcomes) if isinstance(o, RpcError)]
        # how long after the request that replaced it
        late = sorted((came[n] - sent[n + 1]) * 1000 for n in refused if n + 1 < len(sent))
        same = (await request_status(client))["documents"][0]["bytes"] == len(text.encode())
        print(
            f"300 requests in {perf_counter() - began:.1f} s of typing: {len(outcomes)} answered, "
            f"{len(refused)} superseded, "
            f"answered {late[len(late) // 2]:.1f} ms (p95 {late[int(len(late) * 0.95)]:.1f} ms) after what "
            f"replaced them; text the same: {same}"
        )


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        await start_up(root)
        await measure_memory(root)
        await kill_engine(root)
        await type_fast(root)


if __name__ == "__main__":
    asyncio.run(main())
