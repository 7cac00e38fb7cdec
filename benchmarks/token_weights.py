"""The weights by which edits of one token are ordered, fitted and measured on real code with one fault.

    python -m benchmarks.token_weights fit grammars/recovery/weights.json CASES.jsonl...
    python -m benchmarks.token_weights measure CASES.jsonl...

Rows have `language`, `kind`, `text` and `truth` (those of `token_faults` and of `one_fault`). A weight says how much an
observation of `syntax/recovery/edit_evidence.py` speaks against an edit: a conditional logit model, fitted by
gradient descent over the edits after which each text parses, and the case that the true text is none of them. Rows
whose path and text say that a finding was reported by a linter are left out.
"""

import argparse
import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lsp_harness.syntax.parse_budget import BUDGET, Allowance
from lsp_harness.syntax.recovery.broken_text import BrokenText
from lsp_harness.syntax.recovery.edit_evidence import Evidence, EvidenceCollector, add_comparisons, no_edit_evidence
from lsp_harness.syntax.recovery.edits.generators import trials
from lsp_harness.syntax.recovery.recovery import TrialLimits, find_recoveries
from lsp_harness.syntax.syntax_errors import find_faults, find_python_fault
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.document import Document
from lsp_harness.text.edit import apply
from lsp_harness.text.position import decode

RARE = 6
"""Observations that are made less often have no weight."""
RIDGE = 0.15
STEPS = 500
TRIALS = 1500
CONFIDENT_COST = 0.3


class Choice(NamedTuple):
    """The observations of each edit of one text, and which of them gives the true text."""

    observed: list[Mapping[str, float]]
    right: int


def read_texts(files: Sequence[Path]) -> Iterator[tuple[dict[str, Any], SyntaxTree]]:
    for file in files:
        for line in file.read_text("utf-8").split("\n"):
            row = json.loads(line) if line else {}
            if not row or row.get("diagnostic"):
                continue
            tree = parse(Document.from_text("x", row["text"], language=row["language"]))
            if tree and (find_faults(tree) or (row["language"] == "python" and find_python_fault(tree.data))):
                yield row, tree


def remove_blanks(text: str, language: str) -> str:
    """Return a text without the blanks that have no meaning."""
    if language != "python":
        return "".join(text.split())
    lines = [line for line in text.split("\n") if line.strip()]
    return "\n".join(line[: len(line) - len(line.lstrip())] + "".join(line.split()) for line in lines)


def make_choice(row: Mapping[str, Any], tree: SyntaxTree) -> Choice:
    start = find_first_fault(tree)
    scene = BrokenText(tree, start, start)
    judge, observed, right = EvidenceCollector(scene), list[Evidence](), -1
    truth = remove_blanks(row["truth"], row["language"])
    for _, trial in zip(range(TRIALS), trials(scene), strict=False):
        after = tree.apply_edit(trial.edit, Allowance(BUDGET.text_s))
        if after is None or find_faults(after) or (row["language"] == "python" and find_python_fault(after.data)):
            continue
        if remove_blanks(decode(after.data), row["language"]) == truth:
            if right >= 0:
                continue
            right = len(observed)
        observed.append({**judge.observe_before_trial(trial), **judge.observe_after_trial(trial, after)})
    add_comparisons(observed)
    return Choice([*observed, no_edit_evidence(len(observed))], right if right >= 0 else len(observed))


def find_first_fault(tree: SyntaxTree) -> int:
    faults = find_faults(tree)
    fault = find_python_fault(tree.data) if tree.language.id == "python" else None
    return faults[0].start if faults else fault.start if fault else 0


def fit(choices: Sequence[Choice]) -> dict[str, float]:
    counts = Counter(name for one in choices for observed in one.observed for name in observed)
    names = sorted(name for name, count in counts.items() if count >= RARE)
    places = {name: place for place, name in enumerate(names)}
    rows = [
        (n, observed, place == one.right)
        for n, one in enumerate(choices)
        for place, observed in enumerate(one.observed)
    ]
    values = np.zeros((len(rows), len(names)), dtype=np.float32)
    for number, (_, observed, _) in enumerate(rows):
        for name, value in observed.items():
            if name in places:
                values[number, places[name]] = value
    of = np.array([n for n, _, _ in rows])
    right = np.array([is_right for _, _, is_right in rows])
    weights = np.zeros(len(names))
    slope, square = np.zeros(len(names)), np.zeros(len(names))
    for step in range(1, STEPS):
        # both of one width: numpy would else copy all values at each step
        score = -(values @ weights.astype(np.float32))
        top = np.full(len(choices), -1e9)
        np.maximum.at(top, of, score)
        odds = np.exp(score - top[of])
        share = odds / np.bincount(of, odds, len(choices))[of]
        change = -(values.T @ (share - right).astype(np.float32)) + 2 * RIDGE * weights
        slope, square = 0.9 * slope + 0.1 * change, 0.99 * square + 0.01 * change * change
        rate = 0.05 if step < 350 else 0.01
        weights -= rate * (slope / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return {name: round(float(weight), 2) for name, weight in zip(names, weights, strict=True) if abs(weight) >= 0.05}


def measure(files: Sequence[Path]) -> None:
    """Print how often the first is right, surely or not, and how long it takes."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    times: list[float] = []
    for row, tree in read_texts(files):
        start = find_first_fault(tree)
        find_python_fault.cache_clear()
        begun = time.process_time()
        recoveries = find_recoveries(tree, start, start, TrialLimits(time_s=5.0))
        times.append((time.process_time() - begun) * 1000)
        truth = remove_blanks(row["truth"], row["language"])
        right = [
            remove_blanks(decode(apply(tree.data, [recovery.edit])), row["language"]) == truth
            for recovery in recoveries
        ]
        sure = len(recoveries) < 2 or recoveries[1].cost - recoveries[0].cost >= CONFIDENT_COST
        outcome = "none" if not recoveries else f"{'right' if right[0] else 'wrong'}{'' if sure else ', not sure'}"
        for group in ("all", row["language"], row["kind"]):
            counts[group][outcome] += 1
            counts[group]["right among 3"] += any(right[:3])
    for group, outcomes in counts.items():
        number = sum(outcomes.values()) - outcomes["right among 3"]
        print(f"{group:28} {number:5}", {name: f"{100 * n / number:.1f} %" for name, n in sorted(outcomes.items())})
    times.sort()
    print(f"median {times[len(times) // 2]:.1f} ms, p95 {times[int(len(times) * 0.95)]:.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verb", choices=("fit", "measure"))
    parser.add_argument("files", type=Path, nargs="+")
    args = parser.parse_args()
    if args.verb == "measure":
        measure(args.files)
        return
    out, *cases = args.files
    weights = fit([make_choice(row, tree) for row, tree in read_texts(cases)])
    out.write_text(json.dumps(weights, indent=1, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
