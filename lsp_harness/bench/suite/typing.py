"""`bench typing`: what a keystroke costs. Real edits typed key by key, the pauses between keys removed."""

from lsp_harness.bench.figures import REFERENCE, Figure, Goal, Result, p50, p95
from lsp_harness.bench.keystrokes import KeyTrace, languages, make_traces
from lsp_harness.bench.lab import Lab
from lsp_harness.bench.simulated_editor import SimulatedEditor, Typist
from lsp_harness.bench.timing import Timing, measure_stream

MAX_KEYS, MAX_KEYS_PER_EDIT = 440, 44
"""Keys in all, and of one edit at most: each edit begins with a prompt neither side has seen."""
TOKENS = 16
EDIT_BEGINNINGS = {
    False: "a cold prompt, which is counted",
    True: "a rest in which the full_totals prompt is evaluated_tokens, with what other files say",
}


async def run(lab: Lab) -> Result:
    """Both sides type the same edits, one edit after the other, each side first every second time."""
    found = make_traces(lab.edits, lab.size(MAX_KEYS), each=MAX_KEYS_PER_EDIT)
    ours: list[Timing] = []
    pairs: list[tuple[Timing, Timing]] = []
    behind: list[Timing] = []
    for number, trace in enumerate(found):
        lab.say(f"edit {number + 1} of {len(found)}: {trace.edit.path}")
        asked = lab.anchor_does(number)
        beside = await type_on_reference(lab, trace) if asked and number % 2 else []
        typed = await type_on_engine(lab, trace, behind)
        beside = beside or (await type_on_reference(lab, trace) if asked else [])
        ours += typed
        pairs += zip(typed, beside, strict=bool(beside))
    theirs = [b for _, b in pairs]
    return lab.result(
        "typing",
        f"{len(ours)} keys of {len(found)} edits in {', '.join(languages(found))}",
        figures(ours, pairs, behind),
        f"each of the {len(found)} edits begins with {EDIT_BEGINNINGS[lab.options.rest]}; {TOKENS} tokens asked for",
        series={
            "prompt tokens evaluated": {"ours": evaluated_tokens(ours), REFERENCE: evaluated_tokens(theirs)},
            "time to first token, ms": {"ours": first_token_ms(ours), REFERENCE: first_token_ms(theirs)},
        },
    )


async def type_on_engine(lab: Lab, trace: KeyTrace, behind: list[Timing] | None = None) -> list[Timing]:
    """Type a trace; evaluations nobody waited for go to `behind`. The engine is idle afterwards."""
    editor = SimulatedEditor(lab.ours, trace.edit, lab.workspaces.known(trace.edit))
    typist = Typist(editor, trace.edit)
    if lab.options.rest:
        await editor.rest(typist.hole)
        await editor.settle()
    timings = [await typist.key(typed, TOKENS) for typed in trace.typed]
    await editor.settle()
    if behind is not None:
        behind += editor.background
    return timings


async def type_on_reference(lab: Lab, trace: KeyTrace, slot: int = 0) -> list[Timing]:
    """Nothing without an anchor."""
    if lab.anchor is None:
        return []
    edit = trace.edit
    return [
        await measure_stream(lab.anchor.infill(edit.before + typed, edit.after, TOKENS, slot)) for typed in trace.typed
    ]


def evaluated_tokens(timings: list[Timing]) -> list[float]:
    return [float(timing.evaluated) for timing in timings]


def first_token_ms(timings: list[Timing]) -> list[float]:
    return [timing.first_ms for timing in timings]


def full_totals(ours: list[Timing], pairs: list[tuple[Timing, Timing]]) -> tuple[list[float], list[float]]:
    """Totals of the requests for which each side generated all tokens: an answer that ends early is no 16 tokens."""
    if not pairs:
        return [timing.total_ms for timing in ours if timing.generated >= TOKENS], []
    both = [(a, b) for a, b in pairs if min(a.generated, b.generated) >= TOKENS]
    return [a.total_ms for a, _ in both], [b.total_ms for _, b in both]


def figures(ours: list[Timing], pairs: list[tuple[Timing, Timing]], behind: list[Timing]) -> list[Figure]:
    theirs = [b for _, b in pairs]
    total, beside = full_totals(ours, pairs)
    tokens, theirs_tokens = evaluated_tokens(ours), evaluated_tokens(theirs)
    began, theirs_began = first_token_ms(ours), first_token_ms(theirs)
    hidden = sum(timing.evaluated for timing in behind) / len(ours)
    short = 100 * sum(timing.usage.rung > 0 for timing in ours) / len(ours)
    return [
        Figure("prompt tokens evaluated, p50", p50(tokens), p50(theirs_tokens), REFERENCE, "", Goal(3)),
        Figure("prompt tokens evaluated, p95", p95(tokens), p95(theirs_tokens), REFERENCE, "", Goal(64)),
        Figure("time to first token, p50", p50(began), p50(theirs_began), REFERENCE, goal=Goal(1 / 20, "ratio")),
        Figure("time to first token, p95", p95(began), p95(theirs_began), REFERENCE, goal=Goal(1 / 4, "ratio")),
        Figure(
            f"total of {len(total)} completions of {TOKENS} tokens, p50",
            p50(total),
            p50(beside),
            REFERENCE,
            goal=Goal(0.4, "ratio"),
        ),
        Figure("prompt tokens evaluated in the background, mean per key", hidden, unit=""),
        Figure("keys answered from a short prompt", short, unit="%"),
    ]
