"""The changes of a foreign agent as one verified proposal: the checks of our own edits, on exactly its bytes."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from lsp_harness.errors import UsageError
from lsp_harness.events.code_events import ChecksCompleted, EditProposed
from lsp_harness.files.folders import resolve_links
from lsp_harness.files.secrets import redact
from lsp_harness.harness.services import Services
from lsp_harness.kernel.ingress import Ingress
from lsp_harness.kernel.limits import Ending
from lsp_harness.languages.language_table import find_language_of_file
from lsp_harness.runtime.isolation.git import TreeChange
from lsp_harness.text.document import Document
from lsp_harness.text.edit import diff
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.check import CheckContext, run_checks
from lsp_harness.verify.finding import Verdict

MAX_FINDING_LINES = 50


@dataclass(frozen=True, slots=True)
class ChangeReview:
    """The changes of an agent, and the verdict about them.

    Attributes:
        id: The hash of the changes: equal changes have equal ids. Empty if nothing was changed.
        event_id: The id of its event `edit.proposed`. Empty if the verdict is not passed.
        changes: The changes of texts. None if there are none.
        removed: The files that it removed, as changes to an empty text. No check reads them.
        left_out: Path → why its change is neither checked nor applied.
        verdict: The verdict on the changes of texts.
        diff: All changes as a unified diff.
        turn: The number of the turn that recorded it.
    """

    id: str
    changes: ChangeSet | None
    removed: tuple[Change, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    verdict: Verdict = field(default_factory=lambda: Verdict(""))
    diff: str = ""
    turn: int = 0
    event_id: str = ""

    @property
    def is_checked(self) -> bool:
        """Return whether a check could read one of the changes, other than a model that has an opinion."""
        return any(outcome.status != "skipped" and not outcome.is_opinion for outcome in self.verdict.outcomes)

    @property
    def is_refused(self) -> bool:
        """Return whether a check failed, so that nobody can apply the changes."""
        return any(outcome.status == "failed" for outcome in self.verdict.outcomes)

    @property
    def all_changes(self) -> tuple[Change, ...]:
        """The changes of texts, and the removed files."""
        return (*(self.changes or ()), *self.removed)

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was changed."""
        return not self.all_changes and not self.left_out

    @property
    def findings(self) -> list[str]:
        """The findings as lines, without secrets."""
        lines = [line for outcome in self.verdict.outcomes if outcome.status == "failed" for line in outcome.lines]
        return [redact(line) for line in lines[:MAX_FINDING_LINES]]

    @property
    def summary(self) -> str:
        """The words of the verdict and each check with its reason, or that nothing was checked."""
        marks = self.verdict.marks
        if not self.all_changes:
            return marks
        if self.is_checked or self.is_refused:
            return f"{self.verdict.words} ({marks})"
        return f"not checked ({marks})" if marks else "not checked"

    def fields(self, root: Path) -> dict[str, Any]:
        """Return the review as JSON. Paths are relative to a folder where they lie in it."""
        removed = {change.file for change in self.removed}

        def kind(change: Change) -> str:
            if change.file in removed:
                return "removed"
            return "changed" if change.file.exists() else "created"

        files = [{"path": _name(change.file, root), "kind": kind(change)} for change in self.all_changes]
        return {
            "reviewId": self.id,
            "passed": self.verdict.passed,
            "standing": self.verdict.kind,
            "isChecked": self.is_checked,
            "verdict": self.summary,
            "findings": self.findings,
            "hash": self.verdict.hash,
            "files": files,
            "leftOut": dict(self.left_out),
        }


