"""The events of a turn that changes code: its states, prompts, candidates, checks and edits."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lsp_harness.events.event_frames import frame_of_check, frame_of_proposal, frame_of_verdict, make_frame_form
from lsp_harness.events.event_type import SessionEvent, event_type
from lsp_harness.verify.finding import Outcome, Verdict


@event_type("state.entered", make_frame_form("state", status="entered"))
@dataclass(frozen=True, slots=True)
class StateEntered(SessionEvent):
    """The event that a turn enters another state.

    Attributes:
        state: The name of the state.
        round: The number of the round of candidates, from 0.
        reason: Why the turn failed, or what it does in this state.
    """

    state: str
    round: int | None = None
    reason: str | None = None


@event_type("output.read", frame=None)  # a detail of an edit, which the verdict document shows
@dataclass(frozen=True, slots=True)
class OutputRead(SessionEvent):
    """The event that the output of a tool was read for the turn. `summary` is one line about it."""

    tool: str
    summary: str


@event_type("context.built", frame=None)  # a detail of an edit, which the verdict document shows
@dataclass(frozen=True, slots=True)
class ContextBuilt(SessionEvent):
    """The event that a prompt is sent to the model.

    Attributes:
        sections: The tokens of each section, by its name.
        prompt: The tokens of the whole prompt.
        answer: The tokens that are reserved for an answer.
        context: The size of the model's context in tokens, or 0 if it is unknown.
        candidates: The numbers of the candidates that this prompt is for.
        template: The prompt and the version of its texts, such as "fill 1".
    """

    sections: Mapping[str, int]
    prompt: int
    answer: int
    context: int
    candidates: tuple[int, ...] = ()
    template: str = ""


@dataclass(frozen=True, slots=True)
class RecordedEdit:
    """An edit of a candidate: `text` replaces the bytes of the document from `start` to `end`."""

    start: int
    end: int
    text: str


@event_type(
    "candidate.generated",
    make_frame_form("candidate", "candidate", "kind", "text", "evaluated", "reused", "generated", status="generated"),
)
@dataclass(frozen=True, slots=True)
class CandidateGenerated(SessionEvent):
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
        edits: Its edits of the document of the turn. There are none if the answer was not usable.
        item: The number of the item of a plan that it is for, or None.
    """

    candidate: int
    kind: str
    temperature: float
    seed: int
    text: str
    evaluated: int = 0
    reused: int = 0
    generated: int = 0
    edits: tuple[RecordedEdit, ...] = ()
    item: int | None = None


