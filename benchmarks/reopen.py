"""Completions in a file that the user had open in an earlier session: the time, and the prompt tokens evaluated.

    python -m benchmarks.reopen --limit 12 --out reopen/now.jsonl
    python -m benchmarks.reopen --limit 12 --tree ../before --out reopen/before.jsonl
    python -m benchmarks.reopen --limit 6 --mode hot --disk --out reopen/hot.jsonl

Each case is a module of this package with a hole after `name = `, in a folder with all modules. In the first session
the user opens the file, rests there and closes it. The second session has another engine. With `--mode place`, the
file is opened and the completion is requested `--rest` seconds later. With `--mode hot`, another file is open for
`--idle` seconds first. `--disk` keeps evaluated prompts on disk, as the default settings do; without it the second
engine knows nothing. `--tree` measures the server of another checkout.
"""

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from lsp_harness.cli.lsp_client import INVOKED, LspClient
from lsp_harness.config import paths

PACKAGE = Path(__file__).parents[1] / "lsp_harness"
HOLE = re.compile(r"^ {8}\w+ = (?=\S)", re.MULTILINE)
START = "import os\n"
Row = dict[str, Any]


def make_cases(limit: int, seed: int) -> list[tuple[str, str, str]]:
    """Return the path of a module, and the text before and after a hole in it."""
    modules = sorted(path for path in PACKAGE.rglob("*.py") if 6_000 < path.stat().st_size < 20_000)
    chooser = random.Random(seed)
    chooser.shuffle(modules)
    cases: list[tuple[str, str, str]] = []
    for module in modules:
        text = module.read_text()
        if places := [match.end() for match in HOLE.finditer(text) if match.start() > len(text) // 3]:
            place = chooser.choice(places)
            after = text[text.index("\n", place) :]
            cases.append((module.relative_to(PACKAGE).as_posix(), text[:place], after))
    return cases[:limit]


def make_environment(folder: Path, args: argparse.Namespace) -> dict[str, str]:
    """Return the environment of a session with an engine and a cache of its own."""
    runtime = folder / f"run-{len(list(folder.iterdir()))}"
    runtime.mkdir(mode=0o700)
    cache = folder / "cache" / "lsp-harness"
    if not cache.exists():
        cache.mkdir(parents=True, mode=0o700)
        for name in ("machine.json", "probe.json"):
            if (paths.cache_folder() / name).exists():
                shutil.copy(paths.cache_folder() / name, cache)
    models = os.environ.get("LSP_HARNESS_MODELS", str(paths.cache_folder() / "models"))
    env = dict(os.environ, PYTHONPATH=str(args.tree.resolve()), XDG_RUNTIME_DIR=str(runtime))
    env |= {"XDG_CACHE_HOME": str(folder / "cache"), "LSP_HARNESS_MODELS": models}
    env |= {"LSP_HARNESS_ENGINE__IDLE_SECONDS": "3", "LSP_HARNESS_BACKGROUND__WHEN": "always"}
    return env | ({} if args.disk else {"LSP_HARNESS_ENGINE__KV_DISK_MB": "0"})


async def measure_case(case: tuple[str, str, str], args: argparse.Namespace) -> Row:
    """Return the milliseconds and the tokens of the completion in the second session."""
    name, before, after = case
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary).resolve() / "package"
        shutil.copytree(PACKAGE, root, ignore=shutil.ignore_patterns("__pycache__"))
        (root / name).write_text(before + after)
        async with LspClient.start(root, env=make_environment(root.parent, args)) as client:
            uri = client.open(root / name, before + after, "python")
            client.notify("lspHarness/didMoveCursor", client.place_after(uri, before))
            await asyncio.sleep(args.visit)
            client.close(uri)
        async with LspClient.start(root, env=make_environment(root.parent, args)) as client:
            other = client.open(root / "start.py", START, "python")
            await client.inline_completion(other, START, trigger=INVOKED)
            if args.mode == "hot":
                await asyncio.sleep(args.idle)
            uri = client.open(root / name, before + after, "python")
            await asyncio.sleep(args.rest)
            start_s = perf_counter()
            items = await client.inline_completion(uri, before, trigger=INVOKED)
            ms = round((perf_counter() - start_s) * 1000)
            command = {"command": "lspHarness.status", "arguments": []}
            figures = (await client.request("workspace/executeCommand", command))["completion"] or {}
    known = ("rung", "prompt_tokens", "evaluated", "reused", "quiet")
    return {"file": name, "shown": bool(items), "ms": ms} | {key: figures[key] for key in known if key in figures}


def summarize(rows: list[Row]) -> str:
    """Return the median and the 95th percentile of the time, and the median of the evaluated tokens."""
    times = sorted(row["ms"] for row in rows)
    evaluated = [row.get("evaluated", 0) for row in rows]
    return (
        f"{len(rows)} cases: p50 {statistics.median(times):.0f} ms, p95 {times[int(len(times) * 0.95)]} ms, evaluated "
        f"p50 {statistics.median(evaluated):.0f}, mean {statistics.mean(evaluated):.0f} tokens; full prompt "
        f"{sum(not row.get('rung', 0) for row in rows)}, shown {sum(row['shown'] for row in rows)}"
    )


async def measure_all(args: argparse.Namespace) -> None:
    """Measure all cases, and append a row for each to the file."""
    cases = make_cases(args.limit, args.seed)
    rows: list[Row] = []
    with args.out.open("w") as lines:
        for number, case in enumerate(cases):
            rows.append(await measure_case(case, args))
            lines.write(json.dumps(rows[-1]) + "\n")
            lines.flush()
            print(f"{number + 1}/{len(cases)}", end=" ", file=sys.stderr, flush=True)
    print(summarize(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", choices=["place", "hot"], default="place")
    parser.add_argument("--rest", type=float, default=1.0, help="seconds between didOpen and the request")
    parser.add_argument("--visit", type=float, default=8.0, help="seconds that the user rests in the first session")
    parser.add_argument("--idle", type=float, default=25.0, help="seconds without work before didOpen")
    parser.add_argument("--disk", action="store_true", help="keep evaluated prompts on disk")
    parser.add_argument("--limit", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tree", type=Path, default=Path(__file__).parents[1], help="the checkout whose server runs")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    asyncio.run(measure_all(args))


if __name__ == "__main__":
    main()
