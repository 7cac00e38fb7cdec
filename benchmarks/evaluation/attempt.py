"""The attempt of one arm at one task: the answer that a user would see, all candidates, and what they cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from benchmarks.evaluation.metered_engine import TokenCount
from benchmarks.evaluation.suites.hidden_check import Files
from lsp_harness.errors import HarnessError

Category = Literal["pass", "fail", "no answer", "cut off", "tool missing", "error"]
"""The result of an attempt. `no answer` is an honest refusal, and only `pass` and `fail` were judged by the check."""
CATEGORIES: tuple[Category, ...] = ("pass", "fail", "no answer", "cut off", "tool missing", "error")

UNRESOLVED = "unresolved"
"""The status of a check that found no new fault, but an old one that the edit should have repaired."""


class ToolMissing(HarnessError):
    """An error that says that this machine lacks a program that the task needs."""


@dataclass(frozen=True, slots=True)
class CandidateAnswer:
    """A candidate. `answer` is None if it was not usable; `kind` says how it was made, and `reason` why it failed."""

    kind: str
    answer: Files | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The outcome of one arm at one task, before the hidden check.

    Attributes:
        answer: The answer that the user sees, or None.
        ending: The category of an attempt without an answer; empty if there is one.
        reason: Why there is no answer.
        kind: How the answer was made, such as "fill" or "rewrite".
        candidates: All candidates, also those that were rejected.
        checks: Name of a check → its status for the answer. Empty if the arm checks nothing.
    """

    answer: Files | None = None
    ending: Category | Literal[""] = ""
    reason: str = ""
    kind: str = ""
    candidates: tuple[CandidateAnswer, ...] = ()
    checks: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Cost:
    """The time and the tokens of an attempt.

    Attributes:
        seconds: The time from the request to the answer.
        state_seconds: Name of a state → its seconds.
        state_tokens: Name of a state → its tokens.
        calls: The number of requests to the model.
    """

    seconds: float = 0.0
    state_seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    state_tokens: Mapping[str, TokenCount] = field(default_factory=dict[str, TokenCount])
    calls: int = 0
