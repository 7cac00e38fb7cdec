"""A case: a text with one fault, the true text, and the diagnostic a user would have; and its form on disk."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A report of a linter, a compiler or a language server about a byte range of the faulty text."""

    start: int
    end: int
    message: str
    source: str
    code: str
    severity: str = "error"


@dataclass(frozen=True, slots=True)
class Case:
    """A faulty text with its true text. `diagnostic` is None for broken syntax. `part` is `dev` or `heldout`."""

    id: str
    part: str
    language: str
    kind: str
    project: str
    path: str
    text: str
    truth: str
    diagnostic: Diagnostic | None = None
    facts: Json = field(default_factory=Json)
    """What was changed, and how hard it is to undo (see docs/benchmarks.md)."""

    @property
    def removal(self) -> bool:
        """Return whether the repair removes something."""
        return self.kind.startswith("unused")


def write(file: Path, cases: Iterable[Case]) -> None:
    """Write one JSON object a line."""
    with file.open("w", encoding="utf-8", newline="\n") as out:
        for case in cases:
            out.write(json.dumps(asdict(case), ensure_ascii=False) + "\n")


def read(file: Path) -> list[Case]:
    """Return the cases of a file. Raises OSError, ValueError."""
    with file.open(encoding="utf-8", newline="\n") as lines:
        return [_make_case(json.loads(line)) for line in lines if line.strip()]


def _make_case(row: Json) -> Case:
    given = row.pop("diagnostic")
    return Case(**row, diagnostic=Diagnostic(**given) if given else None)
