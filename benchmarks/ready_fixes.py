"""Editing sessions with real diagnostics: is a verified fix ready when the user opens the light bulb?

    python -m benchmarks.ready_fixes --limit 40 --out ready_fixes.jsonl
    python -m benchmarks.ready_fixes --report ready_fixes.jsonl

A case is a file of the development sets in which ruff reports something. The user writes the faulty lines with the
pauses of `rhythm`, and in some of these pauses goes to the diagnostic and back. At the end the user goes to the
diagnostic, thinks for 2 to 20 seconds, opens the light bulb and chooses the fix. Our server and `ruff server` run as in
an editor, with the real model. After each key a completion is requested, and the next key waits for its answer.

Each case is played twice, with and without the preparation of fixes, alternately in one run. Half of the cases are
played with it first, and other cases come between both times, so that neither gains from the other's prompts.

The sets come from `LSP_HARNESS_EVAL_DATA`. A run with the same file continues where the last one ended. Nothing else
should run, because the preparation waits while other programs need the machine.
"""

import argparse
import asyncio
import json
import math
import random
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.engine.figures import p50, p95
from benchmarks.engine.keystrokes import make_trace
from benchmarks.engine.real_edits import RealEdit
from benchmarks.evaluation.suites.suite_formats import read_suite
from benchmarks.linted_editor import CHOSEN, ON_CURSOR, LintedEditor, make_environment
from benchmarks.rhythm import Rhythm
from lsp_harness.process.tool_run import find_tool

SETS = ("fix_ruff", "fix_debugbench", "fix_student", "fix_humaneval")
RULES = ("E9", "F", "B", "C4", "FURB", "PERF", "PIE", "PLE", "RET", "RUF", "SIM", "UP")
"""The rules of ruff in the project of the sessions."""
SKIPPED_RULES = ("F401", "F403", "F405", "RET503", "UP035")
"""Rules about the imports that the sets put before their programs, and one that most programs of learners break."""
SYNTAX_ERROR = "invalid-syntax"
LINES_AFTER = 2
"""Lines that the user writes after the faulty ones."""
SHORTEST_GLANCE_S = 2.0
GLANCE_SHARE = 0.5
"""Share of the pauses of at least `SHORTEST_GLANCE_S` in which the user goes to the last diagnostic."""
SHORTEST_THOUGHT_S, LONGEST_THOUGHT_S = 2.0, 20.0
"""Time between the arrival at the diagnostic and the light bulb. Its logarithm is distributed evenly."""
THOUGHT_LIMITS_S = (5.0, 10.0, 20.0)
FIX_LIMIT_S = 90.0
COUNTS = ("fixes_prepared", "fixes_dropped", "fixes_used", "fix_tokens")
Arm = str
"""The name of an arm: preparation `on` or `off`."""
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """A file with a fault.

    Attributes:
        id: The name of the task.
        text: The whole text.
        rule: The code of the rule that ruff reports.
        rule_name: The name of the rule, which `ruff server` reports in preview mode.
        first: The first line of the diagnostic, from 0.
        last: Its last line.
    """

    id: str
    text: str
    rule: str
    rule_name: str
    first: int
    last: int

    def select(self, diagnostics: Sequence[Row]) -> list[Row]:
        """Return the diagnostics of the rule."""
        known = (self.rule, self.rule_name)
        return [diagnostic for diagnostic in diagnostics if (diagnostic.get("code") or SYNTAX_ERROR) in known]


@dataclass(frozen=True, slots=True)
class FileParts:
    """The parts of a file: the text before the cursor, the text that the user writes, and the text behind it."""

    before: str
    typed: str
    after: str


def plan_writing(case: Case, most_keys: int) -> FileParts:
    """Return the parts of a file. Of the faulty lines, and the lines after them, the end is written key by key."""
    lines = case.text.splitlines(keepends=True)
    end = case.last + 1 + LINES_AFTER
    start = sum(map(len, lines[: case.first]))
    hole = "".join(lines[case.first : end]).rstrip("\n")
    typed_start = start + max(0, len(hole) - most_keys)
    stop = start + len(hole)
    return FileParts(case.text[:typed_start], case.text[typed_start:stop], case.text[stop:])


