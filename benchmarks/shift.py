"""Quality of cells that were moved to other positions: after a small jump, shifted cells against fresh ones.

    python -m benchmarks.shift --out shift

For each hole of one line in fim_repo (`LSP_HARNESS_EVAL_DATA`, see docs/benchmarks.md): the prompt of a cursor `JUMP`
lines above is evaluated by the real engine, then the hole's own, once with `n_cache_reuse` and once without. With
`--jumps` more than one, the cursor comes from so many times `JUMP` lines above and stops after each, so that cells are
moved again and again. With `--edge` the cursor stays and the prompt loses its first `BLOCK` lines, as it does while a
file is typed. The layout is the completion pipeline's, with the indentation before the cursor left to the model.
Greedy, the first line. Into the folder go `fresh.jsonl` and `shifted.jsonl` for the set's own scorer; printed are
tokens and times of the hole's own prompt.
"""

import argparse
import asyncio
import statistics
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2

from benchmarks.fim import Case, print_progress, save
from benchmarks.healing import read_lines
from lsp_harness.config.load import load
from lsp_harness.context.infill_prompt import build_infill_prompt
from lsp_harness.context.window import BLOCK_LINES
from lsp_harness.inference.client import EngineClient
from lsp_harness.inference.request import InfillContext
from lsp_harness.inference.supervisor import EngineSupervisor
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import encode
from lsp_harness.workspace.cursor import Cursor

JUMP = 6
LEAST = 32
"""Tokens of a run that is worth moving."""
TOKENS = 48


@dataclass(frozen=True)
class Outcome:
    text: str
    evaluated: int
    shifted: int
    ms: float


class Bench:
    def __init__(self, http: httpx2.AsyncClient, engine: EngineClient) -> None:
        self._http = http
        self._engine = engine
        self._settings = load()[0].completion

    async def context_before_jump(self, row: Case, jump: int) -> InfillContext:
        prefix: str = row["input"]["prefix"].rstrip(" \t")
        document = Document.from_text(
            f"file:///{row['input']['path']}", row["input"]["prefix"] + row["input"]["suffix"]
        )
        offset = len(encode(prefix))
        if jump:
            offset = document.line_span(max(0, document.line_of(offset) - jump))[1]
        infill_prompt = await build_infill_prompt(
            Cursor(document, parse(document), offset, row["input"]["path"]), self._settings, self._engine.count
        )
        return infill_prompt.engine_input

    async def ask(self, around: InfillContext, client: str, reuse: int, tokens: int) -> Outcome:
        body: dict[str, Any] = {
            "input_prefix": around.prefix,
            "input_suffix": around.suffix,
            "input_extra": [{"filename": name, "text": text} for name, text in around.extra],
            "heal": False,
            "n_predict": tokens,
            "n_cache_reuse": reuse,
            "client": client,
        }
        response = await self._http.post("/infill", json=body)
        answer = response.raise_for_status().json()
        timings = answer["timings"]
        line = answer["content"].lstrip("\n").split("\n", 1)[0].strip()
        return Outcome(line, timings["prompt_n"], timings["shift_n"], timings["prompt_ms"])

    async def way(self, row: Case, jumps: int) -> list[InfillContext]:
        """Return the prompts before the hole and its own; without jumps, those around a move of the window."""
        if jumps:
            return [await self.context_before_jump(row, JUMP * left) for left in range(jumps, -1, -1)]
        whole = await self.context_before_jump(row, 0)
        return [whole, replace(whole, prefix="".join(whole.prefix.splitlines(keepends=True)[BLOCK_LINES:]))]

    async def both(self, row: Case, jumps: int) -> tuple[Outcome, Outcome]:
        """Return the answers to the prompt of the hole with fresh and with shifted cells."""
        *way, hole = await self.way(row, jumps)
        for around in way:
            await self.ask(around, row["id"], LEAST, 0)
        shifted = await self.ask(hole, row["id"], LEAST, TOKENS)
        return await self.ask(hole, f"{row['id']} fresh", 0, TOKENS), shifted


async def run(rows: list[Case], out: Path, jumps: int) -> None:
    supervisor = EngineSupervisor(load()[0])
    transport = httpx2.AsyncHTTPTransport(uds=str(await supervisor.ensure_running()))
    answers: dict[str, list[dict[str, str]]] = {"fresh": [], "shifted": []}
    pairs: list[tuple[Outcome, Outcome]] = []
    async with httpx2.AsyncClient(transport=transport, base_url="http://engine", timeout=None) as http:
        engine = EngineClient(load()[0])
        bench = Bench(http, engine)
        for number, row in enumerate(rows):
            pair = await bench.both(row, jumps)
            print_progress(number, rows)
            if not pair[1].shifted:
                continue
            pairs.append(pair)
            for name, outcome in zip(answers, pair, strict=True):
                answers[name].append({"id": row["id"], "answer": outcome.text})
        await engine.aclose()
    if not pairs:
        sys.exit("no case has a run worth moving: take more of them with --limit")
    out.mkdir(parents=True, exist_ok=True)
    for number, (name, given) in enumerate(answers.items()):
        save(out / f"{name}.jsonl", given)
        ms = statistics.median(pair[number].ms for pair in pairs)
        evaluated = statistics.median(pair[number].evaluated for pair in pairs)
        print(f"{name}: {len(pairs)} cases, {evaluated:.0f} tokens evaluated, {ms:.0f} ms to read the prompt (medians)")
    print(f"the same line in {sum(fresh.text == shifted.text for fresh, shifted in pairs)} of {len(pairs)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--jumps", type=int, default=1)
    parser.add_argument("--edge", action="store_true")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    rows = read_lines("fim_repo")
    asyncio.run(run(rows[: args.limit] if args.limit else rows, args.out, 0 if args.edge else args.jumps))


if __name__ == "__main__":
    main()
