"""The quality of the probability of a suggestion as a test for right suggestions, for `quiet.min_probability`.

    python -m benchmarks.confidence fim_repo --out confidence/repo.jsonl
    python -m benchmarks.confidence fim_he_single --limit 150 --out confidence/single.jsonl

Sets come from `LSP_HARNESS_EVAL_DATA` (see docs/benchmarks.md); of fim_repo the holes of one line. Everything is the
completion pipeline's own, with time for its full prompt; `--small` leaves out the outline and halves the rest, for slow
machines. Right is what is shown when it is the hole's own first line, blanks
apart: strict, as many a wrong line would have done too. A run with the same file goes on where the last one ended.
"""

import argparse
import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.fim import Case, print_progress, read_cases
from benchmarks.healing import PATIENT_MS, answer, read_lines
from lsp_harness.completion.completer import Completer
from lsp_harness.completion.trigger_policy import TriggerPolicy
from lsp_harness.config.load import load
from lsp_harness.config.schema import Quiet
from lsp_harness.inference.client import EngineClient
from tests.support.desk import Desk

THRESHOLDS = (0.0, 0.1, 0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9)


def find_first_line(text: str) -> str:
    return " ".join(next((line for line in text.splitlines() if line.strip()), "").split())


async def measure(rows: list[Case], out: Path, *, small: bool) -> None:
    config, _ = load()
    engine = EngineClient(config)
    settings = replace(config.completion, latency_ms=PATIENT_MS, warm=False, speculate=False)
    if small:
        settings = replace(settings, outline_tokens=0, prefix_tokens=192, suffix_tokens=48)
    # told, but nothing is silenced
    completer = Desk(Completer(engine, settings, TriggerPolicy(Quiet(min_probability=1e-9))))
    with out.open("a") as kept:
        for number, row in enumerate(rows):
            text = await answer(completer, row)
            sure = completer.last_figures.get("probability") if text else None
            found = {
                "id": row["id"],
                "p": sure,
                "right": bool(text) and find_first_line(text) == find_first_line(row["gold"]),
            }
            kept.write(json.dumps(found | {"text": text}) + "\n")
            kept.flush()
            print_progress(number, rows)
    await engine.aclose()


def format_table(found: list[dict[str, Any]]) -> str:
    shown = [row for row in found if row["p"] is not None]
    right, wrong = [[row["p"] for row in shown if row["right"] is value] for value in (True, False)]
    head = f"{len(found)} cases, {len(shown)} shown, {len(right)} right\n"
    lines = ["threshold  right kept  wrong silenced  right of what is shown"]
    for least in THRESHOLDS:
        kept, left = sum(p >= least for p in right), sum(p >= least for p in wrong)
        share = kept / (kept + left) if kept + left else 0.0
        lines.append(f"{least:9.2f}  {kept / len(right):10.3f}  {1 - left / len(wrong):14.3f}  {share:22.3f}")
    return head + "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    rows = read_lines(args.set) if args.set == "fim_repo" else read_cases(args.set, smoke=False, limit=0)
    # spread over the set, whose cases are in order of their source
    rows = rows[:: max(1, len(rows) // args.limit)][: args.limit] if args.limit else rows
    args.out.parent.mkdir(parents=True, exist_ok=True)
    known = {row["id"]: row for row in map(json.loads, args.out.read_text().splitlines())} if args.out.exists() else {}
    asyncio.run(measure([row for row in rows if row["id"] not in known], args.out, small=args.small))
    known = {row["id"]: row for row in map(json.loads, args.out.read_text().splitlines())}
    sys.stderr.write("\n")
    print(f"{args.set}: " + format_table([known[row["id"]] for row in rows]))


if __name__ == "__main__":
    main()
