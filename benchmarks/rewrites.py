"""One greedy rewrite of a faulty function by the configured model, told what it is to do: to compare two prompts for
it.

    python -m benchmarks.rewrites fix_student --out answers.jsonl

Cases are read from `LSP_HARNESS_EVAL_DATA` (see docs/benchmarks.md), answers are whole files for that set's own scorer.
No fills, no retries, no gates. To compare, run it in two checkouts.
"""

import argparse
import asyncio
from pathlib import Path

from benchmarks.fim import Case, ask_at_once, read_cases, save
from lsp_harness.coding.candidates.candidate_generator import CandidateGenerator
from lsp_harness.coding.candidates.sampling import CandidatePlan
from lsp_harness.coding.finding_location import locate_finding
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.config.load import load
from lsp_harness.errors import HarnessError
from lsp_harness.inference.client import EngineClient
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.edit import apply
from lsp_harness.verify.check import CheckTools
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.ruff_linter import Ruff


async def rewrite_function(engine: EngineClient, row: Case) -> str:
    """Return the file with its rewritten longest function, or the unchanged file without a usable answer."""
    config, given = load()[0], row["input"]
    document = Document.from_text(f"file:///{row['id']}/{given['path']}", given["code"], language="python")
    tree = parse(document)
    assert tree
    functions = [node for node in tree.root.children if node.type in ("function_definition", "class_definition")]
    if not functions:
        return document.text
    longest = max(functions, key=lambda node: node.end_byte - node.start_byte)
    finding = Finding(longest.start_byte, longest.end_byte, given.get("docstring") or given["issue"])
    place = locate_finding(tree, finding)
    if place is None or place.block is None:
        return document.text
    path = given["path"]
    turn = SessionLog(is_saved=False).turn()
    job = TurnContext(engine, config, CheckTools(Ruff()), turn, document, Path(path), None, path, lambda progress: None)
    generator = CandidateGenerator(job, tree, place, finding)
    async for candidate in generator.generate(CandidatePlan("rewrite", 0.0, 0, (1,))):
        if candidate.edits:
            return apply(document.data, candidate.edits).decode()
    return document.text


async def run(rows: list[Case]) -> list[dict[str, str]]:
    engine = EngineClient(load()[0])
    answers: dict[str, str] = {}

    async def answer(row: Case) -> None:
        try:
            answers[row["id"]] = await rewrite_function(engine, row)
        except HarnessError as error:
            print(f"{row['id']}: {error}")
            answers[row["id"]] = row["input"]["code"]

    await ask_at_once(rows, answer)
    await engine.aclose()
    return [{"id": row["id"], "answer": answers[row["id"]]} for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    rows = read_cases(args.set, smoke=False, limit=args.limit)
    answers = asyncio.run(run(rows))
    save(args.out, answers)
    changed = sum(answer["answer"] != row["input"]["code"] for answer, row in zip(answers, rows, strict=True))
    print(f"{args.set}: {len(answers)} answers, {changed} changed")


if __name__ == "__main__":
    main()
