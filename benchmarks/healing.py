"""Value of token healing: the same completions with it and without it.

    python -m benchmarks.healing fim_repo --out healing/repo
    python -m benchmarks.healing fim_he_span --out healing/span
    python -m benchmarks.healing cuts --out healing/cuts

Sets come from `LSP_HARNESS_EVAL_DATA` (see docs/benchmarks.md): of fim_repo the holes of one line, of fim_he_span all;
`cuts` are 200 places inside identifiers of single-line holes, half of them in fim_repo, half in fim_he_single. Into the
folder go `cases.jsonl.gz`, `on.jsonl` and `off.jsonl`, to be scored by the sets' own scorer. Everything but healing is
the completion pipeline's own, with time for its full prompt, several cases in one batch. A stray blank is one that
follows a blank.
"""

import argparse
import asyncio
import gzip
import json
import random
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.fim import LANGUAGES, Case, ask_at_once, read_cases, save
from lsp_harness.completion.completer import Completer
from lsp_harness.config.load import load
from lsp_harness.inference.client import EngineClient
from lsp_harness.inference.request import Chunk, Infill, ModelRequest
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import encode
from tests.support.desk import Desk

CUTS = 200
WORD = re.compile(r"[^\W\d]\w{3,}")
PATIENT_MS = 120_000


class UnhealedClient(EngineClient):
    """An engine that is asked without healing."""

    def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        return super().stream(replace(request, heal=False) if isinstance(request, Infill) else request)


def select_cases(name: str) -> list[Case]:
    match name:
        case "cuts":
            each = CUTS // 2
            return [*cut(read_lines("fim_repo"), each), *cut(read_cases("fim_he_single", smoke=False, limit=0), each)]
        case "fim_repo":
            return read_lines(name)
        case _:
            return read_cases(name, smoke=False, limit=0)


def read_lines(name: str) -> list[Case]:
    return [row for row in read_cases(name, smoke=False, limit=0) if row["meta"]["hole"] == "line"]


def cut(rows: list[Case], number: int) -> list[Case]:
    """Return `number` cases whose hole begins inside of an identifier, from a fixed seed.

    Each case is used once before any is used twice.
    """
    draw = random.Random(3)
    rows = [row for row in rows if WORD.search(row["gold"])]
    made: list[Case] = []
    while len(made) < number:
        for row in draw.sample(rows, len(rows)):
            word = draw.choice(list(WORD.finditer(row["gold"])))
            at = draw.randrange(word.start() + 1, word.end())
            # the line's end is there already
            gold: str = row["gold"].removesuffix("\n")
            given = row["input"] | {
                "prefix": row["input"]["prefix"] + gold[:at],
                "suffix": row["gold"][len(gold) :] + row["input"]["suffix"],
            }
            made.append(row | {"id": f"{row['id']}@{at}", "input": given, "gold": gold[at:]})
    return made[:number]


async def answer(completer: Desk, row: Case) -> str:
    prefix: str = row["input"]["prefix"]
    lang: str = row["lang"]
    path = row["input"].get("path") or f"case.{lang}"
    document = Document.from_text(
        f"file:///{row['id']}/{path}", prefix + row["input"]["suffix"], language=LANGUAGES.get(lang, lang)
    )
    suggestion = await completer.complete(document, parse(document), len(encode(prefix)), path)
    completer.close(document.uri)
    return suggestion.text if suggestion else ""


async def run(rows: list[Case]) -> dict[str, list[dict[str, Any]]]:
    config, _ = load()
    settings = replace(config.completion, latency_ms=PATIENT_MS, warm=False, speculate=False)
    engines = {"on": EngineClient(config), "off": UnhealedClient(config)}
    completers = {mode: Desk(Completer(engine, settings)) for mode, engine in engines.items()}
    answers = {mode: dict[str, str]() for mode in engines}

    async def both(row: Case) -> None:
        # one after the other: but for its end the second prompt is resident
        for mode, completer in completers.items():
            answers[mode][row["id"]] = await answer(completer, row)

    await ask_at_once(rows, both)
    for engine in engines.values():
        await engine.aclose()
    return {mode: [{"id": row["id"], "answer": given[row["id"]]} for row in rows] for mode, given in answers.items()}


def count_double_blanks(rows: list[Case], answers: list[dict[str, Any]]) -> int:
    """Count the answers that begin with a blank behind a blank."""
    said = {given["id"]: given["answer"] for given in answers}
    return sum(row["input"]["prefix"].endswith((" ", "\t")) and said[row["id"]].startswith((" ", "\t")) for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=["fim_repo", "fim_he_span", "cuts"])
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    rows = select_cases(args.set)
    rows = rows[: args.limit] if args.limit else rows
    args.out.mkdir(parents=True, exist_ok=True)
    with gzip.open(args.out / "cases.jsonl.gz", "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)
    for mode, answers in asyncio.run(run(rows)).items():
        save(args.out / f"{mode}.jsonl", answers)
        shown = sum(bool(given["answer"].strip()) for given in answers)
        stray = count_double_blanks(rows, answers)
        print(f"{mode}: {len(answers)} answers, {shown} not empty, {stray} with a stray blank")


if __name__ == "__main__":
    main()
