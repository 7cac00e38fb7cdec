"""The development set fix_ruff by the same count: right is ruff's own fix to the letter, equivalent is whatever else
the set's scorer accepts.
"""

import gzip
import importlib.util
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.one_fault.case import Case, Diagnostic
from lsp_harness.text.document import Document
from lsp_harness.text.position import Position

Json = dict[str, Any]
SEVERITIES = {1: "error", 2: "warning", 3: "information", 4: "hint"}


def read(file: Path) -> list[tuple[Case, Json]]:
    """Return the cases, each with its row for the scorer of the set. Raises OSError, ValueError."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [(_make_case(row), row) for row in rows]


def _make_case(row: Json) -> Case:
    given = row["input"]
    said = next(one for one in given["diagnostics"] if one["code"] == row["check"]["rule"])
    document = Document.from_text("file:///t.py", given["code"])
    start, end = (
        document.offset(Position(said["range"][side]["line"], said["range"][side]["character"]), "utf-16")
        for side in ("start", "end")
    )
    diagnostic = Diagnostic(start, end, said["message"], "Ruff", said["code"], SEVERITIES[said["severity"]])
    kind = str(said["code"]).rstrip("0123456789")
    project = row["source"]
    return Case(row["id"], row["split"], "python", kind, project, given["path"], given["code"], row["gold"], diagnostic)


def load_scorer(file: Path, rows: list[tuple[Case, Json]]) -> Callable[[Case, str | None], str]:
    """Return the scoring function of the set, which lies beside the set. Raises OSError."""
    tools = file.resolve().parents[1] / "tools" / "lspbench.py"
    spec = importlib.util.spec_from_file_location("lspbench", tools)
    if spec is None or spec.loader is None or not tools.exists():
        raise OSError(f"the scorer of the set is not there: {tools}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    by_id = {case.id: row for case, row in rows}

    def score(case: Case, proposed: str | None) -> str:
        if proposed is None:
            return "none"
        if proposed.rstrip() == case.truth.rstrip():
            return "right"
        with tempfile.TemporaryDirectory() as folder:
            return "equivalent" if module.ruff_ok(by_id[case.id], proposed, folder) else "wrong"

    return score
