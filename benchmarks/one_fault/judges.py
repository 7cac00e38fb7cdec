"""Judges that use the tools themselves to decide whether a candidate has exactly the intended fault."""

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.one_fault.case import Diagnostic
from benchmarks.one_fault.code import Code
from benchmarks.one_fault.registry import Candidate
from lsp_harness.text.document import Document
from lsp_harness.text.position import Position

Json = dict[str, Any]
Key = tuple[str, str]
PYRIGHT_TIMEOUT_S = 900


@dataclass(frozen=True)
class Trial:
    """A candidate and the text it is made of."""

    code: Code
    candidate: Candidate


def ask_judge(trial: Trial) -> Diagnostic | bool:
    """Return the diagnostic, or whether the fault exists, from the judges that need no other tool and from ruff."""
    judge = trial.candidate.judge
    if judge == "ruff":
        after = trial.candidate.text(trial.code)
        if Code("python", after).broken:
            return False
        return _find_new_diagnostic(_run_ruff(trial.code.data), _run_ruff(after), trial.candidate.expected) or False
    return Code(trial.code.language.id, trial.candidate.text(trial.code)).broken == (judge == "syntax")


def ask_pyright(trials: Sequence[Trial]) -> list[Diagnostic | None]:
    """Return pyright's new reports for each text, from one run for all; None if they are not as expected."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for at, trial in enumerate(trials):
            (folder / f"before_{at}.py").write_bytes(trial.code.data)
            (folder / f"after_{at}.py").write_bytes(trial.candidate.text(trial.code))
        (folder / "pyrightconfig.json").write_text(json.dumps({"reportMissingImports": False, "venvPath": "."}))
        argv = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", name]
        ran = subprocess.run(argv, capture_output=True, timeout=PYRIGHT_TIMEOUT_S, check=False)
        rows: dict[str, list[Json]] = {}
        for row in json.loads(ran.stdout)["generalDiagnostics"]:
            rows.setdefault(Path(row["file"]).stem, []).append(row)
        found: list[Diagnostic | None] = []
        for at, trial in enumerate(trials):
            before = [_read_pyright_diagnostic(trial.code.data, row) for row in rows.get(f"before_{at}", [])]
            after = [
                _read_pyright_diagnostic(trial.candidate.text(trial.code), row) for row in rows.get(f"after_{at}", [])
            ]
            found.append(_find_new_diagnostic(before, after, trial.candidate.expected))
        return found


def _find_new_diagnostic(
    before: list[Diagnostic], after: list[Diagnostic], expected: tuple[str, ...]
) -> Diagnostic | None:
    """Return the first diagnostic of an expected code, if all new diagnostics have expected codes."""
    counter = Counter((one.code, one.message) for one in before)
    new: list[Diagnostic] = []
    for one in after:
        key = (one.code, one.message)
        if counter[key]:
            counter[key] -= 1
        else:
            new.append(one)
    codes = {one.code for one in new}
    wanted = [set(one.split("|")) for one in expected]
    if counter.total() or not codes or any(not codes & each for each in wanted) or codes - set[str]().union(*wanted):
        return None
    chosen = [one for one in new if one.code in wanted[0]]
    # several only of the same name: an import that is used in many places
    return chosen[0] if len({one.message for one in chosen}) <= 2 else None


def _run_ruff(data: bytes) -> list[Diagnostic]:
    argv = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--quiet", "--output-format", "json"]
    argv += ["--select", "F,E9", "--stdin-filename", "text.py", "-"]
    ran = subprocess.run(argv, input=data, capture_output=True, timeout=60, check=False)
    document = Document.from_text("file:///text.py", data)
    rows = json.loads(ran.stdout or b"[]")
    return [
        Diagnostic(
            _find_offset(document, row["location"]),
            _find_offset(document, row["end_location"]),
            row["message"],
            "Ruff",
            row["code"] or "invalid-syntax",
            "warning",
        )
        for row in rows
    ]


def _find_offset(document: Document, place: Json) -> int:
    return document.offset(Position(place["row"] - 1, place["column"] - 1), "utf-32")


def _read_pyright_diagnostic(data: bytes, row: Json) -> Diagnostic:
    document = Document.from_text("file:///text.py", data)
    start, end = (
        document.offset(Position(row["range"][side]["line"], row["range"][side]["character"]), "utf-16")
        for side in ("start", "end")
    )
    message = row["message"].replace("\u00a0", " ")
    return Diagnostic(start, end, message, "Pyright", row.get("rule", ""), row["severity"])
