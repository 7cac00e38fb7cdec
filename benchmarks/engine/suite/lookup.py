"""`bench lookup`: rewrites of a function of 60 lines that change three, with and without drafts from the prompt."""

import difflib
from pathlib import Path

from benchmarks.engine.figures import Figure, Goal, Result, p50
from benchmarks.engine.lab import Lab
from benchmarks.engine.timing import Timing, measure_stream
from lsp_harness.inference.request import Continuation, Owner, Sampling

SAMPLE = Path(__file__).parent.parent / "sample" / "invoice.py.txt"
TASKS = (
    (
        ('currency = invoice.get("currency", "EUR")', 'currency = invoice.get("currency", "USD")'),
        ('name = invoice.get("customer", "unknown")', 'name = invoice.get("customer", "nobody")'),
        ("share = 0.0", "share = 1.0"),
    ),
    (
        ("amount = round(amount * rate, 2)", "amount = round(amount * rate, 3)"),
        ('quantity = line.get("quantity", 1)', 'quantity = line.get("quantity", 0)'),
        ('customer["count"] += 1', 'customer["count"] += 2'),
    ),
    (
        ("if quantity < 0 or price < 0:", "if quantity <= 0 or price <= 0:"),
        ('state = "open"', 'state = "pending"'),
        ('"share": round(share, 4),', '"share": round(share, 6),'),
    ),
)
"""Changes by task: a line of the sample, and the line that replaces it."""
TOKENS = 900
WITHOUT_DRAFTING = "without drafting"


async def run(lab: Lab) -> Result:
    """Rewrite greedily, each task once with and once without drafts, in alternating order."""
    function = SAMPLE.read_text(encoding="utf-8")
    tasks = TASKS[: lab.size(len(TASKS))]
    drafted: list[Timing] = []
    plain: list[Timing] = []
    for number, task in enumerate(tasks):
        lab.say(f"rewrite {number + 1} of {len(tasks)}")
        changes = "\n".join(f"- `{old}` becomes `{new}`" for old, new in task)
        prompt = await lab.engine.client.chat_prompt(
            [
                ("system", "You rewrite code. Answer with the whole function in one code block and nothing else."),
                ("user", f"```python\n{function}```\n\nChange three lines of it and nothing else:\n{changes}"),
            ]
        )
        for lookup in (True, False) if number % 2 else (False, True):
            (drafted if lookup else plain).append(await rewrite(lab, prompt, lookup=lookup))
    changed = [count_changed_lines(function, timing.text) for timing in plain]
    return lab.result(
        "lookup",
        f"{len(tasks)} rewrites of {function.count(chr(10))} lines at temperature 0",
        make_figures(drafted, plain),
        f"lines the model really changed, by task: {', '.join(str(n) for n in changed)} (three were asked for)",
        "tokens per second of generation: the prompt is not counted",
        series={
            "tokens per second": {
                "with": compute_generation_speeds(drafted),
                "without": compute_generation_speeds(plain),
            }
        },
    )


async def rewrite(lab: Lab, prompt: str, *, lookup: bool) -> Timing:
    """Generate one answer, with drafts if `lookup`."""
    sampling = Sampling(n_predict=TOKENS, lookup=lookup)
    return await measure_stream(lab.engine.client.stream(Continuation(prompt, sampling, owner=Owner("bench"))))


def count_changed_lines(before: str, answer: str) -> int:
    """Return the number of lines of the function that the code block of the answer has changed or left out."""
    code = answer.split("```")[1].partition("\n")[2] if "```" in answer else answer
    compared = difflib.SequenceMatcher(None, before.splitlines(), code.splitlines(), autojunk=False)
    return sum(max(b - a, d - c) for kind, a, b, c, d in compared.get_opcodes() if kind != "equal")


def compute_generation_speeds(timings: list[Timing]) -> list[float]:
    """Return the generated tokens per second, from the first token to the last one."""
    return [
        (timing.generated - 1) * 1000 / (timing.total_ms - timing.first_ms)
        for timing in timings
        if timing.total_ms > timing.first_ms
    ]


def make_figures(drafted: list[Timing], plain: list[Timing]) -> list[Figure]:
    """Return the figures of the answers with drafts, compared with those without."""
    same = sum(a.text == b.text for a, b in zip(drafted, plain, strict=True))
    accepted = sum(timing.usage.accepted for timing in drafted)
    proposed = sum(timing.usage.drafted for timing in drafted)
    return [
        Figure(
            "tokens per second, p50",
            p50(compute_generation_speeds(drafted)),
            p50(compute_generation_speeds(plain)),
            WITHOUT_DRAFTING,
            "/s",
            Goal(1.8, "ratio", is_minimum=True),
        ),
        Figure("identical answers", float(same), float(len(plain)), "answers", "", Goal(1, "ratio", is_minimum=True)),
        Figure("drafted tokens accepted", 100 * accepted / proposed if proposed else None, unit="%"),
        Figure("total, p50", p50([t.total_ms for t in drafted]), p50([t.total_ms for t in plain]), WITHOUT_DRAFTING),
    ]
