"""Completions in files that nothing has prepared: what is shown, when, and whether it is right.

    python -m benchmarks.cold fim_he_single --mode automatic --limit 60 --out cold/automatic.jsonl
    python -m benchmarks.cold fim_he_single --mode invoked --busy --out cold/invoked.jsonl
    python -m benchmarks.cold fim_xlang --mode automatic --rest 3 --out cold/rested.jsonl
    python -m benchmarks.cold fim_repo --mode invoked --out cold/repository.jsonl
    python -m benchmarks.cold fim_he_single --reference PROGRAM --out cold/llama-server.jsonl

Each case is a file of its own in a running language server. A case of a repository is a file of a workspace folder with
that repository, whose index has read the file with the hole. The completion is requested right after `didOpen`, or
`--rest` seconds after the client reported the cursor there. The engine is started before the first case. `--busy` keeps
all cores busy meanwhile. `--tree` measures the server of another checkout, for a comparison with an earlier revision.
`--reference` measures a llama-server that gets the requests of llama.vim.

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
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

from benchmarks.cold_reference import measure_reference
from benchmarks.engine.suite.threads import keep_cores_busy
from benchmarks.fim import LANGUAGES, Case, print_progress, read_cases
from benchmarks.repository import read_repositories, write_checkout
from lsp_harness.cli.lsp_client import AUTOMATIC, INVOKED, LspClient

LIMITS_S = (1.0, 3.0)
WARM_UP = "def add(first, second):\n    return "
INDEX_DELAY_S = 0.4
"""Time until a changed file is in the state that the server reports."""
INDEX_LIMIT_S = 300.0
FIGURES = ("rung", "probability", "quiet", "prompt_tokens", "types", "types_ms", "types_reason")
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
    chosen = read_cases(name, smoke=False, limit=0)
    random.Random(seed).shuffle(chosen)
    return chosen[:limit] if limit else chosen


async def measure(rows: Sequence[Case], args: argparse.Namespace, keep: Callable[[Row], None]) -> None:
    """Request each case in a new file, and call `keep` with its answer and time."""
    texts = read_repositories() if any("repo" in case["input"] for case in rows) else {}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        # an engine of its own, which knows nothing from an earlier run
        runtime = root / "runtime"
        runtime.mkdir(mode=0o700)
        env = dict(os.environ, PYTHONPATH=str(args.tree.resolve()), XDG_RUNTIME_DIR=str(runtime))
        env |= {"LSP_HARNESS_ENGINE__KV_DISK_MB": "0", "LSP_HARNESS_ENGINE__IDLE_SECONDS": "10"}
        with keep_cores_busy((os.cpu_count() or 1) if args.busy else 0):
            for name, some in group_by_workspace(rows).items():
                workspace = root / "workspaces" / name
                workspace.mkdir(parents=True)
                write_checkout(workspace, texts.get(name, {}))
                async with LspClient.start(workspace, env=env, experimental={"lspHarness": {"status": True}}) as client:
                    uri = client.open(workspace / "start.py", WARM_UP, "python")
                    await client.inline_completion(uri, WARM_UP, trigger=INVOKED)
                    client.close(uri)
                    for number, case in enumerate(some):
                        file = workspace / (case["input"].get("path") or f"{number}/case.{case['lang']}")
                        if name:
                            await write_with_hole(client, file, case)
                        keep(await measure_case(client, file, case, args))
                        if name:
                            file.write_text(texts[name].get(case["input"]["path"], ""))
                        print_progress(number, list(some))


def group_by_workspace(rows: Sequence[Case]) -> dict[str, list[Case]]:
    """Return the cases by the repository that they belong to. The name is empty if they belong to none."""
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in rows:
        groups[case["input"].get("repo", "")].append(case)
    return groups


async def write_with_hole(client: LspClient, file: Path, case: Case) -> None:
    """Write the file without the code that belongs into the hole, and wait until the index has read it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(case["input"]["prefix"] + case["input"]["suffix"])
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": file.as_uri(), "type": 2}]})
    await asyncio.sleep(INDEX_DELAY_S)
    deadline_s = perf_counter() + INDEX_LIMIT_S
    while client.last_state("index") not in ("ready", "polling"):
        await asyncio.sleep(0.1)
        if perf_counter() > deadline_s:
            sys.exit(f"the index of {file.name} is not ready after {INDEX_LIMIT_S:.0f} s")


async def measure_case(client: LspClient, file: Path, case: Case, args: argparse.Namespace) -> Row:
    """Return the answer for one case, the milliseconds until it came, and figures of the prompt."""
    before, after = case["input"]["prefix"], case["input"]["suffix"]
    language: str = case["lang"]
    uri = client.open(file, before + after, LANGUAGES.get(language, language))
    if args.rest:
        client.notify("lspHarness/didMoveCursor", client.place_after(uri, before))
        await asyncio.sleep(args.rest)
    start_s = perf_counter()
    trigger = INVOKED if args.mode == "invoked" else AUTOMATIC
    items = await client.inline_completion(uri, before, trigger=trigger)
    ms = round((perf_counter() - start_s) * 1000)
    command = {"command": "lspHarness.status", "arguments": []}
    figures = (await client.request("workspace/executeCommand", command))["completion"] or {}
    client.close(uri)
    facts = {name: figures[name] for name in FIGURES if name in figures}
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
    parser.add_argument("--tree", type=Path, default=Path(__file__).parents[1], help="the checkout whose server runs")
    parser.add_argument("--reference", type=Path, help="a llama-server to measure in place of our server")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    rows = choose_cases(args.set, args.limit, args.seed)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    known = {row["id"] for row in map(json.loads, args.out.read_text().splitlines())} if args.out.exists() else set()
    remaining_rows = [row for row in rows if row["id"] not in known]
    with args.out.open("a") as lines:

        def keep(row: Row) -> None:
            lines.write(json.dumps(row) + "\n")
            lines.flush()

        asyncio.run(
            measure_reference(remaining_rows, args.reference, keep, busy=args.busy)
            if args.reference
            else measure(remaining_rows, args, keep)
        )
    answers = {row["id"]: row for row in map(json.loads, args.out.read_text().splitlines())}
    print(f"{args.set}, {args.mode}" + ", busy" * args.busy + (f", {args.rest:g} s of rest" if args.rest else ""))
    print(summarize([answers[row["id"]] for row in rows], {row["id"]: row for row in rows}))


if __name__ == "__main__":
    main()
