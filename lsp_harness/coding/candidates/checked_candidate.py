"""A candidate with its verdict, and the order in which candidates are preferred."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from lsp_harness.coding.candidates.sampling import Candidate
from lsp_harness.files.secrets import redact
from lsp_harness.syntax.syntax_errors import dump_python
from lsp_harness.text.edit import changed_size, diff
from lsp_harness.text.position import decode
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.finding import Verdict
from lsp_harness.verify.preservation.preservation_check import count_changed_tokens

MAX_SHOWN_CHARS = 60
"""Most characters of a changed line in a message."""
MAX_SHOWN_FINDINGS = 3
"""Most findings of a candidate in a message."""
MAX_EXCERPT_CHARS = 160
"""Most characters of the changed lines of a candidate in a message."""


class ChangeSize(NamedTuple):
    """The size of a change: the changed tokens, and the bytes of the changed lines."""

    tokens: int
    line_bytes: int


@dataclass(frozen=True)
class CheckedCandidate:
    """A candidate with its verdict."""

    candidate: Candidate
    changes: ChangeSet
    verdict: Verdict

    @property
    def change(self) -> Change:
        """The change of the document that the turn is about."""
        return self.changes.main

    @cached_property
    def size(self) -> ChangeSize:
        """The size of the change."""
        line_bytes = changed_size(self.change.before.data, self.change.after.data)
        return ChangeSize(count_changed_tokens(self.change), line_bytes)

    @property
    def finding_lines(self) -> list[str]:
        """The findings of the failed checks, as lines of text."""
        return [line for outcome in self.verdict.outcomes if outcome.status == "failed" for line in outcome.lines]

    @property
    def first_changed_line(self) -> str:
        """The first changed line as the candidate leaves it."""
        after = self.change.after
        line = after.line_of(min((edit.start for edit in self.change.edits), default=0))
        return decode(after.line(line)).strip()[:MAX_SHOWN_CHARS]

    @property
    def excerpt(self) -> str:
        """The beginning of its new lines, or of those that it only removes, on one line with the marks of a diff."""
        lines = diff(self.change.before.data, self.change.after.data, "", context=0).splitlines()[2:]
        shown = [line for line in lines if line.startswith("+")] or [line for line in lines if line.startswith("-")]
        text = redact(" ⏎ ".join(f"{line[0]} {line[1:].strip()}" for line in shown if line[1:].strip()))
        return text if len(text) <= MAX_EXCERPT_CHARS else f"{text[: MAX_EXCERPT_CHARS - 1]}…"

    def describe_failure(self, number: int) -> str:
        """Return the number of the candidate in its turn, its changed lines and its findings, in one line."""
        return f"candidate {number} (`{self.excerpt}`): {self.failure}"

    @property
    def failure(self) -> str:
        """The first findings of the failed checks, on one line."""
        lines = self.finding_lines
        more = [f"and {len(lines) - MAX_SHOWN_FINDINGS} more"] if lines[MAX_SHOWN_FINDINGS:] else []
        return "; ".join([*lines[:MAX_SHOWN_FINDINGS], *more]) or "no check could run"

    @property
    def order(self) -> tuple[int, int, float, int, int]:
        """A sort key that puts the best candidate first.

        It compares the number of passed checks, the changed tokens, the cost of a repair, the bytes of the changed
        lines, and the number of the candidate.
        """
        rank = -self.verdict.rank if not self.verdict.passed else -99
        return rank, self.size.tokens, self.candidate.cost, self.size.line_bytes, self.candidate.number


def choose_smallest(passed: Sequence[CheckedCandidate]) -> CheckedCandidate:
    """Return the candidate that changes least."""
    return min(passed, key=lambda result: result.order)


def choose_most_likely(passed: Sequence[CheckedCandidate]) -> CheckedCandidate:
    """Return the model's best guess, if it passed.

    Unlike a repair, an edit by instruction is no better if it is short.
    """
    return min(passed, key=lambda result: result.candidate.number)


def drop_equivalent(passed: Sequence[CheckedCandidate]) -> list[CheckedCandidate]:
    """Return for each Python program that some candidates make the one that changes the fewest bytes.

    Such candidates differ in comments, blanks and line breaks only, so that nobody has to choose. In other languages
    all are returned, because a line break may end a statement. The order stays.
    """
    smallest: dict[tuple[str | bytes, ...], CheckedCandidate] = {}
    for result in passed:
        program = _describe_program(result)
        other = smallest.get(program, result)
        smallest[program] = min(other, result, key=lambda candidate: candidate.size.line_bytes)
    return list(smallest.values())


def _describe_program(result: CheckedCandidate) -> tuple[str | bytes, ...]:
    """Return the syntax tree of each changed file of Python, and the text of the others."""
    parts: list[str | bytes] = []
    for change in result.changes:
        is_python = change.tree_after and change.tree_after.language.compiles_in_process
        parts.append((is_python and dump_python(change.after.data)) or change.after.data)
    return tuple(parts)
