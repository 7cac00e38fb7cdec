"""`bench share`: four clients taking turns in four files, and what it costs each of them."""

from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from lsp_harness.bench.figures import ANCHOR, Figure, Goal, Result, p50, p95
from lsp_harness.bench.keystrokes import Trace, strokes
from lsp_harness.bench.lab import Lab
from lsp_harness.bench.real_edits import RealEdit, distinct
from lsp_harness.bench.simulated_editor import Editor, Typist
from lsp_harness.bench.suite.typing import first, on_anchor
from lsp_harness.bench.timing import Timing, timed
from lsp_harness.inference.models.gguf import read_header
from lsp_harness.syntax.outline import build_outline
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document

CLIENTS, KEYS = 4, 30
TOKENS = 16
FEW = 8
"""Declarations that one window may show."""
MIB = 2**20


async def run(lab: Lab) -> Result:
    """One client types all four edits; then four clients type the same ones in other files, key by key in turn."""
    keys = lab.size(KEYS)
    edits = [edit for edit in lab.edits if outlined(edit)] or lab.edits
    found = [strokes(edit, 0, keys) for edit in distinct(edits, CLIENTS)]
    lab.say("one client")
    alone = [await typed_alone(lab, elsewhere(trace, "alone")) for trace in found]
    before = lab.ours.rss
    lab.say(f"{CLIENTS} clients in turn")
    shared = await in_turn(lab, [elsewhere(trace, "shared") for trace in found])
    grown = lab.ours.rss - before
    theirs_alone, theirs_shared = list[Timing](), list[Timing]()
    if lab.anchor:
        lab.say("llama-server, one client and two in the same slot")
        fewer = [replace(trace, typed=trace.typed[: 1 + keys // lab.options.anchor_every]) for trace in found]
        theirs_alone = [t for trace in fewer[:2] for t in (await on_anchor(lab, trace))[1:]]
        theirs_shared = await pinned(lab, fewer[2:])
    quiet = [timing for typed in alone for timing in typed[1:]]
    busy = [timing for typed in shared for timing in typed[1:]]
    return lab.result(
        "share",
        f"{len(shared)} clients taking turns in as many files, {keys} keys each",
        [
            *figures(quiet, busy),
            Figure(
                "growth of the engine's memory",
                grown / MIB,
                kv_bytes(lab.ours.model, lab.ours.config.model.context_length) / MIB or None,
                "the KV cells",
                "MiB",
                Goal(1, "ratio"),
            ),
            Figure(
                f"{ANCHOR}: reuse, two clients in one slot",
                reuse(theirs_shared),
                reuse(theirs_alone),
                f"one client, {ANCHOR}",
                "%",
            ),
            Figure(
                f"{ANCHOR}: time to first token, two clients in one slot, p50",
                p50(first(theirs_shared)),
                p50(first(theirs_alone)),
                f"one client, {ANCHOR}",
            ),
        ],
        "the first key of each file, which nobody could have evaluated before, is left out",
        series={
            "time to first token, ms": {
                "ours, one client": first(quiet),
                f"ours, {CLIENTS} clients": first(busy),
                f"{ANCHOR}, one client": first(theirs_alone),
                f"{ANCHOR}, two clients": first(theirs_shared),
            }
        },
    )


def outlined(edit: RealEdit) -> bool:
    """Whether prompts in this file begin with an outline wherever the window is."""
    tree = parse(Document.of(edit.path, edit.before + edit.after, language=edit.language))
    return tree is not None and len(build_outline(tree)) > FEW


def elsewhere(trace: Trace, folder: str) -> Trace:
    """The same edit in a file of another path, which the outline, and so the prompt, begins with."""
    return replace(trace, edit=replace(trace.edit, path=f"{folder}/{trace.edit.path}"))


async def typed_alone(lab: Lab, trace: Trace) -> list[Timing]:
    typist = Typist(Editor(lab.ours, trace.edit, client="alone", patient=True), trace.edit)
    return [await typist.key(typed, TOKENS) for typed in trace.typed]


async def in_turn(lab: Lab, found: list[Trace]) -> list[list[Timing]]:
    """Timings by client."""
    typists = [
        Typist(Editor(lab.ours, trace.edit, client=f"client {number}", patient=True), trace.edit)
        for number, trace in enumerate(found)
    ]
    timings: list[list[Timing]] = [[] for _ in found]
    for turn in zip_longest(*(trace.typed for trace in found)):
        for typist, typed, own in zip(typists, turn, timings, strict=True):
            if typed is not None:
                own.append(await typist.key(typed, TOKENS))
    return timings


async def pinned(lab: Lab, found: list[Trace]) -> list[Timing]:
    """Two clients of llama-server in turn, both in slot 0 as llama.vim's are; without the first of each."""
    timings: list[Timing] = []
    for turn, states in enumerate(zip_longest(*(trace.typed for trace in found))):
        for trace, typed in zip(found, states, strict=True):
            if typed is not None and lab.anchor:
                edit = trace.edit
                timing = await timed(lab.anchor.infill(edit.before + typed, edit.after, TOKENS))
                timings += [timing] if turn else []
    return timings


def reuse(timings: list[Timing]) -> float | None:
    """Percent of all prompt tokens that came from the cache."""
    reused = sum(timing.usage.reused for timing in timings)
    tokens = reused + sum(timing.evaluated for timing in timings)
    return 100 * reused / tokens if tokens else None


def kv_bytes(model: Path, cells: int) -> int:
    """Bytes of `cells` KV cells in 16 bits; 0 where the file's header does not say what a cell is made of."""
    header = read_header(model)
    heads = header.number("attention.head_count")
    width = header.number("attention.key_length") or (header.embedding_length // heads if heads else 0)
    kv_heads = header.number("attention.head_count_kv") or heads
    return 2 * 2 * header.layers * kv_heads * width * cells


def figures(quiet: list[Timing], busy: list[Timing]) -> list[Figure]:
    one = "one client"
    return [
        Figure("reuse", reuse(busy), reuse(quiet), one, "%", Goal(97, least=True)),
        Figure(
            "total of a completion, p50",
            p50([t.total_ms for t in busy]),
            p50([t.total_ms for t in quiet]),
            one,
            goal=Goal(1.2, "ratio"),
        ),
        Figure("time to first token, p50", p50(first(busy)), p50(first(quiet)), one, goal=Goal(1.2, "ratio")),
        Figure("time to first token, p95", p95(first(busy)), p95(first(quiet)), one),
    ]