async def review_changes(
    services: Services, root: Path, repository: Path, found: Sequence[TreeChange], *, author: str
) -> ChangeReview:
    """Verify what an agent changed, and record the verdict and the proposal in a turn of the session.

    Args:
        services: The settings, documents, engine and checks that all parts of the harness share.
        root: The folder of the user in which files may be changed.
        repository: The folder to which the paths of the changes belong.
        found: The changes.
        author: The name of the agent, for the log.
    """
    texts: list[Change] = []
    removed: list[Change] = []
    left_out: dict[str, str] = {}
    for item in found:
        file = repository / item.path
        if problem := item.problem or _find_problem(services, root, file, item):
            left_out[item.path] = problem
            continue
        change = _make_change(file, root, item)
        (removed if item.kind == "removed" else texts).append(change)
    changes = ChangeSet(tuple(texts)) if texts else None
    turn = services.session.begin_turn(Ingress("check", f"the changes of the agent {author}", source="agent"))
    try:
        verdict, event_id = Verdict(""), ""
        if changes:
            settings, verifier = services.config.verification, services.verifier
            verdict = await run_checks(changes, verifier.create_checks(settings, CheckContext(verifier.tools)))
            turn.append(ChecksCompleted.from_verdict(verdict))
        text = "".join(diff(c.before.data, c.after.data, _name(c.file, root)) for c in (*texts, *removed))
        if verdict.passed:
            event_id = turn.append(
                EditProposed(verdict.hash, redact(text), verdict.conclude(f"the change by {author}"))
            ).id
    except BaseException:
        services.session.end_turn(turn, Ending("cancelled", "cancelled"))
        raise
    services.session.end_turn(turn, Ending("completed", "checked", verdict.marks))
    return ChangeReview(hash_changes(found), changes, tuple(removed), left_out, verdict, text, turn.number, event_id)


def require_applicable(review: ChangeReview, *, unchecked: bool) -> None:
    """Raise UsageError unless the verdict is passed, or the user wants changes that no check can read.

    Args:
        review: The changes.
        unchecked: Whether the user wants them without a check.
    """
    if review.verdict.passed:
        return
    if review.is_checked or review.is_refused:
        reason = "; ".join(review.findings) or review.summary
        raise UsageError(f"nothing was applied, because the verdict is not passed: {reason}")
    if not review.all_changes:
        raise UsageError("there is nothing to apply")
    if not unchecked:
        raise UsageError(
            "nothing was applied, because no check can read these changes; to apply them nevertheless, look at them "
            "and confirm it (`unchecked`)"
        )


def hash_changes(found: Sequence[TreeChange]) -> str:
    """Return the hash of changes: of their paths, their kinds and their bytes. It is empty without changes."""
    if not found:
        return ""
    state = hashlib.blake2b(digest_size=16)
    for item in found:
        parts = (item.path.encode("utf-8", "surrogateescape"), item.kind.encode(), item.problem.encode())
        for part in (*parts, item.before, item.after):
            # the length comes first, so that two lists of parts never give the same bytes
            state.update(b"-" if part is None else b"%d:%b" % (len(part), part))
    return state.hexdigest()


def _find_problem(services: Services, root: Path, file: Path, item: TreeChange) -> str:
    """Return why a change must not reach the folder of the user, or an empty text."""
    if ".git" in PurePosixPath(item.path).parts:
        return "it belongs to git"
    # a folder of the user that is a link may lead out of the workspace
    if not resolve_links(file).is_relative_to(resolve_links(root)):
        return "it is outside of the folder of the session"
    if file.is_symlink():
        return "it is a link in your folder"
    if reason := services.workspace.private_files.reason(file.as_uri()):
        return f"it is private: {reason}"
    if any(b"\0" in text[:8192] for text in (item.before, item.after) if text):
        return "it is no text, so that nothing can check it"
    return ""


def _make_change(file: Path, root: Path, item: TreeChange) -> Change:
    language = find_language_of_file(str(file))
    before = Document.from_text(file.as_uri(), item.before or b"", language=language.id if language else "")
    after = Document.from_text(before.uri, item.after or b"", language=before.language)
    return Change.from_documents(before, after, file, root)


def _name(file: Path, root: Path) -> str:
    return str(file.relative_to(root)) if file.is_relative_to(root) else str(file)
