"""The events of a session: one frozen class for each type.

`event_codec` knows their form in the log. A time, a turn and a number are not part of them: the log adds these in the
envelope (`wire.event`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lsp_harness.verify.finding import Outcome, Verdict


@dataclass(frozen=True, slots=True)
class InvocationReceived:
    """The event that begins a turn: a user or a program requested something.

    Attributes:
        kind: The kind of the turn: "fix", "edit", "docstring", "tests", "explain" or "check".
        text: The request in words.
        path: The path of the document in its workspace.
        source: The tool that reported the finding, for a fix.
    """

    kind: str
    text: str
    path: str
    source: str | None = None


@dataclass(frozen=True, slots=True)
class StateEntered:
    """The event that a turn enters another state.

    Attributes:
        state: The name of the state.
        round: The number of the round of candidates, from 0.
        reason: Why the turn failed.
    """

    state: str
    round: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class OutputRead:
    """The event that the output of a tool was read for the turn. `summary` is one line about it."""

    tool: str
    summary: str


@dataclass(frozen=True, slots=True)
class ContextBuilt:
    """The event that a prompt is sent to the model.

    Attributes:
        sections: The tokens of each section, by its name.
        prompt: The tokens of the whole prompt.
        answer: The tokens that are reserved for an answer.
        context: The size of the model's context in tokens, or 0 if it is unknown.
        candidates: The numbers of the candidates that this prompt is for.
    """

    sections: Mapping[str, int]
    prompt: int
    answer: int
    context: int
    candidates: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class CandidateGenerated:
    """The event that the model or a repair completed a candidate.

    Attributes:
        candidate: Its number in the turn, from 1.
        kind: How it was made, as people read it.
        temperature: The temperature of sampling. 0 is the most likely text.
        seed: The seed of sampling.
        text: The new text of its edits.
        evaluated: The prompt tokens that the engine evaluated for it.
        reused: The prompt tokens that the engine had evaluated before.
        generated: The tokens of the answer.
    """

    candidate: int
    kind: str
    temperature: float
    seed: int
    text: str
    evaluated: int = 0
    reused: int = 0
    generated: int = 0


@dataclass(frozen=True, slots=True)
class CandidateRejected:
    """The event that a candidate is not offered."""

    candidate: int
    reason: str


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The outcome of one check, without the places of its findings.

    Attributes:
        check: The name of the check.
        status: "passed", "failed" or "skipped".
        reason: Why the check was skipped, or another remark.
        ms: How long the check took.
        lines: The findings of a failed check as lines of text.
    """

    check: str
    status: str
    reason: str = ""
    ms: float = 0.0
    lines: tuple[str, ...] = ()

    @classmethod
    def from_outcome(cls, outcome: Outcome) -> "CheckReport":
        """Return the report of an outcome."""
        lines = outcome.lines if outcome.status == "failed" else ()
        return cls(outcome.check, outcome.status, outcome.reason, round(outcome.ms, 1), lines)


@dataclass(frozen=True, slots=True)
class ChecksCompleted:
    """The event that all checks of a text ran.

    Attributes:
        hash: The hash of the text.
        passed: Whether the verdict is passed.
        outcomes: The outcome of each check, in the order of the checks.
        candidate: The number of the candidate, or None if the text is already in the editor.
    """

    hash: str
    passed: bool
    outcomes: tuple[CheckReport, ...]
    candidate: int | None = None

    @classmethod
    def from_verdict(cls, verdict: Verdict, candidate: int | None = None) -> "ChecksCompleted":
        """Return the event for a verdict on a candidate, or on a text that is already in the editor."""
        reports = tuple(CheckReport.from_outcome(outcome) for outcome in verdict.outcomes)
        return cls(verdict.hash, verdict.passed, reports, candidate)


@dataclass(frozen=True, slots=True)
class EditProposed:
    """The event that an edit is offered. `hash` is the hash of the text with the edit."""

    hash: str
    diff: str
    summary: str


@dataclass(frozen=True, slots=True)
class EditApplied:
    """The event that the user applied an edit. `proposal` is the id of its event `edit.proposed`."""

    proposal: str


@dataclass(frozen=True, slots=True)
class EditStale:
    """The event that an edit was not offered because the document changed. `hash` is that of the text with the edit."""

    hash: str


@dataclass(frozen=True, slots=True)
class ChoiceMade:
    """The event that the model chose one of several equally likely repairs.

    Attributes:
        candidate: The number of the repair that the model chose.
        costs: The number of each repair → its cost.
        agreed: Whether no other repair costs less. Only then the repair is offered.
    """

    candidate: int
    costs: Mapping[int, float]
    agreed: bool


@dataclass(frozen=True, slots=True)
class ChoiceFailed:
    """The event that the model could not choose a repair."""

    reason: str


@dataclass(frozen=True, slots=True)
class IndexUpdated:
    """The event that the index of a folder is up to date again. This event belongs to no turn.

    Attributes:
        folder: The name of the folder.
        paths: The number of paths that were read again or removed.
        files: The number of files in the index.
        ms: How long the update took.
    """

    folder: str
    paths: int
    files: int
    ms: int


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    """An event of a type that this version does not know, such as an event of another version."""

    type: str
    data: Mapping[str, Any]


TurnEvent = (
    InvocationReceived
    | StateEntered
    | OutputRead
    | ContextBuilt
    | CandidateGenerated
    | CandidateRejected
    | ChecksCompleted
    | EditProposed
    | EditApplied
    | EditStale
    | ChoiceMade
    | ChoiceFailed
    | IndexUpdated
    | UnknownEvent
)
