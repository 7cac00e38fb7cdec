"""The share of shown suggestions that add a type error, and of right texts that the type gate would hide.

    python -m benchmarks.type_errors fim_repo ANSWERS.jsonl …

Each answer of `benchmarks.cold` is checked again, in the repository of its case and without a limit of time. The
real text of each hole is checked in the same way: it should have no error. Only cases whose language has a type checker
count.
"""

import argparse
import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from benchmarks.cold import group_by_workspace
from benchmarks.fim import LANGUAGES, Case, read_cases
from benchmarks.repository import read_repositories, write_checkout
from lsp_harness.config.schema import Completion, Config
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import encode
from lsp_harness.verify.finding import Outcome
from lsp_harness.verify.types.checker_pool import CheckerPool
from lsp_harness.verify.types.type_gate import TypeGate
from lsp_harness.workspace.cursor import Cursor
from lsp_harness.workspace.workspace import Workspace

LIMIT_MS = 60_000
START_LIMIT_S = 60.0
GOLD = "the real text"


async def check_answers(rows: Iterable[Case], answers: Mapping[str, Mapping[str, str]]) -> dict[str, Counter[str]]:
    """Return for each run how many of its answers have each result. `answers` are texts by run and case."""
    counts: dict[str, Counter[str]] = {run: Counter() for run in answers}
    config, texts = Config(completion=Completion(type_gate_ms=LIMIT_MS)), read_repositories()
    for name, some in group_by_workspace(list(rows)).items():
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve() / name
            write_checkout(root, texts[name])
            pool = CheckerPool()
            gate = TypeGate(Workspace([root]), lambda: config, pool)
            for case in some:
                cursor = _open(root, case)
                for run, texts_of_run in answers.items():
                    text = texts_of_run.get(case["id"], "")
                    if text.strip():
                        outcome = await _check(gate, cursor, text)
                        counts[run][outcome.status] += 1
                        if outcome.status == "failed":
                            print(f"{run} {case['id']}: {outcome.findings[0].message}")
                (root / case["input"]["path"]).write_text(texts[name].get(case["input"]["path"], ""))
            await gate.aclose()
            await pool.aclose()
    return counts


def _open(root: Path, case: Case) -> Cursor:
    path, before = case["input"]["path"], case["input"]["prefix"]
    data = encode(before + case["input"]["suffix"])
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(data)
    language = LANGUAGES.get(case["lang"], case["lang"]) or ""
    document = Document.from_text((root / path).as_uri(), data, language=language, version=1)
    return Cursor(document, parse(document), len(encode(before)), path)


async def _check(gate: TypeGate, cursor: Cursor, text: str) -> Outcome:
    """Return the result of a check, after the checker has started."""
    async with asyncio.timeout(START_LIMIT_S):
        while True:
            [outcome] = await gate.check(cursor, [text])
            if outcome.status != "skipped" or not outcome.reason.endswith("is starting"):
                return outcome
            await asyncio.sleep(0.1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set")
    parser.add_argument("answers", type=Path, nargs="+")
    args = parser.parse_args()
    rows = [
        case for case in read_cases(args.set, smoke=False, limit=0) if case["lang"] in ("python", "ts", "typescript")
    ]
    answers = {
        file.stem: {row["id"]: row["answer"] for row in map(json.loads, file.read_text().splitlines())}
        for file in args.answers
    }
    answers[GOLD] = {case["id"]: case["gold"] for case in rows}
    for run, counts in asyncio.run(check_answers(rows, answers)).items():
        checked = counts["passed"] + counts["failed"]
        share = counts["failed"] / checked if checked else 0.0
        print(f"{run}: {checked} checked, {counts['failed']} with an error ({share:.3f}), {counts['skipped']} skipped")


if __name__ == "__main__":
    main()
