"""Fill-in-the-middle quality: through the language server, beside the same model called raw.

    python -m benchmarks.fim fim_he_single --smoke --out answers.jsonl
    python -m benchmarks.fim fim_he_single --smoke --raw --out raw.jsonl
    python -m benchmarks.fim fim_he_single --raw --order suffix-first --out order.jsonl

Cases are read from `LSP_HARNESS_EVAL_DATA` (see docs/benchmarks.md); score the answers with that set's own scorer.
Through the server, a case is an open document with the cursor in the hole, and the answer is what would be shown. Raw
is one `/infill` in the order asked for (prefix-suffix-middle without `--order`), greedy, its first line that is not
empty: no context, no healing, no rules, no gate. Another model is chosen by LSP_HARNESS_MODEL__PATH. Each answer is
written as it comes; a run with the same file goes on where the last one ended.
"""

import argparse
import asyncio
import gzip
import json
import os
import re
import statistics
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any

import httpx2

from lsp_harness.cli.lsp_client import LspClient
from lsp_harness.config.load import load
from lsp_harness.inference.supervisor import EngineSupervisor

Case = dict[str, Any]
Keep = Callable[[dict[str, Any]], None]
LANGUAGES = {"js": "javascript", "ts": "typescript"}
AT_ONCE = 4
BLANK = re.compile(r"\A(?:[ \t]*\n)+")
"""Lines without text that an answer begins with: the sets' holes mostly begin a line, with or without its newline."""


def read_cases(name: str, *, smoke: bool, limit: int) -> list[Case]:
    folder = Path(os.environ.get("LSP_HARNESS_EVAL_DATA", "../shared/data/dev"))
    file = folder / f"{name}.jsonl.gz"
    if not file.exists():
        sys.exit(f"there is no {file}; set LSP_HARNESS_EVAL_DATA")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    rows = [row for row in rows if row.get("smoke")] if smoke else rows
    return rows[:limit] if limit else rows


async def ask_through_server(rows: list[Case], keep: Keep) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        async with LspClient.start(root) as client:
            for number, row in enumerate(rows):
                prefix, suffix = row["input"]["prefix"], row["input"]["suffix"]
                lang: str = row["lang"]
                language = LANGUAGES.get(lang, lang)
                name = Path(row["input"].get("path") or f"case.{row['lang']}").name
                uri = client.open(root / str(number) / name, prefix + suffix, language)
                began = perf_counter()
                items = await client.inline_completion(uri, prefix)
                ms = (perf_counter() - began) * 1000
                client.close(uri)
                keep({"id": row["id"], "answer": items[0]["insertText"] if items else "", "ms": round(ms)})
                print_progress(number, rows)


async def ask_at_once(rows: list[Case], answer: Callable[[Case], Awaitable[None]]) -> None:
    """Ask about cases `AT_ONCE` at a time, because only the answers count and not their times.

    Cases that begin alike follow each other, so that the engine evaluates what they share once.
    """
    similar_cases = sorted(rows, key=lambda row: row["input"]["prefix"])
    share = -(-len(similar_cases) // AT_ONCE) or 1
    done = count()

    async def complete_cases(some: list[Case]) -> None:
        for row in some:
            await answer(row)
            print_progress(next(done), rows)

    async with asyncio.TaskGroup() as group:
        for part in range(0, len(similar_cases), share):
            group.create_task(complete_cases(similar_cases[part : part + share]))


async def ask_engine(rows: list[Case], order: str, keep: Keep) -> None:
    """Send the cases to the engine itself."""
    socket = await EngineSupervisor(load()[0]).ensure_running()
    transport = httpx2.AsyncHTTPTransport(uds=str(socket))
    async with httpx2.AsyncClient(transport=transport, base_url="http://engine", timeout=None) as http:
        # of the orders a request may ask for, the engine knows its model's own and prefix-suffix-middle
        if order != "prefix-suffix-middle" and (own := (await http.get("/props")).json()["fim_order"]) != order:
            sys.exit(f"this model's own order is {own}; {order} cannot be asked for")

        async def answer(row: Case) -> None:
            began = perf_counter()
            line = await ask_for_first_line(http, row, order)
            keep({"id": row["id"], "answer": line, "ms": round((perf_counter() - began) * 1000)})

        await ask_at_once(rows, answer)


async def ask_for_first_line(http: httpx2.AsyncClient, row: Case, order: str) -> str:
    """Return the first line of the answer that is not empty; no text is generated after it."""
    prefix, suffix = row["input"]["prefix"], row["input"]["suffix"]
    body = {
        "input_prefix": prefix[-6000:],
        "input_suffix": suffix[:2000],
        "n_predict": 64,
        "temperature": 0,
        "heal": False,
        "n_cache_reuse": 0,
        "fim_order": order,
        "stream": True,
    }
    text = ""
    async with http.stream("POST", "/infill", json=body) as response:
        response.raise_for_status()
        async for event in response.aiter_lines():
            if event.startswith("data: {"):
                text += json.loads(event.removeprefix("data: ")).get("content", "")
            if "\n" in BLANK.sub("", text):
                break
    line = BLANK.sub("", text).split("\n", 1)[0]
    # the hole is a whole line where the suffix begins one
    return line + "\n" if prefix.endswith("\n") and not suffix.startswith("\n") else line


def save(file: Path, answers: Sequence[Mapping[str, Any]]) -> None:
    """Write the answers in the format that the scorer of the data sets reads."""
    file.write_text("".join(json.dumps(answer) + "\n" for answer in answers))


def print_progress(number: int, rows: list[Case]) -> None:
    sys.stderr.write(f"\r{number + 1}/{len(rows)} ")
    sys.stderr.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--raw", action="store_true")
    parser.add_argument("--order", choices=["prefix-suffix-middle", "suffix-first"], default="prefix-suffix-middle")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    rows = read_cases(args.set, smoke=args.smoke, limit=args.limit)
    known = (
        {answer["id"]: answer for answer in map(json.loads, args.out.read_text().splitlines())}
        if args.out.exists()
        else {}
    )
    left = [row for row in rows if row["id"] not in known]
    with args.out.open("a") as out:

        def keep(answer: dict[str, Any]) -> None:
            known[answer["id"]] = answer
            out.write(json.dumps(answer) + "\n")
            out.flush()

        asyncio.run(ask_engine(left, args.order, keep) if args.raw else ask_through_server(left, keep))
    answers = [known[row["id"]] for row in rows]
    save(args.out, answers)
    times = sorted(answer["ms"] for answer in answers)
    shown = sum(bool(answer["answer"].strip()) for answer in answers)
    print(f"{args.set}: {len(answers)} answers, {shown} not empty, {statistics.median(times)} ms median")


if __name__ == "__main__":
    main()
