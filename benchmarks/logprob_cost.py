"""The cost of token probabilities: the same completions with and without them, in turn.

    python -m benchmarks.logprob_cost

Both requests of a pair ask our engine for the same text over a resident prompt, in both orders, so that other load on
the machine affects both alike. The first pair warms up the engine and does not count.
"""

import argparse
import asyncio
import statistics
from dataclasses import replace

from lsp_harness.config.load import load
from lsp_harness.inference.client import EngineClient
from lsp_harness.inference.request import Infill, InfillContext, Sampling

PROMPT = "def read_totals(path, column):\n    totals = {}\n    for row in csv.DictReader(path.open()):\n        "


async def measure(pairs: int, tokens: int) -> dict[bool, list[float]]:
    config, _ = load()
    engine = EngineClient(config)
    request = Infill(InfillContext(PROMPT, "\n    return totals\n"), sampling=Sampling(n_predict=tokens))
    found: dict[bool, list[float]] = {False: [], True: []}
    for pair in range(pairs + 1):
        for told in (False, True) if pair % 2 else (True, False):
            asked = replace(request, sampling=replace(request.sampling, confidence=told))
            async for chunk in engine.stream(asked):
                if chunk.stop and pair:
                    found[told].append(chunk.usage.predicted_ms / max(1, chunk.usage.generated))
    await engine.aclose()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--tokens", type=int, default=48)
    args = parser.parse_args()
    found = asyncio.run(measure(args.pairs, args.tokens))
    for told, values in found.items():
        print(f"{'with' if told else 'without'}: {statistics.median(values):.2f} ms a token, {min(values):.2f} at best")
    differences = [b - a for a, b in zip(found[False], found[True], strict=True)]
    print(f"difference of the pairs: {statistics.median(differences):.2f} ms at the median")


if __name__ == "__main__":
    main()
