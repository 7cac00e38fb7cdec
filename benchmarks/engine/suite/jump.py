"""`bench jump`: the cost of moving the cursor to another place, resting, and beginning a new line there."""

import asyncio
import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks.engine.figures import REFERENCE, Figure, Goal, Result, p50, p95
from benchmarks.engine.lab import Lab
from benchmarks.engine.real_edits import RealEdit
from benchmarks.engine.simulated_editor import SimulatedEditor
from benchmarks.engine.timing import Timing, measure_stream
from lsp_harness.languages.language_table import find_language
from lsp_harness.text.document import Document

JUMPS, FILES = 200, 4
REST_S = 0.3
"""Time between the jump and the first key."""
NEAR_LINES = 40
"""Longest near jump in lines, about one screen."""
RECENT_JUMPS = 8
"""Jumps to which a jump back may go."""
TOKENS = 16
SEED = 0
JumpKind = Literal["near", "far", "back"]
JUMP_KINDS: tuple[JumpKind, ...] = ("near", "far", "back")


@dataclass(frozen=True, slots=True)
class Jump:
    """A jump to file number `file`. `offset` is the end of a line with text, in bytes."""

    kind: JumpKind
    file: int
    offset: int


@dataclass(frozen=True, slots=True)
class Landing:
    """The cost of one jump. `is_warm` is False if the first key came before the full prompt was evaluated."""

    kind: JumpKind
    key: Timing
    is_warm: bool = False


async def run(lab: Lab) -> Result:
    """Measure the same jumps on both servers. llama.vim does nothing while the cursor rests."""
    edits = [apply_edit(edit) for edit in lab.edits[:FILES]]
    documents = [Document.from_text(edit.path, edit.before, language=edit.language) for edit in edits]
    jumps = make_route(documents, lab.size(JUMPS))
    editors = [SimulatedEditor(lab.engine, edit, lab.workspaces.index_of(edit)) for edit in edits]
    ours: list[Landing] = []
    theirs: list[Landing] = []
    for number, jump in enumerate(jumps):
        if number % 10 == 0:
            lab.say(f"jump {number + 1} of {len(jumps)}")
        ours.append(await jump_on_engine(editors[jump.file], jump))
        if lab.reference and lab.runs_on_reference(number):
            document = documents[jump.file]
            text = (document.data[: jump.offset].decode("utf-8", "replace"), document.data[jump.offset :])
            before = text[0] + make_new_line_text(document, jump.offset)
            key = await measure_stream(lab.reference.infill(before, text[1].decode("utf-8", "replace"), TOKENS))
            theirs.append(Landing(jump.kind, key))
    warmed = sum(landing.is_warm for landing in ours)
    return lab.result(
        "jump",
        f"{len(jumps)} jumps in {len(edits)} files, {REST_S * 1000:.0f} ms of rest before the first key",
        make_figures(ours, theirs),
        f"in {warmed} of {len(jumps)} the full prompt was evaluated before the first key, "
        f"{sum(landing.key.usage.rung > 0 for landing in ours)} were answered from a shorter one",
        series={
            f"time to first token, {kind}, ms": {
                "ours": list_first_token_ms(ours, kind),
                REFERENCE: list_first_token_ms(theirs, kind),
            }
            for kind in JUMP_KINDS
        },
    )


def apply_edit(edit: RealEdit) -> RealEdit:
    """Return the file with the edit applied."""
    return RealEdit(edit.path, edit.language, edit.before + edit.text + edit.after, "", "")


