"""The task of an evaluation: files, a request about one of them, tests that the harness may see, and a hidden check."""

from dataclasses import dataclass
from typing import Literal

from benchmarks.evaluation.suites.hidden_check import Files, HiddenCheck
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit, apply
from lsp_harness.text.position import Position, Span, decode, encode
from lsp_harness.verify.finding import Finding

TaskKind = Literal["fix", "edit", "generate", "prompt"]
"""The request: `fix` repairs code whose tests fail or that a linter reports, `edit` changes code by an instruction,
`generate` writes the body of code that is only begun, and `prompt` is what a user writes to the code driver, which
finds the code and may change several files."""


@dataclass(frozen=True, slots=True)
class EvalTask:
    """One task of a suite.

    Attributes:
        id: The name, unique in its suite.
        suite: The name of the suite.
        kind: The request.
        files: Path → text of the workspace, with the tests that the harness may see.
        target: The path of the file to change.
        text: The issue or the instruction in words.
        check: The hidden check. The harness sees nothing of it.
        line: The line that the request is about, from 1; 0 if the request names none.
        tests: The paths of the visible tests. They are the gate of the arms that choose among candidates.
        gate: The origin of the visible tests: "examples", "half" (every second case of the check), "check" or "given".
            Empty without tests.
        finding: The diagnostic to repair, for a `fix` that is about one.
        gold: Path → text of a right answer, if the set has one.
        modules: Python modules that the check imports.
        weakness: The weakness of small models that the task shows, if it is a row of the weakness table.
        without: The names of the ablations that take the compensation of this weakness away.
    """

    id: str
    suite: str
    kind: TaskKind
    files: Files
    target: str
    text: str
    check: HiddenCheck
    line: int = 0
    tests: tuple[str, ...] = ()
    gate: str = ""
    finding: "ReportedFinding | None" = None
    gold: Files | None = None
    modules: tuple[str, ...] = ()
    weakness: str = ""
    without: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """Return the text of the target before the request."""
        return self.files[self.target]

    def answer(self, text: str) -> dict[str, str]:
        """Return the answer with another text of the target."""
        return {self.target: text}


@dataclass(frozen=True, slots=True)
class ReportedFinding:
    """A diagnostic of the set, with lines and columns from 0 in UTF-16 units, as an editor sends them."""

    start: tuple[int, int]
    end: tuple[int, int]
    message: str
    source: str
    code: str

    def locate(self, document: Document) -> Finding:
        """Return the finding in bytes."""
        start, end = (document.offset(Position(*place), "utf-16") for place in (self.start, self.end))
        return Finding(start, max(start, end), self.message, self.source, self.code)


def splice(source: str, span: Span, text: str) -> str:
    """Return a source with other text for a span of its bytes."""
    return decode(apply(encode(source), [Edit(span.start, span.end, encode(text))]))


@dataclass(frozen=True, slots=True)
class Suite:
    """The tasks of one file, in its order. `notes` say what was left out, and why."""

    name: str
    tasks: tuple[EvalTask, ...]
    notes: tuple[str, ...] = ()
