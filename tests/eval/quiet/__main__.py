"""The quiet gate with the real model, with and without it.

    python -m tests.eval.quiet
    python -m tests.eval.quiet --half held --out quiet.jsonl
    python -m tests.eval.quiet --half chosen --sweep

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

from lsp_harness.completion.completer import Completer
from lsp_harness.completion.policy.trigger_policy import TriggerPolicy
from lsp_harness.completion.policy.trigger_rules import MIN_PROBABILITY
from lsp_harness.config.load import load
from lsp_harness.config.schema import Config
from lsp_harness.inference.client import EngineClient
from tests.eval.quiet.figures import HEAD, Figures
from tests.eval.quiet.scenarios import HALVES, Half, of
from tests.support.desk import Desk
from tests.support.quiet import Scenario

PATIENT_MS = 120_000
THRESHOLDS = (0.0, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8)


@dataclass(frozen=True)
class Outcome:
    """What the model had to say (`text`, empty for nothing) and the rule that kept it from the screen."""

    name: str
    silent: bool
    text: str
    probability: float | None
    rule: str

    def quiet(self, least: float) -> bool:
        """Whether nothing is shown with that threshold."""
        known = self.probability is not None and self.probability < least
        return not self.text or self.rule not in ("", MIN_PROBABILITY) or known


async def run(scenarios: list[Scenario], config: Config) -> list[Outcome]:
    engine = EngineClient(config)
    settings = replace(config.completion, latency_ms=PATIENT_MS, warm=False, speculate=False)
    found: list[Outcome] = []
    for number, scenario in enumerate(scenarios):
        # told in any case, so that other thresholds can be looked at
        quiet = replace(config.quiet, min_probability=config.quiet.min_probability or 1e-9)
        cursor = scenario.cursor()
        completer = Desk(Completer(engine, settings, TriggerPolicy(quiet)))
        scenario.live(completer.opened(cursor.document).history)
        place = (cursor.document, cursor.tree, cursor.offset, cursor.path)
        asked = await completer.complete(*place)
        probability = completer.last_figures.get("probability") if asked else None
        # it is not on the screen of who did not ask
        completer.close(cursor.document.uri)
        scenario.live(completer.opened(cursor.document).history)
        by_itself = await completer.complete(*place, automatic=True)
        rule = completer.last_figures.get("quiet", "")
        outcome = Outcome(scenario.name, scenario.silent, asked.text if asked else "", probability, rule)
        assert (by_itself is None) is outcome.quiet(quiet.min_probability), outcome
        found.append(outcome)
        sys.stderr.write(f"\r{number + 1}/{len(scenarios)} ")
        sys.stderr.flush()
    await engine.aclose()
    sys.stderr.write("\n")
    return found


def report(found: list[Outcome], least: float) -> list[tuple[str, Figures]]:
    """Without the gate, with the rules alone, with all of it."""
    return [
        ("without", Figures.of((one.silent, not one.text) for one in found)),
        ("rules", Figures.of((one.silent, one.quiet(0.0)) for one in found)),
        (f"rules and {least:g}", Figures.of((one.silent, one.quiet(least)) for one in found)),
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
        found = asyncio.run(run(of(half), config))
        if args.out:
            with args.out.open("a") as out:
                out.writelines(json.dumps({"half": half, **asdict(one)}) + "\n" for one in found)
        print(f"{half}: {len(found)} scenarios; {HEAD}")
        for name, figures in report(found, config.quiet.min_probability):
            print(f"  {name:>16} | {figures.row()}")
        for least in THRESHOLDS if args.sweep else ():
            print(f"  {least:16.2f} | {Figures.of((one.silent, one.quiet(least)) for one in found).row()}")


if __name__ == "__main__":
    main()
