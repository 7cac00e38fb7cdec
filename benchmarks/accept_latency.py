"""The time from an accepted edit to its final verdict, and what typing costs meanwhile, on a project of some 400 files.

    python -m benchmarks.accept_latency --limit 20 --out accept_latency.jsonl
    python -m benchmarks.accept_latency --report accept_latency.jsonl

The project is a copy of pip's source from this environment, with a test file for each edited module. The editor applies
a fix that needed no model (`lenn` becomes `len` in a function), reports it, and waits for the lens with the verdict
about this version. The clock starts when the changed text is sent. Each set of checks has a server of its own:

- `lint`: syntax, ruff, and the other checks that need no program;
- `types`: also ty;
- `tests`: also the tests that the index names for the module, in the sandbox.

There are two kinds of trials, in turns: `alone` (accept and wait) and `typing` (accept, and write in another module
meanwhile). After each key a completion is requested from the real model, and the next key waits for its answer. All
servers get the same trials, so their keys are compared with those of the set `lint`, whose verdict comes before the
second key. The same keys in the same server again would be no measure, because it knows its answers.

A run with the same file continues where the last one ended.
"""

import argparse
import asyncio
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import pip

from benchmarks.engine.figures import p50, p95
from benchmarks.linted_editor import CHOSEN, Fix, LintedEditor, make_environment
from lsp_harness.cli.lsp_client import INVOKED

