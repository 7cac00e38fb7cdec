"""The share of prompts that a real model sorts into the right intent, and how often it decides right about a plan.

    python -m tests.benchmarks.understand [MODEL]

The first file of sentences chose the examples of the prompt, and the second one did not. The results are in
docs/code-driver.md.
"""

import asyncio
import json
import sys
from pathlib import Path
from time import perf_counter

from lsp_harness.coding.plan.plan_choice import decide_item
from lsp_harness.coding.plan.understanding import understand_prompt
from lsp_harness.config.schema import Config
from lsp_harness.events.plan_events import PlannedItem
from lsp_harness.sessions.model_choice import create_model

FOLDER = Path(__file__).parent.parent / "coding"
FILES = ("labelled_prompts.json", "held_out_prompts.json")


def read_labelled(name: str) -> list[list[str]]:
    """Return the rows of a file of labelled sentences."""
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


async def measure(model: str) -> None:
    """Print the figures of a model."""
    engine = create_model(Config(), "", model).engine
    try:
        temperature = Config().generation.temperature_classify
        for name in FILES:
            rows, started_s = read_labelled(name), perf_counter()
            wrong = [
                (text, intent, given)
                for text, intent in rows
                if (given := await understand_prompt(engine, text, temperature)) != intent
            ]
            ms = 1000 * (perf_counter() - started_s) / len(rows)
            print(f"{name}: {len(rows) - len(wrong)} of {len(rows)} right, {ms:.0f} ms each")
            print(*(f"  {text!r} is {intent}, not {given}" for text, intent, given in wrong), sep="\n")
        rows, started_s = read_labelled("labelled_items.json"), perf_counter()
        right = 0
        for task, symbol, role, *uses, answer in rows:
            # each use is a declaration and its line; the second one is that of the next item
            items = [
                PlannedItem("app.py", user, 1, role, f"uses {symbol}: {line}")
                for user, line in zip(uses[::2], uses[1::2], strict=True)
            ]
            right += await decide_item(engine, task, symbol, *items) == answer
        print(f"items of plans: {right} of {len(rows)}, {1000 * (perf_counter() - started_s) / len(rows):.0f} ms each")
    finally:
        await engine.aclose()


if __name__ == "__main__":
    asyncio.run(measure(*sys.argv[1:2] or [""]))