def make_route(documents: Sequence[Document], count: int) -> list[Jump]:
    """Return random jumps: near, far and back in turn. The first is far, and a jump back needs two earlier jumps."""
    generator = random.Random(SEED)
    lines = [find_lines_with_text(document) for document in documents]
    recent: deque[Jump] = deque(maxlen=RECENT_JUMPS)
    jumps: list[Jump] = []
    for number in range(count):
        kind: JumpKind = "far" if not jumps else JUMP_KINDS[number % 3]
        current = jumps[-1] if jumps else Jump("far", 0, 0)
        if kind == "back" and len(recent) > 1:
            target = generator.choice([jump for jump in recent if jump is not recent[-1]])
            jump = Jump("back", target.file, target.offset)
        else:
            file = current.file if kind == "near" else generator.randrange(len(documents))
            document = documents[file]
            current_line = document.line_of(current.offset)
            near_lines = [line for line in lines[file] if 0 < abs(line - current_line) <= NEAR_LINES]
            line = generator.choice(near_lines if kind == "near" and near_lines else lines[file])
            jump = Jump("near" if kind == "near" and near_lines else "far", file, document.line_span(line)[1])
        jumps.append(jump)
        recent.append(jump)
    return jumps


def find_lines_with_text(document: Document) -> list[int]:
    """Return the numbers of the lines with text."""
    return [line for line in range(len(document.line_starts)) if document.line(line).strip()] or [0]


def make_new_line_text(document: Document, offset: int) -> str:
    """Return what pressing Enter at `offset` inserts: a newline and the indentation of the line.

    After a line that opens a block or a bracket, the indentation is one level deeper.
    """
    line = document.line(document.line_of(offset)).decode("utf-8", "replace")
    # the indentation that the files use
    unit = " " * find_language(document.language).lines.indent_width
    deeper = unit if line.rstrip().endswith((":", "{", "(", "[")) else ""
    return "\n" + line[: len(line) - len(line.lstrip())] + deeper


async def jump_on_engine(editor: SimulatedEditor, jump: Jump) -> Landing:
    """Rest the cursor, then type the key. Remove the key afterwards, so that the places do not change."""
    await editor.rest(jump.offset)
    await asyncio.sleep(REST_S)
    is_warm = editor.is_settled
    key = make_new_line_text(editor.document, jump.offset)
    editor.replace(jump.offset, jump.offset, key)
    end = jump.offset + len(key.encode())
    timing = await editor.complete(end, TOKENS)
    # the machine must be idle for the turn of llama-server
    await editor.settle()
    editor.replace(jump.offset, end, "")
    return Landing(jump.kind, timing, is_warm)


def list_first_token_ms(landings: list[Landing], *kinds: JumpKind) -> list[float]:
    """Return the times to the first token after jumps of these kinds."""
    return [landing.key.first_ms for landing in landings if landing.kind in kinds]


def list_evaluated_tokens(landings: list[Landing], kind: JumpKind) -> list[float]:
    """Return the numbers of prompt tokens that were evaluated at the key after jumps of a kind."""
    return [float(landing.key.evaluated) for landing in landings if landing.kind == kind]


def make_figures(ours: list[Landing], theirs: list[Landing]) -> list[Figure]:
    """Return the times to the first token and the evaluated prompt tokens of both servers, by kind of jump."""
    new, theirs_new = list_first_token_ms(ours, "near", "far"), list_first_token_ms(theirs, "near", "far")
    rows = [
        Figure("time to first token, near and far, p50", p50(new), p50(theirs_new), REFERENCE, goal=Goal(500)),
        Figure(
            "time to first token, near and far, p95",
            p95(new),
            p95(theirs_new),
            REFERENCE,
            goal=Goal(1, "ratio"),
        ),
    ]
    for kind in JUMP_KINDS:
        goal = Goal(100) if kind == "back" else None
        a, b = list_first_token_ms(ours, kind), list_first_token_ms(theirs, kind)
        rows.append(Figure(f"time to first token, {kind}, p50", p50(a), p50(b), REFERENCE, goal=goal))
        rows.append(Figure(f"time to first token, {kind}, p95", p95(a), p95(b), REFERENCE))
        a, b = list_evaluated_tokens(ours, kind), list_evaluated_tokens(theirs, kind)
        rows.append(Figure(f"prompt tokens evaluated at the key, {kind}, p50", p50(a), p50(b), REFERENCE, ""))
    return rows
