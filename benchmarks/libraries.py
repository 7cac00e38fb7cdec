"""The speed and the answers of two libraries of llama.cpp, in turns.

`python -m benchmarks.libraries linux-x64 compiled`: a library is a name of `lsp-harness engine libraries list`, or a
folder. Each run is a process of its own with the default model: a prompt of 128 tokens, then greedy tokens. With
`--busy 2`, two programs keep a core busy each.

`--prompts 40` compares the greedy answers to so many beginnings of real files, and shows by how much a library
preferred the first token in which they differ. `--restart` lets the first library save evaluated prompts, kills its
engine, and starts one with the second library in the same folders: it must not use those files.
"""

import argparse
import asyncio
import json
import signal
import statistics
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.engine.our_engine import BenchEngine, start_engine
from benchmarks.engine.suite.threads import keep_cores_busy
from benchmarks.exact import SOME, EngineAnswer, ask, read_prompts_from, wait_until_saved
from lsp_harness.config.load import load
from lsp_harness.config.schema import Config, ModelSettings
from lsp_harness.engine.decode.llama import Llama, TokenRow
from lsp_harness.engine.native.loaded_library import lib
from lsp_harness.inference.libraries.library_choice import find_library
from lsp_harness.inference.models.model_files import resolve_model
from lsp_harness.process.allowed_cores import count_allowed_cores
from lsp_harness.process.openmp import openmp_environment

PROMPT_TOKENS = 128
PROMPT = 'def fibonacci(n):\n    """Return the n-th number."""\n' * 20


RESTART_PROMPTS = 8
"""Prompts that are saved on disk before the restart."""


def load_model(library: str) -> Llama:
    lib.load(find_library(library))
    return Llama(
        resolve_model(ModelSettings().path),
        n_ctx=2048,
        n_seq=1,
        n_batch=256,
        threads=count_allowed_cores(),
        n_gpu_layers=0,
        # on some machines, repacked weights end the process
        repack=False,
    )


def answer_prompts(library: str, count: int, tokens: int) -> list[list[tuple[int, float]]]:
    """Return the greedy tokens after each prompt, each with the distance of its logit to that of the second one."""
    llama, answers = load_model(library), list[list[tuple[int, float]]]()
    for text in read_prompts_from(None, count):
        place, rest, answer = 0, llama.vocabulary.tokenize(text), list[tuple[int, float]]()
        llama.truncate(0, 0)
        while len(answer) < tokens:
            llama.decode([TokenRow(0, place, rest)])
            logits = llama.logits(len(rest) - 1)
            second, first = logits[logits.argpartition(-2)[-2:]]
            answer.append((int(logits.argmax()), float(first - second)))
            place, rest = place + len(rest), [answer[-1][0]]
        answers.append(answer)
    return answers


def print_differences(answers: list[list[list[tuple[int, float]]]]) -> None:
    """Print how many answers of two libraries are the same, and the distance at the first difference of the others."""
    pairs = list(zip(*answers, strict=True))
    differing = [next((both for both in zip(*pair, strict=True) if both[0][0] != both[1][0]), None) for pair in pairs]
    margins = [min(one[1], other[1]) for one, other in filter(None, differing)]
    print(f"greedy answers: {len(pairs) - len(margins)} of {len(pairs)} are the same", end="")
    print(f"; distances where others differ: {', '.join(f'{gap:.3f}' for gap in sorted(margins))}" if margins else "")


