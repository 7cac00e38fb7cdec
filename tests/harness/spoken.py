"""Helpers for edits by instruction: a marked selection, and the text after an edit."""

from typing import Any

from lsp_harness.harness.edits.proposals import DocumentEdit
from lsp_harness.text.edit import apply
from lsp_harness.text.position import Span, decode
from lsp_harness.workspace.snapshot import Snapshot
from tests.harness.bench import Bench
from tests.support import markup

AREA = "import math\n\n\ndef <|>area(r):\n    return 3 * r ** 2\n"


def fence_code(code: str) -> str:
    return f"```python\n{code}\n```"


def open_selection(b: Bench, text: str, name: str = "a.py") -> tuple[Snapshot, Span]:
    """Return the snapshot of an opened text, with its marked selection or the cursor."""
    src = markup.parse(text, b.folder / name)
    b.harness.open(src.document)
    return b.harness.snapshot(src.document.uri), Span(src.marks[0], src.marks[-1])


def apply_document_edit(made: DocumentEdit) -> str:
    return decode(apply(made.document.data, made.proposal.edits))


def read_prompt_events(b: Bench) -> list[dict[str, Any]]:
    """Return the data of the log events about the prompts that were sent."""
    return [
        event.data
        for events in b.harness.services.session.log.turns.values()
        for event in events
        if event.type == "context.built"
    ]


def ignore_progress(progress: Any) -> None: ...
