"""The cost of the SDK: time to the first piece of an answer, and between two pieces, compared with the engine alone.

python -m benchmarks.sdk_overhead
python -m benchmarks.sdk_overhead --runs 9

Each run asks the engine directly, a session in this process and one in a child process, with prompts of one length. The
sessions are open before their prompts are sent. A second part counts the time per event with a scripted model.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
from contextlib import aclosing
from pathlib import Path
from time import perf_counter

from lsp_harness.chat.tool_grammar import AnswerForm, build_tool_grammar
from lsp_harness.config.load import load
from lsp_harness.inference.client import EngineClient
from lsp_harness.inference.request import ChatRequest, Sampling
from lsp_harness.sdk import HarnessClient, TextDelta

SYSTEM = "Be brief."
PIECES = 5000
"""Pieces of the scripted answer."""
Times = tuple[float, float]
"""Milliseconds until the first piece of an answer, and between two pieces."""


def convert_to_times(began: float, pieces: list[float]) -> Times:
    """Return the times of an answer from the times of its pieces."""
    return 1000 * (pieces[0] - began), 1000 * (pieces[-1] - pieces[0]) / max(1, len(pieces) - 1)


async def ask_engine(prompt: str) -> Times:
    """Ask the engine without a session."""
    grammar = build_tool_grammar([], AnswerForm()).text
    request = ChatRequest([("system", SYSTEM), ("user", prompt)], Sampling(n_predict=1024, grammar=grammar))
    async with aclosing(EngineClient(load()[0])) as engine:
        await engine.props()
        began = perf_counter()
        return convert_to_times(began, [perf_counter() async for chunk in engine.stream(request) if chunk.text])


async def ask_session(prompt: str, folder: Path, provider: str | None = None, *, in_process: bool) -> Times:
    """Ask a session that has no tools."""
    async with HarnessClient(
        cwd=folder, provider=provider, in_process=in_process, allowed_tools=[], system_prompt=SYSTEM
    ) as client:
        began = perf_counter()
        return convert_to_times(
            began, [perf_counter() async for event in await client.send(prompt) if isinstance(event, TextDelta)]
        )


def show(name: str, times: list[Times], bare: list[Times]) -> None:
    """Print the medians of one way, and their ratios to the engine."""
    ratios = [[own[part] / other[part] for own, other in zip(times, bare, strict=True)] for part in (0, 1)]
    first, whole = (statistics.median(row[part] for row in times) for part in (0, 1))
    ratio_first, ratio_whole = map(statistics.median, ratios)
    print(f"{name:<24} first {first:7.0f} ms ({ratio_first:.2f}x)  a piece {whole:6.2f} ms ({ratio_whole:.2f}x)")


async def measure(runs: int) -> None:
    """Print all figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        await ask_engine("Say yes.")
        rows: dict[str, list[Times]] = {"engine": [], "SDK in this process": [], "SDK with a child process": []}
        for run in range(runs):
            prompts = [f"List the numbers from {start} to {start + 9}." for start in (10 + run, 30 + run, 50 + run)]
            # no way always gets the same kind of prompt
            turned = prompts[run % 3 :] + prompts[: run % 3]
            rows["engine"].append(await ask_engine(turned[0]))
            rows["SDK in this process"].append(await ask_session(turned[1], folder, in_process=True))
            rows["SDK with a child process"].append(await ask_session(turned[2], folder, in_process=False))
        for way, times in rows.items():
            show(way, times, rows["engine"])
        script = folder / "script.json"
        script.write_text(json.dumps([{"tokens": [["word ", 0.5]] * PIECES}]), encoding="utf-8")
        for in_process in (True, False):
            times = [await ask_session("go", folder, f"scripted:{script}", in_process=in_process) for _ in range(3)]
            each_us = 1000 * statistics.median(between for _, between in times)
            print(f"an event, {'in this process' if in_process else 'with a child process'}: {each_us:.0f} µs")
    print(f"import of lsp_harness.sdk: {time_import():.0f} ms")


def time_import() -> float:
    """Return the milliseconds that the import costs a program, without the start of the interpreter."""
    code = "import time; t = time.perf_counter(); import lsp_harness.sdk; print(1000 * (time.perf_counter() - t))"
    argv = [sys.executable, "-c", code]
    runs = [subprocess.run(argv, capture_output=True, text=True, check=True).stdout for _ in range(5)]
    return statistics.median(map(float, runs))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    asyncio.run(measure(parser.parse_args().runs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