CHECKS: Mapping[str, Mapping[str, str]] = {
    "lint": {"VERIFICATION__TYPE_CHECK": "off", "VERIFICATION__TEST": "false"},
    "types": {"VERIFICATION__TYPE_CHECK": "on", "VERIFICATION__TEST": "false"},
    "tests": {"VERIFICATION__TYPE_CHECK": "on", "VERIFICATION__TEST": "true"},
}
"""Name of a set of checks → its settings."""
KINDS = ("alone", "typing")
UNDISTURBED = "lint"
"""The set of checks that end before the second key."""
MODULES = ("utils/urls", "cli/main_parser", "index/collector", "utils/packaging", "utils/misc", "operations/check")
"""The modules of `pip._internal` that are edited."""
TYPED_MODULES = ("network/download", "req/req_file", "models/link", "operations/prepare", "vcs/versioncontrol")
"""The modules in which the user writes."""
TEST_TEXT = "import {module} as tested\n\n\ndef test_import():\n    assert tested.__name__ == {module!r}\n"
FAULT, REPAIRED = "    _size = lenn(str({number}))\n", "    _size = len(str({number}))\n"
KEYS = 16
KEY_GAP_S = 0.1
VERDICT_LIMIT_S = 120.0
INDEX_LIMIT_S = 180.0
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial: its number, and its kind."""

    number: int
    kind: str


def plan_trials(count: int) -> Iterator[Trial]:
    """Yield the trials of one server, the kinds in turn. The first round starts the tools and does not count."""
    for number in range(-1, count):
        for kind in KINDS:
            yield Trial(number, kind)


def insert_line(text: str, line: str) -> str:
    """Return a module with a line at the beginning of its last function with a head of one line."""
    lines = text.splitlines(keepends=True)
    for number in range(len(lines) - 2, -1, -1):
        head, body = lines[number], lines[number + 1]
        if head.startswith("def ") and head.rstrip().endswith(":") and body.startswith("    "):
            return "".join([*lines[: number + 1], line, *lines[number + 1 :]])
    raise ValueError("the module has no function with a head of one line")


def choose_line(text: str, number: int) -> tuple[str, str, str]:
    """Return the text before a statement of a module, the part of it that is typed, and the text behind it."""
    lines = text.splitlines(keepends=True)
    long = [
        n for n, line in enumerate(lines) if line.startswith("        ") and " = " in line and len(line) > KEYS + 10
    ]
    chosen = long[(7 * number) % len(long)]
    start = sum(map(len, lines[:chosen])) + len(lines[chosen]) - len(lines[chosen].lstrip())
    return text[:start], text[start : start + KEYS], text[start + len(lines[chosen].strip()) :]


def make_project(root: Path) -> int:
    """Copy pip's source with tests into a folder, and return the number of files of Python."""
    shutil.copytree(Path(pip.__file__).parent, root / "pip", ignore=shutil.ignore_patterns("*.pyc", "__pycache__"))
    (root / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (root / "ruff.toml").write_text('lint.select = ["E9", "F"]\n')
    (root / "tests").mkdir()
    for name in MODULES:
        module = f"pip._internal.{name.replace('/', '.')}"
        (root / "tests" / f"test_{name.rpartition('/')[2]}.py").write_text(TEST_TEXT.format(module=module))
    return sum(1 for _ in root.rglob("*.py"))


class AcceptedEdits:
    """The trials in one editor."""

    def __init__(self, editor: LintedEditor, root: Path) -> None:
        self._editor = editor
        self._root = root

    async def run(self, trial: Trial) -> Row:
        """Return the row of a trial."""
        editor, number = self._editor, max(trial.number, 0)
        file = self._root / "pip/_internal" / f"{MODULES[number % len(MODULES)]}.py"
        text = file.read_text(encoding="utf-8")
        unique = 3 * number + KINDS.index(trial.kind)
        faulty, repaired = (insert_line(text, line.format(number=unique)) for line in (FAULT, REPAIRED))
        uri = editor.open(file, faulty)
        try:
            fix = await self._choose_fix(uri, repaired)
            if fix.reason:
                return {"error": fix.reason}
            if trial.kind == "alone":
                return await self._accept(uri, fix)
            typed_file = self._root / "pip/_internal" / f"{TYPED_MODULES[number % len(TYPED_MODULES)]}.py"
            original = typed_file.read_text(encoding="utf-8")
            before, typed, after = choose_line(original, number)
            other = editor.open(typed_file, before + after)
            try:
                # the prompt of the place is evaluated before
                await editor.ours.inline_completion(other, before, trigger=INVOKED)
                verdict = asyncio.ensure_future(self._accept(uri, fix))
                return await self._write(other, (before, typed, after), verdict) | await verdict
            finally:
                editor.close(other)
                typed_file.write_text(original, encoding="utf-8")
        finally:
            editor.close(uri)
            file.write_text(text, encoding="utf-8")

    async def _choose_fix(self, uri: str, repaired: str) -> Fix:
        """Return the fix that leads to the repaired text, or a fix with the reason why there is none."""
        editor = self._editor
        diagnostics = [item for item in await editor.diagnostics(uri) or [] if "lenn" in item["message"]]
        if not diagnostics:
            return Fix(reason="ruff did not report the fault")
        fix = await editor.choose_fix(await editor.request_actions(uri, diagnostics, CHOSEN), VERDICT_LIMIT_S)
        if fix.edit and editor.ours.apply_edit(fix.edit) != repaired:
            return Fix(reason="the fix is another one")
        return fix

    async def _accept(self, uri: str, fix: Fix) -> Row:
        """Apply a fix, and return the milliseconds until the verdict about the new text."""
        editor = self._editor
        start_s = perf_counter()
        await editor.apply(uri, fix)
        try:
            async with asyncio.timeout(VERDICT_LIMIT_S):
                title = await editor.wait_for_verdict(uri)
        except TimeoutError:
            return {"error": f"there was no verdict in {VERDICT_LIMIT_S:g} s"}
        return {"ms": round(1000 * (perf_counter() - start_s), 1), "verdict": title}

    async def _write(self, uri: str, parts: tuple[str, str, str], verdict: "asyncio.Future[Row]") -> Row:
        """Write a part of a line. Return the times of the completions, and how many keys came before the verdict."""
        before, typed, after = parts
        keys: list[float] = []
        awaited = 0
        for count in range(1, len(typed) + 1):
            awaited += not verdict.done()
            self._editor.change(uri, before + typed[:count] + after)
            keys.append(await self._editor.complete(uri, before + typed[:count]))
            await asyncio.sleep(KEY_GAP_S)
        return {"keys": keys, "awaited": awaited}


async def measure(checks: str, todo: Sequence[Trial], keep: Callable[[Row], None]) -> None:
    """Run the trials of one set of checks, and call `keep` with the row of each."""
    with tempfile.TemporaryDirectory(prefix="al-") as name:
        folder = Path(name).resolve()
        root = folder / "project"
        root.mkdir()
        print(f"{checks}: {make_project(root)} files of Python", file=sys.stderr)
        env = make_environment(folder / "h", BACKGROUND__PREPARE_FIXES="0", **CHECKS[checks])
        async with LintedEditor.start(root, env) as editor:
            await editor.warm_up(root)
            await editor.wait_for_index(INDEX_LIMIT_S)
            trials = AcceptedEdits(editor, root)
            for trial in todo:
                row = {"checks": checks, "kind": trial.kind, "number": trial.number, **await trials.run(trial)}
                if trial.number >= 0:
                    keep(row)
                print(
                    f"{trial.kind} {trial.number}: {row.get('ms', row.get('error', ''))}", file=sys.stderr, flush=True
                )


def summarize(rows: Sequence[Row]) -> str:
    """Return the table with a row for each set of checks."""
    lines = [
        "| checks | accepted | verdict p50 / p95, ms | while typing | keys before it | keys p50 / p95, ms | ratio |",
        "| --- " * 7 + "|",
    ]
    for checks in CHECKS:
        found = [row for row in rows if row["checks"] == checks and "error" not in row]
        times = {kind: [row["ms"] for row in found if row["kind"] == kind and "ms" in row] for kind in KINDS}
        keys, undisturbed = pair_keys(rows, checks)
        slow_ms, fast_ms = p95(keys), p95(undisturbed)
        ratio = f"{slow_ms / fast_ms:.2f}" if slow_ms and fast_ms else "–"
        awaited = sum(row.get("awaited", 0) for row in found)
        cells = (
            len(times["alone"]),
            _format_times(times["alone"]),
            _format_times(times["typing"]),
            awaited,
            _format_times(keys),
            ratio,
        )
        lines.append(f"| {checks} | {' | '.join(map(str, cells))} |")
    verdicts = sorted({f"{row['checks']}: {row['verdict']}" for row in rows if "verdict" in row})
    errors = [f"{row['checks']}, {row['kind']} {row['number']}: {row['error']}" for row in rows if "error" in row]
    return "\n".join([*lines, "", *verdicts, *errors])


def pair_keys(rows: Sequence[Row], checks: str) -> tuple[list[float], list[float]]:
    """Return the times of the keys with a set of checks, and those of the same keys with `UNDISTURBED`."""
    keys = {
        name: {row["number"]: row["keys"] for row in rows if row["checks"] == name and row.get("keys")}
        for name in (checks, UNDISTURBED)
    }
    both = sorted(keys[checks].keys() & keys[UNDISTURBED].keys())
    slow, fast = ([ms for number in both for ms in keys[name][number]] for name in (checks, UNDISTURBED))
    return slow, fast


def _format_times(values: Sequence[float]) -> str:
    return f"{p50(values):.0f} / {p95(values):.0f}" if values else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=20, help="trials of each kind and set of checks")
    parser.add_argument("--checks", action="append", choices=list(CHECKS), help="only this set of checks")
    parser.add_argument("--out", type=Path, default=Path("accept_latency.jsonl"))
    parser.add_argument("--report", type=Path, help="only the table of these rows")
    args = parser.parse_args()
    out = args.report or args.out
    rows: list[Row] = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    if not args.report:
        known = {(row["checks"], row["kind"], row["number"]) for row in rows}
        out.parent.mkdir(parents=True, exist_ok=True)
        with out.open("a", encoding="utf-8") as lines:

            def keep(row: Row) -> None:
                rows.append(row)
                print(json.dumps(row), file=lines, flush=True)

            for checks in args.checks or CHECKS:
                todo = [t for t in plan_trials(args.limit) if (checks, t.kind, t.number) not in known]
                if any(trial.number >= 0 for trial in todo):
                    asyncio.run(measure(checks, todo, keep))
    print(summarize(rows))


if __name__ == "__main__":
    main()
