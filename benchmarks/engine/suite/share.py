"""`bench share`: the cost of a completion if four clients type in four files in turn."""

from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from benchmarks.engine.figures import REFERENCE, Figure, Goal, Result, p50, p95
from benchmarks.engine.keystrokes import KeyTrace, make_trace
from benchmarks.engine.lab import Lab
from benchmarks.engine.real_edits import RealEdit, choose_edits_of_different_files
from benchmarks.engine.simulated_editor import SimulatedEditor, Typist
from benchmarks.engine.suite.typing import list_first_token_ms, type_on_reference
from benchmarks.engine.timing import Timing, measure_stream
from lsp_harness.inference.models.gguf import read_header
from lsp_harness.syntax.outline import build_outline
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document

CLIENTS, KEYS = 4, 30
TOKENS = 16
MAX_VISIBLE_DECLARATIONS = 8
"""Declarations that fit into one window of a prompt."""
MIB = 2**20


async def run(lab: Lab) -> Result:
    """Let one client type all four edits.

    Then let four clients type the same edits in other files, key by key in turn.
    """
    keys = lab.size(KEYS)
    edits = [edit for edit in lab.edits if has_outline(edit)] or lab.edits
    traces = [make_trace(edit, 0, keys) for edit in choose_edits_of_different_files(edits, CLIENTS)]
    lab.say("one client")
    alone = [await type_alone(lab, move_to_folder(trace, "alone")) for trace in traces]
    rss_before = lab.engine.rss
    lab.say(f"{CLIENTS} clients in turn")
    shared = await type_in_turn(lab, [move_to_folder(trace, "shared") for trace in traces])
    growth = lab.engine.rss - rss_before
    theirs_alone, theirs_shared = list[Timing](), list[Timing]()
    if lab.reference:
        lab.say("llama-server, one client and two in the same slot")
        fewer = [replace(trace, states=trace.states[: 1 + keys // lab.options.anchor_every]) for trace in traces]
        theirs_alone = [t for trace in fewer[:2] for t in (await type_on_reference(lab, trace))[1:]]
        theirs_shared = await type_in_one_slot(lab, fewer[2:])
    alone_timings = [timing for timings in alone for timing in timings[1:]]
    busy = [timing for timings in shared for timing in timings[1:]]
    return lab.result(
        "share",
        f"{len(shared)} clients taking turns in as many files, {keys} keys each",
        [
            *make_figures(alone_timings, busy),
            Figure(
                "growth of the engine's memory",
                growth / MIB,
                compute_kv_bytes(lab.engine.model, lab.engine.config.model.context_length) / MIB or None,
                "the KV cells",
                "MiB",
                Goal(1, "ratio"),
            ),
            Figure(
                f"{REFERENCE}: reuse, two clients in one slot",
                compute_reuse_percent(theirs_shared),
                compute_reuse_percent(theirs_alone),
                f"one client, {REFERENCE}",
                "%",
            ),
            Figure(
                f"{REFERENCE}: time to first token, two clients in one slot, p50",
                p50(list_first_token_ms(theirs_shared)),
                p50(list_first_token_ms(theirs_alone)),
                f"one client, {REFERENCE}",
            ),
        ],
        "the first key of each file, which nobody could have evaluated before, is left out",
        series={
            "time to first token, ms": {
                "ours, one client": list_first_token_ms(alone_timings),
                f"ours, {CLIENTS} clients": list_first_token_ms(busy),
                f"{REFERENCE}, one client": list_first_token_ms(theirs_alone),
                f"{REFERENCE}, two clients": list_first_token_ms(theirs_shared),
            }
        },
    )


def has_outline(edit: RealEdit) -> bool:
    """Return whether prompts in this file begin with an outline, wherever the window is."""
    tree = parse(Document.from_text(edit.path, edit.before + edit.after, language=edit.language))
    return tree is not None and len(build_outline(tree)) > MAX_VISIBLE_DECLARATIONS


def move_to_folder(trace: KeyTrace, folder: str) -> KeyTrace:
    """Return the same edit in another folder.

    The outline begins with the path, so the prompts differ from the beginning.
    """
    return replace(trace, edit=replace(trace.edit, path=f"{folder}/{trace.edit.path}"))


async def type_alone(lab: Lab, trace: KeyTrace) -> list[Timing]:
    """Type an edit as the only client."""
    typist = Typist(SimulatedEditor(lab.engine, trace.edit, client="alone", full_prompt=True), trace.edit)
    return [await typist.key(state, TOKENS) for state in trace.states]


async def type_in_turn(lab: Lab, traces: list[KeyTrace]) -> list[list[Timing]]:
    """Type the edits in turn, each by its own client, and return the timings by client."""
    typists = [
        Typist(SimulatedEditor(lab.engine, trace.edit, client=f"client {number}", full_prompt=True), trace.edit)
        for number, trace in enumerate(traces)
    ]
    timings: list[list[Timing]] = [[] for _ in traces]
    for turn in zip_longest(*(trace.states for trace in traces)):
        for typist, state, results in zip(typists, turn, timings, strict=True):
            if state is not None:
                results.append(await typist.key(state, TOKENS))
    return timings


async def type_in_one_slot(lab: Lab, traces: list[KeyTrace]) -> list[Timing]:
    """Type as two clients of llama-server in turn, both in slot 0 as with llama.vim.

    The first key of each is left out.
    """
    timings: list[Timing] = []
    for turn, states in enumerate(zip_longest(*(trace.states for trace in traces))):
        for trace, state in zip(traces, states, strict=True):
            if state is not None and lab.reference:
                edit = trace.edit
                timing = await measure_stream(lab.reference.infill(edit.before + state, edit.after, TOKENS))
                timings += [timing] if turn else []
    return timings


def compute_reuse_percent(timings: list[Timing]) -> float | None:
    """Return the percentage of prompt tokens that came from the cache."""
    reused = sum(timing.usage.reused for timing in timings)
    tokens = reused + sum(timing.evaluated for timing in timings)
    return 100 * reused / tokens if tokens else None


def compute_kv_bytes(model: Path, cells: int) -> int:
    """Return the bytes of `cells` KV cells with 16-bit values; 0 if the header does not contain the dimensions."""
    header = read_header(model)
    heads = header.number("attention.head_count")
    width = header.number("attention.key_length") or (header.embedding_length // heads if heads else 0)
    kv_heads = header.number("attention.head_count_kv") or heads
    return 2 * 2 * header.layers * kv_heads * width * cells


def make_figures(alone_timings: list[Timing], busy: list[Timing]) -> list[Figure]:
    """Return the reuse and the times of clients that share an engine, compared with those of one client."""
    comparison = "one client"
    return [
        Figure(
            "reuse",
            compute_reuse_percent(busy),
            compute_reuse_percent(alone_timings),
            comparison,
            "%",
            Goal(97, is_minimum=True),
        ),
        Figure(
            "total of a completion, p50",
            p50([t.total_ms for t in busy]),
            p50([t.total_ms for t in alone_timings]),
            comparison,
            goal=Goal(1.2, "ratio"),
        ),
        Figure(
            "time to first token, p50",
            p50(list_first_token_ms(busy)),
            p50(list_first_token_ms(alone_timings)),
            comparison,
            goal=Goal(1.2, "ratio"),
        ),
        Figure(
            "time to first token, p95",
            p95(list_first_token_ms(busy)),
            p95(list_first_token_ms(alone_timings)),
            comparison,
        ),
    ]