def schedule(cases: Sequence[Case]) -> Iterator[tuple[Case, Arm]]:
    """Yield each case twice: in the second round with the other arm."""
    arms = ("on", "off")
    for turn in range(2):
        for number, case in enumerate(cases):
            yield case, arms[(number + turn) % 2]


def draw_thinking_time_s(case: Case, seed: int) -> float:
    """Return the time that the user looks at the diagnostic."""
    dice = random.Random(f"{seed}/{case.id}")
    return math.exp(dice.uniform(math.log(SHORTEST_THOUGHT_S), math.log(LONGEST_THOUGHT_S)))


# -- cases
def load_cases(names: Sequence[str], seed: int) -> list[Case]:
    """Return the Python files of the sets in which ruff reports something, the sets in turn."""
    groups: list[list[Case]] = []
    for name in names:
        texts = {task.id: task.source for task in read_suite(name).tasks if task.target.endswith(".py")}
        rules = {task.id: task.finding.code for task in read_suite(name).tasks if task.finding}
        group = find_cases(texts, rules)
        random.Random(f"{seed}/{name}").shuffle(group)
        groups.append(group)
    return [case for turn in zip_longest(*groups) for case in turn if case]


def find_cases(texts: Mapping[str, str], rules: Mapping[str, str]) -> list[Case]:
    """Return a case for each text in which ruff reports something.

    Args:
        texts: Name → text.
        rules: Name → the rule whose diagnostic is meant. For others it is the first one.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / "ruff.toml").write_text(make_ruff_settings())
        files = {folder / f"{number}.py": task for number, task in enumerate(texts)}
        for file, task in files.items():
            file.write_text(texts[task], encoding="utf-8")
        command = [find_tool("ruff") or "ruff", "check", "--no-cache", "--output-format", "json", str(folder)]
        reports = json.loads(subprocess.run(command, capture_output=True, check=False).stdout)
    found: dict[str, Case] = {}
    for report in reports:
        task, code = files[Path(report["filename"])], report["code"] or SYNTAX_ERROR
        if task not in found and (rules[task] == code if task in rules else code not in SKIPPED_RULES):
            first, last = (int(report[side]["row"]) - 1 for side in ("location", "end_location"))
            found[task] = Case(task, texts[task], code, report.get("name") or code, first, last)
    return list(found.values())


def make_ruff_settings() -> str:
    """Return the settings of ruff in the project of the sessions."""
    return f'preview = true\ntarget-version = "py312"\n[lint]\nselect = {json.dumps(RULES)}\n'


# -- one session
class Session:
    """One case in an editor.

    Args:
        editor: The editor.
        case: The case.
        file: The file to write.
        seed: Decides about the pauses.
        rhythm: The times between the keys.
    """

    def __init__(self, editor: LintedEditor, case: Case, file: Path, seed: int, rhythm: Rhythm) -> None:
        self._editor = editor
        self._case = case
        self._file = file
        self._rhythm = rhythm
        self._dice = random.Random(f"glance/{seed}/{case.id}")
        self._seed = seed
        self._completions: list[float] = []
        self._glances = 0

    async def play(self, most_keys: int) -> Row:
        """Write the file, look at the diagnostic, and choose its fix."""
        editor, case = self._editor, self._case
        before = await editor.read_statistics()
        writing = plan_writing(case, most_keys)
        uri = editor.open(self._file, writing.before + writing.after)
        try:
            await self._write(uri, writing)
            row: Row = {
                "case": case.id,
                "rule": case.rule,
                "thought_s": round(draw_thinking_time_s(case, self._seed), 1),
            }
            row |= await self._fix(uri)
            after = await editor.read_statistics()
        finally:
            editor.close(uri)
        counts = {name: after[name] - before[name] for name in COUNTS}
        return row | counts | {"completions": self._completions, "glances": self._glances}

    async def _write(self, uri: str, writing: FileParts) -> None:
        edit = RealEdit(self._file.name, "python", writing.before, writing.after, writing.typed)
        # the editor prepares the prompt of the place while the user thinks
        self._editor.rest_cursor(uri, writing.before)
        written = ""
        for state in make_trace(edit, self._seed, len(writing.typed) * 2 + 2).states:
            await self._pause(uri, self._rhythm.pause(written))
            self._editor.change(uri, writing.before + state + writing.after)
            self._completions.append(await self._editor.complete(uri, writing.before + state))
            written = state

    async def _pause(self, uri: str, pause_s: float) -> None:
        end_s = perf_counter() + self._rhythm.gap + pause_s
        if pause_s >= SHORTEST_GLANCE_S and self._dice.random() < GLANCE_SHARE:
            diagnostics = await self._editor.diagnostics(uri, pause_s)
            if diagnostics:
                self._glances += 1
                await self._editor.request_actions(uri, diagnostics[-1:], ON_CURSOR)
        await asyncio.sleep(max(0.0, end_s - perf_counter()))

    async def _fix(self, uri: str) -> Row:
        editor, case = self._editor, self._case
        diagnostics = await editor.diagnostics(uri)
        alike = case.select(diagnostics or [])
        if not alike:
            return {"kind": "no diagnostic", "ready": False}
        target = min(alike, key=lambda diagnostic: abs(diagnostic["range"]["start"]["line"] - case.first))
        await editor.request_actions(uri, [target], ON_CURSOR)
        await asyncio.sleep(draw_thinking_time_s(case, self._seed))
        start_s = perf_counter()
        actions = await editor.request_actions(uri, [target], CHOSEN)
        answer_ms = round(1000 * (perf_counter() - start_s), 1)
        fix = await editor.choose_fix(actions, FIX_LIMIT_S)
        await editor.apply(uri, fix)
        left = await editor.diagnostics(uri) if fix.edit else diagnostics
        gone = left is not None and len(case.select(left)) < len(alike)
        row: Row = {"kind": fix.kind, "ready": fix.is_ready, "wait_ms": fix.wait_ms, "answer_ms": answer_ms}
        return row | {"checks": fix.checks, "gone": gone, "reason": fix.reason}


async def measure(todo: Sequence[tuple[Case, Arm]], args: argparse.Namespace, keep: Callable[[Row], None]) -> None:
    """Play the sessions, and call `keep` with the row of each."""
    with tempfile.TemporaryDirectory(prefix="rf-") as name:
        folder = Path(name).resolve()
        root = folder / "project"
        root.mkdir()
        (root / "ruff.toml").write_text(make_ruff_settings())
        async with LintedEditor.start(root, make_environment(folder / "h")) as editor:
            await editor.warm_up(root)
            for number, (case, arm) in enumerate(todo, 1):
                await editor.configure({"background": {"prepare_fixes": args.stand if arm == "on" else 0}})
                rhythm = Rhythm(args.keys_per_second, zlib.crc32(case.id.encode()))
                file = root / f"case_{number}.py"
                keep({"arm": arm, **await Session(editor, case, file, args.seed, rhythm).play(args.keys)})
                # the next case must not find the code of this one
                file.unlink()
                change = {"uri": file.as_uri(), "type": 3}
                editor.ours.notify("workspace/didChangeWatchedFiles", {"changes": [change]})
                print(f"{number}/{len(todo)}", end=" ", file=sys.stderr, flush=True)


# -- the table
def summarize(rows: Sequence[Row]) -> str:
    """Return the table with one column for each arm."""
    arms = {arm: [row for row in rows if row["arm"] == arm] for arm in ("on", "off")}
    fixed = {arm: [row for row in found if row["kind"] != "no diagnostic"] for arm, found in arms.items()}
    keys = {arm: [ms for row in found for ms in row["completions"]] for arm, found in arms.items()}
    lines = ["| | preparation on | off |", "| --- | --- | --- |"]

    def add(title: str, cell: Callable[[list[Row]], str]) -> None:
        lines.append(f"| {title} | {cell(fixed['on'])} | {cell(fixed['off'])} |")

    add("diagnostics", lambda found: str(len(found)))
    add("a verified fix was ready", lambda found: _format_share(found, lambda row: row["ready"]))
    for shortest_s, longest_s in zip((0.0, *THOUGHT_LIMITS_S), THOUGHT_LIMITS_S, strict=False):
        title = f"– light bulb after {max(shortest_s, SHORTEST_THOUGHT_S):g} to {longest_s:g} s"
        add(title, lambda found, limits=(shortest_s, longest_s): _format_ready_share(found, *limits))
    for kind, title in (("repair", "repaired without a model"), ("model", "by the model"), ("none", "no fix")):
        add(title, lambda found, kind=kind: _format_share(found, lambda row: row["kind"] == kind))
        if kind != "none":
            add(
                "– ready",
                lambda found, kind=kind: _format_share(found, lambda row: row["kind"] == kind and row["ready"]),
            )
    add("applied, and the diagnostic is gone", lambda found: _format_share(found, lambda row: row.get("gone", False)))
    add("list of actions, p50 / p95, ms", lambda found: _format_times([row["answer_ms"] for row in found]))
    add(
        "choice to edit, p50 / p95, ms",
        lambda found: _format_times([row["wait_ms"] for row in found if row["kind"] != "none"]),
    )
    add("fixes prepared", lambda found: str(sum(row["fixes_prepared"] for row in found)))
    add("– thrown away", lambda found: str(sum(row["fixes_dropped"] for row in found)))
    add(
        "tokens in the background for each diagnostic", lambda found: _format_mean([row["fix_tokens"] for row in found])
    )
    lines.append(f"| completions while typing | {len(keys['on'])} | {len(keys['off'])} |")
    lines.append(f"| – p50 / p95, ms | {_format_times(keys['on'])} | {_format_times(keys['off'])} |")
    on, off = p95(keys["on"]), p95(keys["off"])
    ratio = f"{on / off:.2f}" if on and off else "–"
    passed = Counter(row["rule"] for row in fixed["on"] if row["kind"] == "none")
    return "\n".join(
        [
            *lines,
            "",
            f"p95 of completions, on / off: {ratio}",
            f"no fix for: {', '.join(f'{rule} ({count})' for rule, count in passed.most_common()) or 'none'}",
        ]
    )


def _format_share(rows: Sequence[Row], accept: Callable[[Row], bool]) -> str:
    count = sum(map(bool, map(accept, rows)))
    return f"{count} ({count / len(rows):.2f})" if rows else "–"


def _format_ready_share(rows: Sequence[Row], shortest_s: float, longest_s: float) -> str:
    return _format_share([row for row in rows if shortest_s < row["thought_s"] <= longest_s], lambda row: row["ready"])


def _format_times(values: Sequence[float]) -> str:
    return f"{p50(values):.0f} / {p95(values):.0f}" if values else "–"


def _format_mean(values: Sequence[float]) -> str:
    return f"{sum(values) / len(values):.0f}" if values else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", dest="sets", action="append", help=f"a set; the default is {', '.join(SETS)}")
    parser.add_argument("--limit", type=int, default=40, help="cases; 0 is all")
    parser.add_argument("--keys", type=int, default=60, help="the most keys of a case")
    parser.add_argument("--keys-per-second", type=float, default=8.0, help="within a burst")
    parser.add_argument("--stand", type=int, default=1000, help="background.prepare_fixes, in milliseconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("ready_fixes.jsonl"))
    parser.add_argument("--report", type=Path, help="only the table of these rows")
    args = parser.parse_args()
    out = args.report or args.out
    rows: list[Row] = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    if not args.report:
        cases = load_cases(args.sets or SETS, args.seed)[: args.limit or None]
        known = {(row["case"], row["arm"]) for row in rows}
        todo = [(case, arm) for case, arm in schedule(cases) if (case.id, arm) not in known]
        out.parent.mkdir(parents=True, exist_ok=True)
        with out.open("a", encoding="utf-8") as lines:

            def keep(row: Row) -> None:
                rows.append(row)
                print(json.dumps(row), file=lines, flush=True)

            asyncio.run(measure(todo, args, keep))
    print(summarize(rows))


if __name__ == "__main__":
    main()
