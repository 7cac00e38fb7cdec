"""Writing a new text of a file: checked before, with the files of a checkpoint kept, and all or nothing."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lsp_harness.chat.tool import ToolResult
from lsp_harness.chat.tools.tool_environment import ToolEnvironment
from lsp_harness.chat.tools.workspace_paths import NamedFile
from lsp_harness.disk.file_reading import read_file
from lsp_harness.disk.file_writing import replace_file
from lsp_harness.errors import FileMissing, StaleDocument, UsageError
from lsp_harness.files.secrets import redact
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
from lsp_harness.syntax.syntax_errors import find_faults
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit, apply, diff
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.check import run_checks
from lsp_harness.verify.finding import Outcome

ACCEPT_FINDINGS = "accept_findings"
"""The member of the input of each tool that edits, by which a caller accepts new findings."""
MAX_FINDINGS = 10
"""Most findings that the model reads. The others are probably consequences of them."""


@dataclass(frozen=True, slots=True)
class NewText:
    """A new text for a file.

    Attributes:
        file: The file.
        before: The text as it was read. Empty if there is no such file yet.
        edits: The edits that make the new text.
        is_new: Whether the file is created.
    """

    file: NamedFile
    before: Document
    edits: Sequence[Edit]
    is_new: bool = False


def require_change(new_text: NewText) -> None:
    """Raise UsageError if a new text is the old one."""
    if not new_text.is_new and apply(new_text.before.data, new_text.edits) == new_text.before.data:
        raise UsageError(f"the edit changes nothing in {new_text.file.name}; the new text is the old one")


@dataclass(frozen=True, slots=True)
class CheckedText:
    """A new text that the quick checks have looked at.

    Attributes:
        change: The change that makes the text.
        outcomes: The outcomes of the checks.
    """

    change: Change
    outcomes: Sequence[Outcome]

    def list_findings(self, *, with_syntax: bool = True) -> tuple[str, ...]:
        """Return the findings of the checks, as lines with the numbers of the lines in the text.

        Args:
            with_syntax: Whether syntax errors are findings. A text may have had its syntax error before.
        """
        outcomes = (outcome for outcome in self.outcomes if with_syntax or outcome.check != "syntax")
        return tuple(line for outcome in outcomes for line in _describe(outcome, self.change.after))


async def check_text(environment: ToolEnvironment, new_text: NewText) -> CheckedText:
    """Check a new text by all quick checks.

    A file that had a syntax error before may keep one: a repair may take several edits.

    Raises:
        UsageError: The edit changes nothing, or adds a syntax error.
    """
    file = new_text.file
    require_change(new_text)
    change = Change.from_edits(new_text.before, new_text.edits, file.path, file.root)
    quick_checks = [check for check in environment.create_checks() if not check.is_slow]
    checked = CheckedText(change, (await run_checks(ChangeSet.of(change), quick_checks)).outcomes)
    if _adds_syntax_error(change, checked.outcomes):
        listed = "\n".join(checked.list_findings()[:MAX_FINDINGS])
        raise UsageError(f"nothing was written: the edit adds a syntax error to {file.name}. Correct it.\n{listed}")
    return checked


async def write_checked(
    environment: ToolEnvironment, new_text: NewText, accepted: Collection[str] | None = ()
) -> ToolResult:
    """Check a new text, and write it if it passes. Call it with the lock of edits held.

    Args:
        environment: The surroundings of the tool.
        new_text: The new text.
        accepted: The findings with which the text is written nevertheless. None means any. A new syntax error is never
            accepted.

    Returns:
        The result with the new findings of all checks.

    Raises:
        UsageError: The edit changes nothing, adds a syntax error, or has findings that nobody accepts.
        StaleDocument: The file has changed since it was read.
        FileError: The file cannot be written.
    """
    file, checked = new_text.file, await check_text(environment, new_text)
    new_findings = checked.list_findings(with_syntax=False)
    # the file may have changed since a person looked at the findings
    if accepted is not None and not set(new_findings) <= set(accepted):
        listed = "\n".join(new_findings[:MAX_FINDINGS])
        raise UsageError(
            f"nothing was written: the checks have new findings about {file.name}. Correct the edit. If the findings "
            f'must stay, repeat the call with "{ACCEPT_FINDINGS}": true.\n{listed}'
        )
    change, findings = checked.change, checked.list_findings()
    verb = await _write(environment, new_text, change)
    patch = redact(diff(new_text.before.data, change.after.data, file.name))
    lines = [f"{file.name} was {verb}{_place(change)}."]
    lines += ["New findings of the checks:", *findings[:MAX_FINDINGS]] if findings else []
    data = {"path": file.name, "diff": patch, "checks": {o.check: o.status for o in checked.outcomes}}
    return ToolResult("\n".join(lines), findings=findings, data=data)


async def _write(environment: ToolEnvironment, new_text: NewText, change: Change) -> str:
    """Write a text where its file or the editor has it, and return what was done."""
    file, editor = new_text.file, environment.editor_texts
    if editor and (unsaved := editor.unsaved().get(file.path)):
        if unsaved.data != new_text.before.data:
            raise StaleDocument(f"{file.name} has changed since it was read; read it again and repeat the edit")
        # the text belongs to the user, who undoes and saves it in the editor
        await editor.apply(unsaved, new_text.edits)
        return "changed in the editor, where it is not saved yet,"
    await environment.before_edit({file.path: change.after.data})
    _check_unchanged(new_text)
    if new_text.is_new:
        file.path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(file.path, change.after.data, None if new_text.is_new else new_text.before.data)
    if environment.index:
        environment.index.refresh(file.path)
    return "created" if new_text.is_new else "changed"


def _adds_syntax_error(change: Change, outcomes: Sequence[Outcome]) -> bool:
    """Return whether an edit breaks the syntax of a text that was correct."""
    if not any(outcome.check == "syntax" and outcome.status == "failed" for outcome in outcomes):
        return False
    return change.tree_before is None or not find_faults(change.tree_before)


def _describe(outcome: Outcome, document: Document) -> list[str]:
    """Return the findings of a failed check as lines with the numbers of the lines in the text."""
    if outcome.status != "failed":
        return []
    lines = [
        line if outcome.check == "syntax" else f"line {document.line_of(finding.start) + 1}: {line}"
        for finding, line in zip(outcome.findings, outcome.lines, strict=True)
    ]
    return [redact(line) for line in lines] or [redact(outcome.reason or f"{outcome.check} failed")]


def _check_unchanged(new_text: NewText) -> None:
    file = new_text.file
    try:
        present = read_file(file.path, MAX_TEXT_BYTES)
    except FileMissing:
        if new_text.is_new:
            return
        raise
    if new_text.is_new:
        raise UsageError(f"{file.name} exists; use edit to change it")
    if present != new_text.before.data:
        raise StaleDocument(f"{file.name} has changed since it was read; read it again and repeat the edit")


def _place(change: Change) -> str:
    """Return the lines of the new text that the edits made, in words."""
    if not change.edits or not change.before.data:
        return ""
    first = change.after.line_of(change.edits[0].start) + 1
    last_edit = change.edits[-1]
    shift = len(change.after.data) - len(change.before.data)
    end = last_edit.end + shift
    last = max(first, change.after.line_of(max(change.edits[0].start, end - 1)) + 1)
    return f" in line {first}" if first == last else f" in lines {first}-{last}"
