"""The result of one arm at one task, as one line of JSON."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, cast

from benchmarks.evaluation.attempt import CATEGORIES, UNRESOLVED, Category
from lsp_harness.wire.verdict_words import OPINION_CHECK, ReportedResult, VerdictKind, find_standing

ResultKey = tuple[str, str, str, str, str]
"""The suite, the task, the arm, the model, and the ablations."""


@dataclass(frozen=True, slots=True)
class TaskResult:
    """The result of one arm at one task.

    Attributes:
        suite: The suite.
        task: The task.
        arm: The arm.
        model: The model that answered.
        ablation: The switched-off parts, in a fixed order, separated by spaces.
        category: What became of it.
        reason: Why it failed, in one line.
        seconds: The time from the request to the answer.
        state_seconds: Name of a state → its seconds.
        state_tokens: Name of a state → its tokens (`evaluated`, `reused`, `generated`).
        calls: The number of requests to the model.
        candidates: The number of candidates.
        kind: How the answer was made, such as "fill".
        checks: Name of a check → its status for the answer, or `UNRESOLVED`. What a user reads about them is
            `verdict_kind`.
        gate: The origin of the visible tests.
        is_false_verified: Whether the answer was shown as verified, and fails the hidden check.
        diff: The answer as a diff.
        reasons: Why the candidates were rejected.
        commit: The commit of the program, or its version.
        time: When it ended, in UTC.
    """

    suite: str
    task: str
    arm: str
    model: str
    ablation: str
    category: Category
    reason: str = ""
    seconds: float = 0.0
    state_seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    state_tokens: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    calls: int = 0
    candidates: int = 0
    kind: str = ""
    checks: Mapping[str, str] = field(default_factory=dict[str, str])
    gate: str = ""
    is_false_verified: bool = False
    diff: str = ""
    reasons: tuple[str, ...] = ()
    commit: str = ""
    time: str = ""

    @property
    def key(self) -> ResultKey:
        """Return what distinguishes this result from others."""
        return self.suite, self.task, self.arm, self.model, self.ablation

    @property
    def is_judged(self) -> bool:
        """Return whether the attempt says something about the arm, and not about this machine."""
        return self.category not in ("tool missing", "error")

    @property
    def verdict_kind(self) -> VerdictKind | Literal[""]:
        """Return what the user was told about the answer, or an empty text if none was shown or nothing was told."""
        if self.category not in ("pass", "fail") or not self.checks:
            return ""
        return find_standing(
            ReportedResult(
                name,
                "skipped" if status == UNRESOLVED else status,
                is_opinion=name == OPINION_CHECK,
                is_unresolved=status == UNRESOLVED,
            )
            for name, status in self.checks.items()
        )

    @property
    def is_verified(self) -> bool:
        """Return whether an answer was shown with the word "verified", and not with "behaviour not checked"."""
        return self.verdict_kind == "verified"

    @property
    def is_form_only(self) -> bool:
        """Return whether an answer was shown about whose behaviour nothing was known."""
        return self.verdict_kind in ("form", "incomplete")

    @property
    def generated(self) -> int:
        """The tokens of all answers."""
        return sum(int(tokens.get("generated", 0)) for tokens in self.state_tokens.values())

    def to_line(self) -> str:
        """Return the result as one line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False) + "\n"

    @classmethod
    def from_line(cls, line: str) -> "TaskResult":
        """Return the result of a line. Raises ValueError."""
        value: Any = json.loads(line)
        body = cast("dict[str, Any]", value) if isinstance(value, dict) else {"": value}
        try:
            body["reasons"] = tuple(body.get("reasons") or ())
            result = cls(**body)
        except TypeError as error:
            raise ValueError(str(error)) from error
        if result.category not in CATEGORIES:
            raise ValueError(f"the category {result.category!r} is unknown")
        return result
