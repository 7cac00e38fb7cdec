"""Generations at temperature 2 under each grammar, by the configured model: how many of them can be read.

python -m benchmarks.grammars
python -m benchmarks.grammars --count 50 --only edit --only json
"""

import argparse
import asyncio
import statistics
from time import perf_counter

import httpx2

from lsp_harness.config.load import load
from lsp_harness.inference.supervisor import EngineSupervisor
from tests.support.grammar_cases import CASES, GrammarCase, generate_at_random


async def measure(cases: list[GrammarCase], args: argparse.Namespace) -> bool:
    """Print a line for each case, and return whether every answer could be parsed."""
    socket = await EngineSupervisor(load()[0]).ensure_running()
    transport = httpx2.AsyncHTTPTransport(uds=str(socket))
    fine = True
    print(f"{'grammar':<12} {'parsed':>9} {'tokens: median':>15} {'most':>5} {'allowed':>8} {'s':>6}")
    async with httpx2.AsyncClient(transport=transport, base_url="http://engine", timeout=None) as http:
        for case in cases:
            began = perf_counter()
            tally = await generate_at_random(http, case, args.count, temperature=args.temperature, top_k=args.top_k)
            parsed = f"{args.count - len(tally.failed)}/{args.count}"
            median, most = statistics.median(tally.tokens), max(tally.tokens)
            print(
                (
                    f"{case.name:<12} {parsed:>9} {median:>15.0f} {most:>5} {case.longest:>8} "
                    f"{perf_counter() - began:>6.0f}"
                ),
                flush=True,
            )
            for text in tally.failed[:3]:
                print(f"    {text!r}")
            fine = fine and not tally.failed
    return fine


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--temperature", type=float, default=2.0)
    parser.add_argument("--top-k", type=int, default=0, help="0 leaves the whole vocabulary to the grammar")
    parser.add_argument("--only", action="append", choices=[case.name for case in CASES], default=[])
    args = parser.parse_args()
    cases = [case for case in CASES if not args.only or case.name in args.only]
    return 0 if asyncio.run(measure(cases, args)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
