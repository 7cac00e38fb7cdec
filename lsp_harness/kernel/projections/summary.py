"""The summary of a session in a few lines. It is computed from the events of the session, without a model."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from lsp_harness.context.fragment import TokenCounter
from lsp_harness.events.code_events import ChecksCompleted, EditApplied, EditProposed, EditStale, OutputRead
from lsp_harness.events.event_codec import decode_event
from lsp_harness.events.session_events import InvocationReceived
from lsp_harness.text.diff_reading import read_diff
from lsp_harness.wire.event import Event

BUDGET_TOKENS = 200
"""Tokens of the summary as a text, for people and prompts."""
MAX_LINES = 5
"""Most lines for each kind of item. The last items are shown."""
MAX_LINE_CHARS = 120
MAX_SHOWN_COMMANDS = 3
"""Most commands in the line of the commands."""
MAX_ITEMS = 64
"""Most items of each kind that are remembered. A session may be long."""
REQUEST_KINDS = frozenset({"fix", "edit", "docstring", "tests"})
"""Kinds of turns that change code for the user. Their text is the goal of the session."""
SUMMARY_TYPES = frozenset(
    {"invocation.received", "edit.proposed", "edit.applied", "edit.stale", "output.read", "verify.completed"}
)
"""Types of events that change the summary."""
DECLARATION_LINE = re.compile(
    r"^[ +-]\s*((?:async |export |pub |static )*(?:def|class|fn|func|function|struct|interface|enum|trait|type)\b.*)"
)
"""A line of a diff that declares something."""
CHANGED_DECLARATION = re.compile(
    r" in .*\b(?:def|class|fn|func|function|struct|interface|enum|trait|type)\s+(?:\([^)]*\)\s*)?([\w$]+)"
)
"""The declaration in `RequestSummary.changed`."""


@dataclass(frozen=True, slots=True)
class RequestSummary:
    """The result of one request to change code.

    Attributes:
        turn: The number of the turn.
        path: The file that the request is about.
        text: The text of the request.
        outcome: `proposed`, `applied` or `stale`; `rejected` if the user then made another request for the file; or
            `failed` if there was nothing to propose.
        changed: The numbers of added and removed lines, and their declaration, as far as the diff tells.
    """

    turn: int
    path: str
    text: str
    outcome: str = "failed"
    changed: str = ""

    def __str__(self) -> str:
        return f"{self.outcome}: {self.text} ({self.path}{self.changed and ', '}{self.changed})"


@dataclass(frozen=True, slots=True)
class Summary:
    """The files, decisions, open findings and commands of a session until now. All tuples begin with the last item.

    Attributes:
        goal: The last request to change code.
        turns: The number of turns.
        files: The files that turns are about.
        decisions: The result of each request to change code.
        open: File and line of each finding that no later check or edit removed.
        commands: The tests, linters and checks that ran, with their results.
        symbols: The declarations that applied edits changed.
        places: The number of each of the last turns, and its file.
    """

    goal: str = ""
    turns: int = 0
    files: tuple[str, ...] = ()
    decisions: tuple[RequestSummary, ...] = ()
    open: tuple[tuple[str, str], ...] = ()
    commands: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    places: tuple[tuple[int, str], ...] = ()

    @property
    def lines(self) -> list[str]:
        """The summary as lines, the most valuable lines first."""
        return self._make_lines(MAX_LINES, MAX_SHOWN_COMMANDS)

    @property
    def all_lines(self) -> list[str]:
        """All lines of the summary."""
        return self._make_lines(MAX_ITEMS, MAX_ITEMS)

    def lines_for(self, path: str, is_hidden: Callable[[str], object] = lambda path: False) -> list[str]:
        """Return short lines for the next change of a file: open findings, those of this file first, and decisions.

        Args:
            path: The file.
            is_hidden: Returns whether a file must not be named.
        """
        findings = sorted((item for item in self.open if not is_hidden(item[0])), key=lambda item: item[0] != path)
        decisions = [decision for decision in self.decisions if decision.path == path]
        return [
            *(_shorten(f"Open in {file}: {line}") for file, line in findings[:MAX_LINES]),
            *(_shorten(f"Decision, {decision}") for decision in decisions[:MAX_LINES]),
        ]

    async def text(self, budget: int, count: TokenCounter) -> str:
        """Return the lines that fit into `budget` tokens."""
        text = ""
        lines = [f"{_shorten(line)}\n" for line in self.lines]
        for line, cost in zip(lines, await count(lines), strict=True):
            if cost <= budget:
                budget -= cost
                text += line
        return text

    def with_event(self, event: Event) -> "Summary":
        """Return the summary after one more event."""
        if event.type not in SUMMARY_TYPES:
            return self
        turn = event.turn if event.turn is not None else -1
        match decode_event(event.type, event.data):
            case InvocationReceived() as invocation:
                return self._with_invocation(turn, invocation)
            case EditProposed(diff=diff):
                return self._with_outcome(turn, "proposed", _describe_diff(diff))
            case EditApplied():
                return self._with_outcome(turn, "applied")
            case EditStale():
                return self._with_outcome(turn, "stale")
            case OutputRead(summary=summary):
                return self._with_command(_one_line(summary))
            case ChecksCompleted(candidate=None) as checks:
                # a candidate is not in any file yet
                return self._with_checks(turn, checks)
            case _:
                return self

    def _make_lines(self, max_lines: int, max_commands: int) -> list[str]:
        return [
            *([f"Goal: {self.goal}"] if self.goal else []),
            *(f"Open in {path}: {line}" for path, line in self.open[:max_lines]),
            *([f"Ran {'; '.join(self.commands[:max_commands])}"] if self.commands else []),
            *(f"Decision, {decision}" for decision in self.decisions[:max_lines]),
            *([f"Touched: {', '.join(self.symbols[:max_lines])}"] if self.symbols else []),
            *([f"Files: {', '.join(self.files[:max_lines])}"] if self.files else []),
        ]

    def _with_invocation(self, turn: int, invocation: InvocationReceived) -> "Summary":
        path, text = _one_line(invocation.path), _one_line(invocation.text)
        files = tuple(dict.fromkeys([*([path] if path else []), *self.files]))[:MAX_ITEMS]
        places = ((turn, path), *self.places)[:MAX_ITEMS]
        summary = replace(self, files=files, places=places, turns=self.turns + 1)
        if _one_line(invocation.kind) not in REQUEST_KINDS:
            # a check by itself, or a question, is not a goal of the user
            return summary
        # a user who makes another request for a file did not apply the last proposal for it
        decisions = (
            replace(decision, outcome="rejected")
            if (decision.path, decision.outcome) == (path, "proposed")
            else decision
            for decision in self.decisions
        )
        return replace(summary, goal=text, decisions=(RequestSummary(turn, path, text), *decisions)[:MAX_ITEMS])

    def _with_outcome(self, turn: int, outcome: str, changed: str = "") -> "Summary":
        decisions = tuple(
            replace(decision, outcome=outcome, changed=changed or decision.changed)
            if decision.turn == turn
            else decision
            for decision in self.decisions
        )
        if outcome != "applied":
            return replace(self, decisions=decisions)
        path = self._find_path(turn)
        # an applied edit was verified, so the findings in its file are gone
        findings = tuple(item for item in self.open if item[0] != path)
        changed_names = [
            match[1]
            for decision in decisions
            if decision.turn == turn and (match := CHANGED_DECLARATION.search(decision.changed))
        ]
        symbols = tuple(dict.fromkeys([*changed_names, *self.symbols]))[:MAX_ITEMS]
        return replace(self, decisions=decisions, open=findings, symbols=symbols)

    def _with_command(self, command: str) -> "Summary":
        """Return the summary after a command. A repeated command with the same result is listed once."""
        commands = tuple(dict.fromkeys([*([command] if command else []), *self.commands]))[:MAX_ITEMS]
        return replace(self, commands=commands)

    def _with_checks(self, turn: int, checks: ChecksCompleted) -> "Summary":
        path = self._find_path(turn)
        results = ", ".join(
            f"{report.check} {report.status}" for report in checks.outcomes if report.status != "skipped"
        )
        findings = [(path, _one_line(line)) for report in checks.outcomes for line in report.lines]
        summary = self._with_command(f"{results} ({path})" if path and results else results)
        other_findings = (item for item in self.open if item[0] != path)
        return replace(summary, open=(*dict.fromkeys(findings), *other_findings)[:MAX_ITEMS])

    def _find_path(self, turn: int) -> str:
        # a proposal may be applied many turns later, when `places` has forgotten its turn
        paths = {decision.turn: decision.path for decision in self.decisions} | dict(self.places)
        return paths.get(turn, "")


def summarize(events: Iterable[Event]) -> Summary:
    """Return the summary of a session's events, which are in their order."""
    summary = Summary()
    for event in events:
        summary = summary.with_event(event)
    return summary


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _shorten(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARS else f"{line[: MAX_LINE_CHARS - 1]}…"


def _describe_diff(diff: str) -> str:
    """Return a text such as `+3 -1 in def area(r):`, with the last declaration at or before the first change."""
    if not diff:
        return ""
    lines = [line for part in read_diff(diff) for line in part.lines]
    first = next((number for number, line in enumerate(lines) if line[:1] in ("+", "-")), -1)
    added, removed = (sum(line.startswith(mark) for line in lines) for mark in "+-")
    declarations = [match[1] for line in lines[: first + 1] if (match := DECLARATION_LINE.match(line))]
    return f"+{added} -{removed}" + (f" in {declarations[-1]}" if declarations else "")
