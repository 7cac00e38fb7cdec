"""The quiet gate with the real model, with and without it.

    python -m benchmarks.quiet
    python -m benchmarks.quiet --half held --out quiet.jsonl
    python -m benchmarks.quiet --half chosen --sweep

Each scenario is asked twice of one completer: as a user who asks, whom no gate concerns, and by itself. What the model
wrote for the first is known for the second, so both are about the same text. There is time for the full prompt.
`--sweep` shows what other thresholds of `quiet.min_probability` would do.
"""

import argparse
import asyncio
import json
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.quiet.figures import HEAD, Figures
from benchmarks.quiet.scenarios import HALVES, Half, read_scenarios
from lsp_harness.completion.completer import Completer
from lsp_harness.completion.trigger_policy import MIN_PROBABILITY, TriggerPolicy
from lsp_harness.config.load import load
from lsp_harness.config.schema import Config
from lsp_harness.inference.client import EngineClient
from tests.support.desk import Desk
from tests.support.quiet import Scenario

PATIENT_MS = 120_000
THRESHOLDS = (0.0, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8)


@dataclass(frozen=True)
class Outcome:
    """The text of the model (empty for none) and the rule that kept it from the screen."""

    name: str
    silent: bool
    text: str
    probability: float | None
    rule: str

    def is_quiet(self, threshold: float) -> bool:
        """Return whether nothing is shown with that threshold."""
        is_improbable = self.probability is not None and self.probability < threshold
        return not self.text or self.rule not in ("", MIN_PROBABILITY) or is_improbable


async def run(scenarios: list[Scenario], config: Config) -> list[Outcome]:
    engine = EngineClient(config)
    settings = replace(config.completion, latency_ms=PATIENT_MS, warm=False, speculate=False)
    outcomes: list[Outcome] = []
    for number, scenario in enumerate(scenarios):
        # The probability is computed in any case, so that `report` can apply other thresholds.
        quiet = replace(config.quiet, min_probability=config.quiet.min_probability or 1e-9)
        cursor = scenario.cursor()
        completer = Desk(Completer(engine, settings, TriggerPolicy(quiet)))
        scenario.live(completer.opened(cursor.document).history)
        place = (cursor.document, cursor.tree, cursor.offset, cursor.path)
        answer = await completer.complete(*place)
        probability = completer.last_figures.get("probability") if answer else None
        # A user who did not request a suggestion has none on the screen.
        completer.close(cursor.document.uri)
        scenario.live(completer.opened(cursor.document).history)
        by_itself = await completer.complete(*place, automatic=True)
        rule = completer.last_figures.get("quiet", "")
        outcome = Outcome(scenario.name, scenario.silent, answer.text if answer else "", probability, rule)
        assert (by_itself is None) is outcome.is_quiet(quiet.min_probability), outcome
        outcomes.append(outcome)
        sys.stderr.write(f"\r{number + 1}/{len(scenarios)} ")
        sys.stderr.flush()
    await engine.aclose()
    sys.stderr.write("\n")
    return outcomes


def report(outcomes: list[Outcome], threshold: float) -> list[tuple[str, Figures]]:
    """Return the figures without the gate, with the rules alone and with the whole gate."""
    return [
        ("without", Figures.of((outcome.silent, not outcome.text) for outcome in outcomes)),
        ("rules", Figures.of((outcome.silent, outcome.is_quiet(0.0)) for outcome in outcomes)),
        (f"rules and {threshold:g}", Figures.of((outcome.silent, outcome.is_quiet(threshold)) for outcome in outcomes)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    config, _ = load()
    halves: list[Half] = [args.half] if args.half else list(HALVES)
    for half in halves:
        outcomes = asyncio.run(run(read_scenarios(half), config))
        if args.out:
            with args.out.open("a") as out:
                out.writelines(json.dumps({"half": half, **asdict(outcome)}) + "\n" for outcome in outcomes)
        print(f"{half}: {len(outcomes)} scenarios; {HEAD}")
        for name, figures in report(outcomes, config.quiet.min_probability):
            print(f"  {name:>16} | {figures.row()}")
        for threshold in THRESHOLDS if args.sweep else ():
            figures = Figures.of((outcome.silent, outcome.is_quiet(threshold)) for outcome in outcomes)
            print(f"  {threshold:16.2f} | {figures.row()}")


if __name__ == "__main__":
    main()
