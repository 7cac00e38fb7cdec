"""Completions in files that nothing has prepared: what is shown, when, and whether it is right.

    python -m tests.benchmarks.cold fim_he_single --mode automatic --limit 60 --out cold/automatic.jsonl
    python -m tests.benchmarks.cold fim_he_single --mode invoked --busy --out cold/invoked.jsonl
    python -m tests.benchmarks.cold fim_xlang --mode automatic --rest 3 --out cold/rested.jsonl

Each case is a file of its own in a running language server. The completion is requested right after `didOpen`, or
`--rest` seconds after the client reported the cursor there. The engine is started before the first case. `--busy` keeps
all cores busy meanwhile. `--tree` measures the server of another checkout, for a comparison with an earlier revision.

The sets and their scorer come from `LSP_HARNESS_EVAL_DATA` (see docs/benchmarks.md). A run with the same file continues
where the last one ended.
"""

import argparse
import asyncio
import importlib.util
import json
import os
import random
import statistics
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

from lsp_harness.bench.lsp_client import AUTOMATIC, INVOKED, LspClient
from lsp_harness.bench.suite.threads import busy_cores
from tests.benchmarks.fim import LANGUAGES, Case, cases, progress

LIMITS_S = (1.0, 3.0)
WARM_UP = "def add(first, second):\n    return "
Row = dict[str, Any]


def load_scorer() -> ModuleType:
    """Return the scorer that belongs to the data sets."""
    folder = Path(os.environ.get("LSP_HARNESS_EVAL_DATA", "../shared/data/dev"))
    file = folder.resolve().parent / "tools" / "lspbench.py"
    spec = importlib.util.spec_from_file_location("lspbench", file)
    if spec is None or spec.loader is None or not file.exists():
        sys.exit(f"there is no {file}; set LSP_HARNESS_EVAL_DATA")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def choose_cases(name: str, limit: int, seed: int) -> list[Case]:
    """Return random cases. Two cases of one problem share almost no tokens: their text after the hole differs."""
    chosen = cases(name, smoke=False, limit=0)
    random.Random(seed).shuffle(chosen)
    return chosen[:limit] if limit else chosen


async def measure(rows: Sequence[Case], args: argparse.Namespace, out: Path) -> None:
    """Request each case in a new file, and append its answer and time to `out`."""
    trigger = INVOKED if args.mode == "invoked" else AUTOMATIC
    with tempfile.TemporaryDirectory() as folder, out.open("a") as lines:
        root = Path(folder).resolve()
        # an engine of its own, which knows nothing from an earlier run
        runtime = root / "runtime"
        runtime.mkdir(mode=0o700)
        env = dict(os.environ, PYTHONPATH=str(args.tree.resolve()), XDG_RUNTIME_DIR=str(runtime))
        env |= {"LSP_HARNESS_ENGINE__KV_DISK_MB": "0", "LSP_HARNESS_ENGINE__IDLE_SECONDS": "10"}
        async with LspClient.start(root, env=env) as client:
            uri = client.open(root / "start.py", WARM_UP, "python")
            await client.inline_completion(uri, WARM_UP, trigger=INVOKED)
            client.close(uri)
            with busy_cores((os.cpu_count() or 1) if args.busy else 0):
                for number, case in enumerate(rows):
                    row = await measure_case(client, root / str(number), case, trigger, args.rest)
                    lines.write(json.dumps(row) + "\n")
                    lines.flush()
                    progress(number, list(rows))


async def measure_case(client: LspClient, folder: Path, case: Case, trigger: int, rest_s: float) -> Row:
    """Return the answer for one case, the milliseconds until it came, and figures of the prompt."""
    before, after = case["input"]["prefix"], case["input"]["suffix"]
    name = Path(case["input"].get("path") or f"case.{case['lang']}").name
    language: str = case["lang"]
    uri = client.open(folder / name, before + after, LANGUAGES.get(language, language))
    if rest_s:
        client.notify("lspHarness/didMoveCursor", client.place_after(uri, before))
        await asyncio.sleep(rest_s)
    start_s = perf_counter()
    items = await client.inline_completion(uri, before, trigger=trigger)
    ms = round((perf_counter() - start_s) * 1000)
    command = {"command": "lspHarness.status", "arguments": []}
    figures = (await client.request("workspace/executeCommand", command))["completion"] or {}
    client.close(uri)
    facts = {name: figures[name] for name in ("rung", "probability", "quiet", "prompt_tokens") if name in figures}
    return {"id": case["id"], "answer": items[0]["insertText"] if items else "", "ms": ms} | facts


def summarize(rows: Iterable[Row], by_id: dict[str, Case]) -> str:
    """Return the figures: how many were shown within each limit, how many of them are right, and the times."""
    scorer = load_scorer()
    scored = [(row, scorer.score_one(by_id[row["id"]], row["answer"])) for row in rows]
    lines = [f"{len(scored)} cases"]
    for limit_s in (*LIMITS_S, float("inf")):
        shown = [score for row, score in scored if row["answer"].strip() and row["ms"] <= limit_s * 1000]
        right, exact = sum(bool(score["pass"]) for score in shown), sum(bool(score["em"]) for score in shown)
        precision = right / len(shown) if shown else 0.0
        lines.append(
            f"  within {limit_s:g} s: shown {len(shown) / len(scored):.2f}, right of the shown {precision:.2f}, "
            f"right of all {right / len(scored):.2f}, exact of all {exact / len(scored):.2f}"
        )
    times = sorted(row["ms"] for row, _ in scored if row["answer"].strip())
    if times:
        lines.append(
            f"  time of the shown: p50 {statistics.median(times):.0f} ms, p95 {times[int(len(times) * 0.95)]} ms"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set")
    parser.add_argument("--mode", choices=["automatic", "invoked"], default="automatic")
    parser.add_argument("--rest", type=float, default=0.0, help="seconds between didOpen and the request")
    parser.add_argument("--busy", action="store_true", help="keep all cores busy")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tree", type=Path, default=Path(__file__).parents[2], help="the checkout whose server runs")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    rows = choose_cases(args.set, args.limit, args.seed)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    known = {row["id"] for row in map(json.loads, args.out.read_text().splitlines())} if args.out.exists() else set()
    asyncio.run(measure([row for row in rows if row["id"] not in known], args, args.out))
    answers = {row["id"]: row for row in map(json.loads, args.out.read_text().splitlines())}
    print(f"{args.set}, {args.mode}" + ", busy" * args.busy + (f", {args.rest:g} s of rest" if args.rest else ""))
    print(summarize([answers[row["id"]] for row in rows], {row["id"]: row for row in rows}))


if __name__ == "__main__":
    main()
