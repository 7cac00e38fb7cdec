"""`bench jump`: what it costs to put the cursor elsewhere, rest, and begin a new line there."""

import asyncio
import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lsp_harness.bench.figures import ANCHOR, Figure, Goal, Result, p50, p95
from lsp_harness.bench.lab import Lab
from lsp_harness.bench.real_edits import RealEdit
from lsp_harness.bench.simulated_editor import Editor
from lsp_harness.bench.timing import Timing, timed
from lsp_harness.text.document import Document

JUMPS, FILES = 200, 4
REST = 0.3
"""Seconds between the jump and the first key."""
NEAR = 40
"""Lines: about a screen."""
RECENT = 8
TOKENS = 16
SEED = 0
Kind = Literal["near", "far", "back"]
KINDS: tuple[Kind, ...] = ("near", "far", "back")


@dataclass(frozen=True, slots=True)
class Jump:
    """`file` is an index; `offset` the end of a line that has text, in bytes."""

    kind: Kind
    file: int
    offset: int


@dataclass(frozen=True, slots=True)
class Landing:
    """What one jump cost. `warmed` is false where the first key came before the prompt was evaluated."""

    kind: Kind
    key: Timing
    warmed: bool = False


async def run(lab: Lab) -> Result:
    """The same jumps on both sides; llama.vim does nothing while a cursor rests."""
    edits = [written(edit) for edit in lab.edits[:FILES]]
    documents = [Document.from_text(edit.path, edit.before, language=edit.language) for edit in edits]
    jumps = route(documents, lab.size(JUMPS))
    editors = [Editor(lab.ours, edit, lab.workspaces.known(edit)) for edit in edits]
    ours: list[Landing] = []
    theirs: list[Landing] = []
    for number, jump in enumerate(jumps):
        if number % 10 == 0:
            lab.say(f"jump {number + 1} of {len(jumps)}")
        ours.append(await on_ours(editors[jump.file], jump))
        if lab.anchor and lab.anchor_does(number):
            document = documents[jump.file]
            text = (document.data[: jump.offset].decode("utf-8", "replace"), document.data[jump.offset :])
            before = text[0] + opened(document, jump.offset)
            key = await timed(lab.anchor.infill(before, text[1].decode("utf-8", "replace"), TOKENS))
            theirs.append(Landing(jump.kind, key))
    warmed = sum(landing.warmed for landing in ours)
    return lab.result(
        "jump",
        f"{len(jumps)} jumps in {len(edits)} files, {REST * 1000:.0f} ms of rest before the first key",
        figures(ours, theirs),
        f"in {warmed} of {len(jumps)} the full prompt was evaluated before the first key, "
        f"{sum(landing.key.usage.rung > 0 for landing in ours)} were answered from a shorter one",
        series={
            f"time to first token, {kind}, ms": {"ours": first(ours, kind), ANCHOR: first(theirs, kind)}
            for kind in KINDS
        },
    )


def written(edit: RealEdit) -> RealEdit:
    """The file with its edit in it."""
    return RealEdit(edit.path, edit.language, edit.before + edit.text + edit.after, "", "")


def route(documents: Sequence[Document], count: int) -> list[Jump]:
    """A walk: near, far and back in turn; the first is far, and back needs somewhere to go back to."""
    dice = random.Random(SEED)
    lines = [usable(document) for document in documents]
    recent: deque[Jump] = deque(maxlen=RECENT)
    jumps: list[Jump] = []
    for number in range(count):
        kind: Kind = "far" if not jumps else KINDS[number % 3]
        here = jumps[-1] if jumps else Jump("far", 0, 0)
        if kind == "back" and len(recent) > 1:
            to = dice.choice([jump for jump in recent if jump is not recent[-1]])
            jump = Jump("back", to.file, to.offset)
        else:
            file = here.file if kind == "near" else dice.randrange(len(documents))
            document = documents[file]
            at = document.line_of(here.offset)
            around = [line for line in lines[file] if 0 < abs(line - at) <= NEAR]
            line = dice.choice(around if kind == "near" and around else lines[file])
            jump = Jump("near" if kind == "near" and around else "far", file, document.line_span(line)[1])
        jumps.append(jump)
        recent.append(jump)
    return jumps


def usable(document: Document) -> list[int]:
    """Lines with text on them."""
    return [line for line in range(len(document.line_starts)) if document.line(line).strip()] or [0]


def opened(document: Document, offset: int) -> str:
    """The key that opens a line below: a newline, the indentation that editors repeat, and one more behind what opens a
    block."""
    line = document.line(document.line_of(offset)).decode("utf-8", "replace")
    # as wide as those who wrote the files have it
    unit = "  " if document.language == "typescript" else "    "
    deeper = unit if line.rstrip().endswith((":", "{", "(", "[")) else ""
    return "\n" + line[: len(line) - len(line.lstrip())] + deeper


async def on_ours(editor: Editor, jump: Jump) -> Landing:
    """Rest, warming meanwhile; then the key, which is taken back afterwards so that sites stay what they were."""
    await editor.rest(jump.offset)
    await asyncio.sleep(REST)
    warmed = editor.settled
    key = opened(editor.document, jump.offset)
    editor.replace(jump.offset, jump.offset, key)
    end = jump.offset + len(key.encode())
    timing = await editor.complete(end, TOKENS)
    # jumps are without pauses, but llama-server's turn must find the machine idle
    await editor.settle()
    editor.replace(jump.offset, end, "")
    return Landing(jump.kind, timing, warmed)


def first(landings: list[Landing], *kinds: Kind) -> list[float]:
    return [landing.key.first_ms for landing in landings if landing.kind in kinds]


def evaluated(landings: list[Landing], kind: Kind) -> list[float]:
    return [float(landing.key.evaluated) for landing in landings if landing.kind == kind]


def figures(ours: list[Landing], theirs: list[Landing]) -> list[Figure]:
    new, theirs_new = first(ours, "near", "far"), first(theirs, "near", "far")
    shown = [
        Figure("time to first token, near and far, p50", p50(new), p50(theirs_new), ANCHOR, goal=Goal(500)),
        Figure("time to first token, near and far, p95", p95(new), p95(theirs_new), ANCHOR, goal=Goal(1, "ratio")),
    ]
    for kind in KINDS:
        goal = Goal(100) if kind == "back" else None
        a, b = first(ours, kind), first(theirs, kind)
        shown.append(Figure(f"time to first token, {kind}, p50", p50(a), p50(b), ANCHOR, goal=goal))
        shown.append(Figure(f"time to first token, {kind}, p95", p95(a), p95(b), ANCHOR))
        a, b = evaluated(ours, kind), evaluated(theirs, kind)
        shown.append(Figure(f"prompt tokens evaluated at the key, {kind}, p50", p50(a), p50(b), ANCHOR, ""))
    return shown
