"""The speed and the answers of two libraries of llama.cpp, in turns.

`python -m benchmarks.libraries linux-x64 compiled`: a library is a name of `lsp-harness engine libraries list`, or a
folder. Each run is a process of its own with the default model: a prompt of 128 tokens, then greedy tokens. With
`--busy 2`, two programs keep a core busy each.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from time import perf_counter

from benchmarks.engine.suite.threads import keep_cores_busy
from lsp_harness.config.schema import ModelSettings
from lsp_harness.engine.decode.llama import Llama, TokenRow
from lsp_harness.engine.native.loaded_library import lib
from lsp_harness.inference.libraries.library_choice import find_library
from lsp_harness.inference.models.model_files import resolve_model
from lsp_harness.process.allowed_cores import count_allowed_cores
from lsp_harness.process.openmp import openmp_environment

PROMPT_TOKENS = 128
PROMPT = 'def fibonacci(n):\n    """Return the n-th number."""\n' * 20


def measure(library: str, tokens: int) -> dict[str, object]:
    """Return the tokens a second of prompt and answer with a library, and the answer."""
    lib.load(find_library(library))
    llama = Llama(
        resolve_model(ModelSettings().path),
        n_ctx=2048,
        n_seq=1,
        n_batch=256,
        threads=count_allowed_cores(),
        n_gpu_layers=0,
        # on some machines, repacked weights end the process
        repack=False,
    )
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


def main() -> None:
    """Print the median speeds of both libraries, their ratio, and whether the answers are the same."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("libraries", nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--busy", type=int, default=0, help="number of programs that keep a core busy")
    parser.add_argument("--one", action="store_true", help="measure one library in this process")
    options = parser.parse_args()
    if options.one:
        json.dump(measure(options.libraries[0], options.tokens), sys.stdout)
        return
    runs: dict[str, list[dict[str, object]]] = {name: [] for name in options.libraries}
    with keep_cores_busy(options.busy):
        for _ in range(options.rounds):
            for name, done in runs.items():
                argv = [sys.executable, "-m", __spec__.name, name, "--one", "--tokens", str(options.tokens)]
                ran = subprocess.run(
                    argv,
                    env=openmp_environment(),
                    cwd=Path(__file__).parents[1],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    check=True,
                )
                done.append(json.loads(ran.stdout))
    for kind in ("prompt", "decode"):
        speeds = {name: statistics.median(float(str(run[kind])) for run in done) for name, done in runs.items()}
        first, *others = speeds.values()
        ratio = f", ratio {first / others[0]:.2f}" if others else ""
        print(f"{kind}, tokens/s: " + ", ".join(f"{name} {speed:.1f}" for name, speed in speeds.items()) + ratio)
    answers = {json.dumps(run["answer"]) for done in runs.values() for run in done}
    print(f"answers: {'the same' if len(answers) == 1 else f'{len(answers)} different ones'}")


if __name__ == "__main__":
    main()
