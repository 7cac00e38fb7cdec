"""The results that the harness gives to a surface: suggestions, offers, proposals and progress."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from lsp_harness.text.edit import Edit
from lsp_harness.verify.finding import Finding, Verdict

if TYPE_CHECKING:
    # a server loads this module when it starts, and the parser only with the first request
    from lsp_harness.verify.change import ChangeSet

FixSource = Literal["linter", "repair", "model"]
"""The maker of a fix: `linter` is the tool's own safe fix, `repair` needs no model, and `model` is any other."""
FIX_SOURCES: tuple[FixSource, ...] = get_args(FixSource)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A text that the editor shows at the cursor and that the user may accept (ghost text).

    Attributes:
        id: The name by which the editor reports what became of it.
        start: The first byte of the text that it replaces.
        end: The byte after the text that it replaces.
        text: The new text.
        stats: The figures of its request: `prompt_tokens`, `evaluated`, `reused`, `generated`, `ms` (see
            docs/lsp-extensions.md).
    """

    id: str
    start: int
    end: int
    text: str
    stats: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class FixOffer:
    """A fix that is computed when the user chooses it.

    Attributes:
        title: The title in the list of quick fixes.
        source: Who will probably make the fix. It may turn out that a repair fails and the model is asked.
        finding: The finding to fix.
    """

    title: str
    source: FixSource
    finding: Finding


@dataclass(frozen=True, slots=True)
class Proposal:
    """A verified edit of one or several documents, each of one version.

    Attributes:
        id: The id of its event in the session.
        changes: The edits of each document.
        verdict: The passed verdict on the text with the edits.
        diff: The edits as a unified diff.
        summary: One line for the user.
        turn: The number of its turn. The session log has all candidates of the turn.
        is_by_model: Whether the model wrote or chose the edit, not a repair or a linter.
        finding: The finding that it fixes, or None if it has another purpose.
        learned_id: The fix in the error cache that it repeats, or an empty text.
    """

    id: str
    changes: "ChangeSet"
    verdict: Verdict
    diff: str
    summary: str
    turn: int = 0
    is_by_model: bool = True
    finding: Finding | None = None
    learned_id: str = ""

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits of the document that the request is about."""
        return self.changes.main.edits


@dataclass(frozen=True, slots=True)
class Progress:
    """One line for a person, and the part of the work that is done (0 to 100), if it is known."""

    message: str
    percentage: int | None = None


Report = Callable[[Progress], None]
