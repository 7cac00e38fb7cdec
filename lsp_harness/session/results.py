"""What the harness gives a surface: suggestions, offers, proposals and progress, in bytes and plain words."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from lsp_harness.text.edit import Edit
from lsp_harness.verify.finding import Finding, Verdict

How = Literal["linter", "repair", "model"]
HOWS: tuple[How, ...] = get_args(How)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Ghost text: replace bytes `start`..`end` with `text`. `stats` are the request's own figures
    (`prompt_tokens`, `evaluated`, `reused`, `generated`, `ms`; see docs/lsp-extensions.md)."""

    id: str
    start: int
    end: int
    text: str
    stats: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Offer:
    """A fix that can be computed when chosen.

    `how`: `linter` is the tool's own safe fix, `repair` one that needs no model as far as can be told at once, `model` any other.
    """

    title: str
    how: How
    finding: Finding


@dataclass(frozen=True, slots=True)
class Proposal:
    """A verified edit of one document version."""

    id: str
    edits: tuple[Edit, ...]
    verdict: Verdict
    diff: str
    summary: str
    turn: int = 0
    """Of the session, where all that was tried for it can be read."""
    by_model: bool = True
    """Whether the model wrote or chose the edit; False for a repair without it and for a linter's own fix."""

    @property
    def checks(self) -> str:
        """Each check with a mark for its outcome."""
        # imported late, because the parser comes with the checks
        from lsp_harness.verify.check_registry import format_marks

        return format_marks(self.verdict)


@dataclass(frozen=True, slots=True)
class Progress:
    """One line for a person and, where it is known, how far along the work is (0–100)."""

    message: str
    percentage: int | None = None


Report = Callable[[Progress], None]
