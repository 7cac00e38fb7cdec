"""`bench typing`: the cost of a keystroke. Real edits are typed key by key, without pauses between keys."""

from benchmarks.engine.figures import REFERENCE, Figure, Goal, Result, p50, p95
from benchmarks.engine.keystrokes import KeyTrace, list_languages, make_traces
from benchmarks.engine.lab import Lab
from benchmarks.engine.simulated_editor import SimulatedEditor, Typist
from benchmarks.engine.timing import Timing, measure_stream

MAX_KEYS, MAX_KEYS_PER_EDIT = 440, 44
"""Keys of the run, and keys of one edit. Each edit begins with a new prompt."""
TOKENS = 16
EDIT_BEGINNINGS = {
    False: "a cold prompt, which is counted",
    True: "a rest in which the full prompt is evaluated, with what other files say",
}


async def run(lab: Lab) -> Result:
    """Type the same edits on both servers, in alternating order."""
    traces = make_traces(lab.edits, lab.size(MAX_KEYS), max_keys=MAX_KEYS_PER_EDIT)
    ours: list[Timing] = []
    pairs: list[tuple[Timing, Timing]] = []
    background: list[Timing] = []
    for number, trace in enumerate(traces):
        lab.say(f"edit {number + 1} of {len(traces)}: {trace.edit.path}")
        is_compared = lab.runs_on_reference(number)
        reference_timings = await type_on_reference(lab, trace) if is_compared and number % 2 else []
        own_timings = await type_on_engine(lab, trace, background)
        reference_timings = reference_timings or (await type_on_reference(lab, trace) if is_compared else [])
        ours += own_timings
        pairs += zip(own_timings, reference_timings, strict=bool(reference_timings))
    theirs = [b for _, b in pairs]
    return lab.result(
        "typing",
        f"{len(ours)} keys of {len(traces)} edits in {', '.join(list_languages(traces))}",
        make_figures(ours, pairs, background),
        f"each of the {len(traces)} edits begins with {EDIT_BEGINNINGS[lab.options.rest]}; {TOKENS} tokens asked for",
        series={
            "prompt tokens evaluated": {"ours": list_evaluated_tokens(ours), REFERENCE: list_evaluated_tokens(theirs)},
            "time to first token, ms": {"ours": list_first_token_ms(ours), REFERENCE: list_first_token_ms(theirs)},
        },
    )


async def type_on_engine(lab: Lab, trace: KeyTrace, background: list[Timing] | None = None) -> list[Timing]:
    """Type an edit on our engine, and wait until the engine is idle.

    `background` gets the evaluations for which no user waited.
    """
    editor = SimulatedEditor(lab.engine, trace.edit, lab.workspaces.index_of(trace.edit))
    typist = Typist(editor, trace.edit)
    if lab.options.rest:
        await editor.rest(typist.hole)
        await editor.settle()
    timings = [await typist.key(state, TOKENS) for state in trace.states]
    await editor.settle()
    if background is not None:
        background += editor.background_timings
    return timings


async def type_on_reference(lab: Lab, trace: KeyTrace, slot: int = 0) -> list[Timing]:
    """Type an edit on llama-server; return nothing if there is none."""
    if lab.reference is None:
        return []
    edit = trace.edit
    return [
        await measure_stream(lab.reference.infill(edit.before + state, edit.after, TOKENS, slot))
        for state in trace.states
    ]


def list_evaluated_tokens(timings: list[Timing]) -> list[float]:
    """Return the number of evaluated prompt tokens of each request."""
    return [float(timing.evaluated) for timing in timings]


def list_first_token_ms(timings: list[Timing]) -> list[float]:
    """Return the time to the first token of each request."""
    return [timing.first_ms for timing in timings]


def select_full_totals(ours: list[Timing], pairs: list[tuple[Timing, Timing]]) -> tuple[list[float], list[float]]:
    """Return the total times of the requests for which both servers generated all tokens. Other answers are shorter."""
    if not pairs:
        return [timing.total_ms for timing in ours if timing.generated >= TOKENS], []
    both = [(a, b) for a, b in pairs if min(a.generated, b.generated) >= TOKENS]
    return [a.total_ms for a, _ in both], [b.total_ms for _, b in both]


def make_figures(ours: list[Timing], pairs: list[tuple[Timing, Timing]], background: list[Timing]) -> list[Figure]:
    """Return the times and the evaluated prompt tokens of both servers.

    Args:
        ours: Our requests, one for each key.
        pairs: Our request and that of llama-server for each key that both got.
        background: Our requests that only evaluated a prompt in the background.
    """
    theirs = [b for _, b in pairs]
    total, reference_timings = select_full_totals(ours, pairs)
    tokens, theirs_tokens = list_evaluated_tokens(ours), list_evaluated_tokens(theirs)
    first, theirs_first = list_first_token_ms(ours), list_first_token_ms(theirs)
    background_mean = sum(timing.evaluated for timing in background) / len(ours)
    short = 100 * sum(timing.usage.rung > 0 for timing in ours) / len(ours)
    return [
        Figure("prompt tokens evaluated, p50", p50(tokens), p50(theirs_tokens), REFERENCE, "", Goal(3)),
        Figure("prompt tokens evaluated, p95", p95(tokens), p95(theirs_tokens), REFERENCE, "", Goal(64)),
        Figure("time to first token, p50", p50(first), p50(theirs_first), REFERENCE, goal=Goal(1 / 20, "ratio")),
        Figure("time to first token, p95", p95(first), p95(theirs_first), REFERENCE, goal=Goal(1 / 4, "ratio")),
        Figure(
            f"total of {len(total)} completions of {TOKENS} tokens, p50",
            p50(total),
            p50(reference_timings),
            REFERENCE,
            goal=Goal(0.4, "ratio"),
        ),
        Figure("prompt tokens evaluated in the background, mean per key", background_mean, unit=""),
        Figure("keys answered from a short prompt", short, unit="%"),
    ]