async def restart(libraries: list[str], tokens: int) -> None:
    """Print what an engine does that finds the saved prompts of another library, and of its own."""
    config, prompts = load()[0], read_prompts_from(None, RESTART_PROMPTS)

    def use(library: str) -> Config:
        return replace(config, engine=replace(config.engine, library=library))

    async def answer(ours: BenchEngine) -> list[EngineAnswer]:
        return [await ask(ours, prompt, tokens, persist=True) for prompt in prompts]

    async with start_engine(use(libraries[1])) as ours:
        expected = [answer.pieces for answer in await answer(ours)]
    async with start_engine(use(libraries[0])) as ours:
        await ours.start()
        await answer(ours)
        await wait_until_saved(ours, len(prompts))
        for library in reversed(libraries):
            await ours.end(signal.SIGKILL)
            next_one = BenchEngine(use(library))
            await next_one.start()
            found = await answer(next_one)
            reused = sum(answer.usage.reused >= SOME for answer in found)
            same = sum(answer.pieces == right for answer, right in zip(found, expected, strict=True))
            print(
                f"restart with {library} after {libraries[0]}: {reused} of {len(prompts)} prompts came from disk, "
                f"{same} answers are those of {libraries[1]} without files"
            )
            ours.pid = 0
            await next_one.end(signal.SIGKILL)
            await next_one.client.aclose()


def measure(library: str, tokens: int) -> dict[str, object]:
    """Return the tokens a second of prompt and answer with a library, and the answer."""
    llama = load_model(library)
    prompt = llama.vocabulary.tokenize(PROMPT)[:PROMPT_TOKENS]
    llama.decode([TokenRow(0, 0, prompt[:8])])
    llama.truncate(0, 0)
    start_s = perf_counter()
    llama.decode([TokenRow(0, 0, prompt)])
    prompt_s, start_s = perf_counter() - start_s, perf_counter()
    answer = [int(llama.logits(len(prompt) - 1).argmax())]
    for place in range(tokens - 1):
        llama.decode([TokenRow(0, len(prompt) + place, answer[-1:])])
        answer.append(int(llama.logits(0).argmax()))
    speeds = {"prompt": len(prompt) / prompt_s, "decode": tokens / (perf_counter() - start_s)}
    return {**speeds, "answer": answer}


def run_one(library: str, *options: str) -> Any:
    """Measure a library in a process of its own, and return the result."""
    ran = subprocess.run(
        [sys.executable, "-m", __spec__.name, library, "--one", *options],
        env=openmp_environment(),
        cwd=Path(__file__).parents[1],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return json.loads(ran.stdout)


def compare_speeds(libraries: list[str], rounds: int, tokens: int, busy: int) -> None:
    """Print the median speeds of the libraries in turns, their ratio, and whether the answers are the same."""
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in libraries}
    with keep_cores_busy(busy):
        for _ in range(rounds):
            for name, done in runs.items():
                done.append(run_one(name, "--tokens", str(tokens)))
    for kind in ("prompt", "decode"):
        speeds = {name: statistics.median(float(run[kind]) for run in done) for name, done in runs.items()}
        first, *others = speeds.values()
        ratio = f", ratio {first / others[0]:.2f}" if others else ""
        print(f"{kind}, tokens/s: " + ", ".join(f"{name} {speed:.1f}" for name, speed in speeds.items()) + ratio)
    answers = {json.dumps(run["answer"]) for done in runs.values() for run in done}
    print(f"answers: {'the same' if len(answers) == 1 else f'{len(answers)} different ones'}")


def main() -> None:
    """Compare the libraries as the options say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--busy", type=int, default=0, help="number of programs that keep a core busy")
    parser.add_argument("--prompts", type=int, default=0, help="number of prompts whose answers are compared")
    parser.add_argument("--restart", action="store_true", help="start one library with the saved prompts of the other")
    parser.add_argument("--one", action="store_true", help="measure one library in this process")
    options = parser.parse_args()
    names, tokens = options.libraries, options.tokens
    if options.one:
        found = answer_prompts(names[0], options.prompts, tokens) if options.prompts else measure(names[0], tokens)
        json.dump(found, sys.stdout)
    elif len(names) < 2 and (options.prompts or options.restart):
        parser.error("name two libraries")
    elif options.prompts:
        print_differences(
            [run_one(name, "--prompts", str(options.prompts), "--tokens", str(tokens)) for name in names[:2]]
        )
    elif options.restart:
        asyncio.run(restart(names, tokens))
    else:
        compare_speeds(names, options.rounds, tokens, options.busy)


if __name__ == "__main__":
    main()
