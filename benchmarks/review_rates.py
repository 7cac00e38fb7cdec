"""The rate of YES of the check `review` on changes that are known to be right or wrong.

    python -m benchmarks.review_rates --pairs 60

A pair is one task with two changes: the one that repairs the program (right), and the one that breaks the repaired
program again (wrong). The tasks are the first of fix_quixbugs, fix_student and fix_humaneval, in turn, from
`LSP_HARNESS_EVAL_DATA` (see docs/benchmarks.md). Another model is chosen by LSP_HARNESS_MODEL__PATH.
"""

import argparse
import asyncio
from itertools import chain, zip_longest
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from benchmarks.fim import Case, read_cases
from lsp_harness.config.load import load
from lsp_harness.errors import HarnessError
from lsp_harness.inference.client import EngineClient
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.reviewer import ModelReview, Reviewer

SETS = ("fix_quixbugs", "fix_student", "fix_humaneval")
DOCSTRING = '\n\n\n"""\n'
"""The mark between a program of QuixBugs and its description."""


class Pair(NamedTuple):
    task: str
    faulty: str
    right: str
    path: str


class Answer(NamedTuple):
    is_right: bool
    review: ModelReview
    ms: float


def read_pair(row: Case) -> Pair:
    given = row["input"]
    faulty, _, description = given["code"].partition(DOCSTRING)
    task = given.get("docstring") or description.rstrip('"\n') or given["issue"]
    return Pair(task, f"{faulty.strip()}\n", f"{row['gold'].strip()}\n", given["path"])


def choose_right_and_wrong_changes(count: int) -> list[Pair]:
    rows = [[row for row in read_cases(name, smoke=False, limit=0) if row["lang"] == "python"] for name in SETS]
    in_turn = (row for row in chain.from_iterable(zip_longest(*rows)) if row)
    return [read_pair(row) for row, _ in zip(in_turn, range(count), strict=False)]


async def ask(reviewer: Reviewer, pair: Pair, *, is_right: bool) -> Answer:
    texts = (pair.faulty, pair.right) if is_right else (pair.right, pair.faulty)
    before, after = (Document.from_text(f"file:///{pair.path}", text, language="python") for text in texts)
    start = perf_counter()
    change = Change.from_documents(before, after, Path(pair.path))
    review = await reviewer.review(pair.task, ChangeSet.of(change))
    return Answer(is_right, review, 1000 * (perf_counter() - start))


async def run(count: int) -> list[Answer]:
    engine = EngineClient(load()[0])
    answers: list[Answer] = []
    for pair in choose_right_and_wrong_changes(count):
        for is_right in (True, False):
            try:
                answers.append(await ask(Reviewer(lambda: engine), pair, is_right=is_right))
            except HarnessError as error:
                print(f"{pair.path}: {error.message}")
    await engine.aclose()
    return answers


def report(answers: list[Answer]) -> None:
    kinds = {
        "right": [answer for answer in answers if answer.is_right],
        "wrong": [answer for answer in answers if not answer.is_right],
    }
    for kind, group in kinds.items():
        yes = sum(answer.review.is_yes for answer in group)
        print(f"{kind}: YES for {yes} of {len(group)}")
    chances = {kind: [a.review.yes_probability or 0.0 for a in group] for kind, group in kinds.items()}
    ordered = [(r > w) + (r == w) / 2 for r in chances["right"] for w in chances["wrong"]]
    print(f"a right change has the higher probability in {sum(ordered) / max(1, len(ordered)):.2f} of all comparisons")
    for limit in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        passed = {kind: sum(value >= limit for value in values) for kind, values in chances.items()}
        print(f"  YES from {limit:.1f} on: {passed['right']} right, {passed['wrong']} wrong")
    times = sorted(answer.ms for answer in answers)
    print(f"{times[len(times) // 2]:.0f} ms at the median, {times[-1]:.0f} ms at most")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=60)
    report(asyncio.run(run(parser.parse_args().pairs)))


if __name__ == "__main__":
    main()