@event_type("candidate.rejected", make_frame_form("candidate", status="rejected"))
@dataclass(frozen=True, slots=True)
class CandidateRejected(SessionEvent):
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
        extent: The part that was checked, such as "24 of 31 files", if it was not everything.
        is_opinion: Whether it is the opinion of a model.
        is_unresolved: Whether something that the text was meant to repair is still wrong.
    """

    check: str
    status: str
    reason: str = ""
    ms: float = 0.0
    lines: tuple[str, ...] = field(default=(), metadata={"key": "said"})
    extent: str = ""
    is_opinion: bool = False
    is_unresolved: bool = False

    @classmethod
    def from_outcome(cls, outcome: Outcome) -> "CheckReport":
        """Return the report of an outcome."""
        lines = outcome.lines if outcome.status == "failed" else ()
        return cls(
            outcome.check,
            outcome.status,
            outcome.reason,
            round(outcome.ms, 1),
            lines,
            outcome.extent,
            outcome.is_opinion,
            outcome.is_unresolved,
        )


@event_type("verify.completed", frame_of_verdict)
@dataclass(frozen=True, slots=True)
class ChecksCompleted(SessionEvent):
    """The event that all checks of a text ran.

    Attributes:
        hash: The hash of the text.
        passed: Whether nothing failed, so that the text may be offered. It does not say that the text is verified.
        outcomes: The outcome of each check, in the order of the checks.
        candidate: The number of the candidate, or None if the text is already in the editor.
        standing: What the outcomes say together: "verified", "form", "incomplete", "unresolved", "failed" or
            "unchecked". It is empty in the logs of older versions.
        words: The verdict as people read it, such as "form ✓, behaviour not checked".
    """

    hash: str
    passed: bool
    outcomes: tuple[CheckReport, ...]
    candidate: int | None = None
    standing: str = ""
    words: str = ""

    @classmethod
    def from_verdict(cls, verdict: Verdict, candidate: int | None = None) -> "ChecksCompleted":
        """Return the event for a verdict on a candidate, or on a text that is already in the editor."""
        reports = tuple(CheckReport.from_outcome(outcome) for outcome in verdict.outcomes)
        return cls(verdict.hash, verdict.passed, reports, candidate, verdict.kind, verdict.words)


@event_type("edit.proposed", frame_of_proposal)
@dataclass(frozen=True, slots=True)
class EditProposed(SessionEvent):
    """The event that an edit is offered. `hash` is the hash of the text with the edit."""

    hash: str
    diff: str
    summary: str


@event_type("edit.applied", make_frame_form("edit", status="applied"))
@dataclass(frozen=True, slots=True)
class EditApplied(SessionEvent):
    """The event that the user applied an edit. `proposal` is the id of its event `edit.proposed`."""

    proposal: str


@event_type("edit.stale", make_frame_form("edit", status="stale"))
@dataclass(frozen=True, slots=True)
class EditStale(SessionEvent):
    """The event that an edit was not offered because the document changed. `hash` is that of the text with the edit."""

    hash: str


@event_type("choice.made", frame=None)  # a detail of an edit, which the verdict document shows
@dataclass(frozen=True, slots=True)
class ChoiceMade(SessionEvent):
    """The event that the model chose one of several equally likely repairs.

    Attributes:
        candidate: The number of the repair that the model chose.
        costs: The number of each repair → its cost.
        agreed: Whether no other repair costs less. Only then the repair is offered.
    """

    candidate: int
    costs: Mapping[int, float]
    agreed: bool


@event_type("choice.failed", frame=None)  # a detail of an edit, which the verdict document shows
@dataclass(frozen=True, slots=True)
class ChoiceFailed(SessionEvent):
    """The event that the model could not choose a repair."""

    reason: str


@event_type("state.exited", make_frame_form("state", status="exited"))
@dataclass(frozen=True, slots=True)
class StateExited(SessionEvent):
    """The event that a turn leaves a state.

    Attributes:
        state: The name of the state.
        ms: How long the turn was in it.
        outcome: What was found or decided there, in words.
    """

    state: str
    ms: int = 0
    outcome: str = ""


@event_type("candidate.selected", make_frame_form("candidate", status="selected"))
@dataclass(frozen=True, slots=True)
class CandidateSelected(SessionEvent):
    """The event that a candidate was chosen among those that passed. `passed` is the number of these."""

    candidate: int
    passed: int


@event_type("verify.started", make_frame_form("verify", "checks", "candidate", status="started"))
@dataclass(frozen=True, slots=True)
class ChecksStarted(SessionEvent):
    """The event that the checks of a text begin. `checks` are their names, in order."""

    hash: str
    checks: tuple[str, ...]
    candidate: int | None = None


@event_type("verify.step", frame_of_check)
@dataclass(frozen=True, slots=True)
class CheckCompleted(SessionEvent):
    """The event that one check of a text has a result."""

    hash: str
    report: CheckReport
    candidate: int | None = None


@event_type("edit.rejected", make_frame_form("edit", status="rejected"))
@dataclass(frozen=True, slots=True)
class EditRejected(SessionEvent):
    """The event that the user refused an edit. `proposal` is the id of its event `edit.proposed`."""

    proposal: str
    reason: str = ""


@event_type("edit.reverted", make_frame_form("edit", "checkpoint", "paths", status="reverted"))
@dataclass(frozen=True, slots=True)
class EditReverted(SessionEvent):
    """The event that files have the text again that they had before a turn, or that such an undo was taken back.

    Attributes:
        checkpoint: The id of the checkpoint.
        paths: The files, relative to the folder of the session.
        reverted_turn: The number of the turn whose edits were undone.
        backup: The id of the checkpoint with the texts before the restoration.
        kept: The files that were not restored, because somebody may have changed them.
        is_redo: Whether the undo of the turn was taken back.
    """

    checkpoint: str
    paths: tuple[str, ...]
    reverted_turn: int | None = None
    backup: str = ""
    kept: tuple[str, ...] = ()
    is_redo: bool = False
