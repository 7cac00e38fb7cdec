"""What a session has come to, in a few lines: a fold over its events. The harness keeps it; no model is asked."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from lsp_harness.context.fragment import TokenCounter
from lsp_harness.wire.event import Event

BUDGET = 200
"""Tokens of it as a text, for people and prompts."""
KEPT = 5
"""Of each kind of thing, the last ones."""
WIDTH = 120
COMMANDS = 3
"""Of the last ones, as they are told in one line."""
REMEMBERED = 64
"""Of each kind of thing, at most, however long a session goes on; turns can be read for as long."""
WORK = frozenset({"fix", "edit", "docstring", "tests"})
"""Kinds of turns that somebody asked for."""
NAMED = re.compile(
    r"^[ +-]\s*((?:async |export |pub |static )*(?:def|class|fn|func|function|struct|interface|enum|trait|type)\b.*)"
)
TOUCHED = re.compile(
    r" in .*\b(?:def|class|fn|func|function|struct|interface|enum|trait|type)\s+(?:\([^)]*\)\s*)?([\w$]+)"
)


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of a proposed edit of `path`: `proposed`, `applied`, `stale`, `rejected` where the user went on to ask for
    something else there, or `failed` where there was none to propose."""

    turn: int
    path: str
    text: str
    outcome: str = "failed"
    changed: str = ""
    """Lines added and taken away, and where, as far as the diff tells."""

    def __str__(self) -> str:
        return f"{self.outcome}: {self.text} ({self.path}{self.changed and ', '}{self.changed})"


@dataclass(frozen=True, slots=True)
class Summary:
    """All of it the last first. `goal` is what was asked for last, `open` what checks say and nothing has mended since, by path,
    `commands` what tests, linters and other checks were run and how they ended, `symbols` what edits that were taken have touched,
    `places` the file that each of the last turns is about."""

    goal: str = ""
    turns: int = 0
    files: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    open: tuple[tuple[str, str], ...] = ()
    commands: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    places: tuple[tuple[int, str], ...] = ()

    @property
    def lines(self) -> list[str]:
        """In the order of what they are worth."""
        return self._lines(KEPT, COMMANDS)

    @property
    def all(self) -> list[str]:
        """The same of everything that is remembered."""
        return self._lines(REMEMBERED, REMEMBERED)

    def about(self, path: str, hidden: Callable[[str], object] = lambda path: False) -> list[str]:
        """What whoever is to change a file may need to know: what is open, there first, and what was decided there; short lines. Nothing
        of files that are `hidden`."""
        here = sorted((one for one in self.open if not hidden(one[0])), key=lambda one: one[0] != path)
        decided = [one for one in self.decisions if one.path == path]
        return [
            *(_short(f"Open in {where}: {said}") for where, said in here[:KEPT]),
            *(_short(f"Decision, {one}") for one in decided[:KEPT]),
        ]

    async def text(self, budget: int, count: TokenCounter) -> str:
        """Whole lines within so many tokens; what does not fit is left out."""
        kept = list[str]()
        lines = [_short(line) for line in self.lines]
        for line, cost in zip(lines, await count([f"{line}\n" for line in lines]), strict=True):
            if cost <= budget:
                budget -= cost
                kept.append(f"{line}\n")
        return "".join(kept)

    def _lines(self, most: int, commands: int) -> list[str]:
        return [
            *([f"Goal: {self.goal}"] if self.goal else []),
            *(f"Open in {path}: {said}" for path, said in self.open[:most]),
            *([f"Ran {'; '.join(self.commands[:commands])}"] if self.commands else []),
            *(f"Decision, {decision}" for decision in self.decisions[:most]),
            *([f"Touched: {', '.join(self.symbols[:most])}"] if self.symbols else []),
            *([f"Files: {', '.join(self.files[:most])}"] if self.files else []),
        ]

    def after(self, event: Event) -> "Summary":
        """With one more event."""
        data, turn = event.data, event.turn if event.turn is not None else -1
        match event.type:
            case "invocation.received":
                return self._asked(turn, data)
            case "edit.proposed":
                return self._decided(turn, "proposed", _changed(str(data.get("diff", ""))))
            case "edit.applied":
                return self._decided(turn, "applied")
            case "edit.stale":
                return self._decided(turn, "stale")
            case "output.read":
                return self._ran(" ".join(str(data.get("summary", "")).split()))
            case "verify.completed":
                return self._verified(turn, data)
            case _:
                return self

    def _asked(self, turn: int, data: dict[str, Any]) -> "Summary":
        path, text, kind = (" ".join(str(data.get(name, "")).split()) for name in ("path", "text", "kind"))
        files = tuple(dict.fromkeys([*([path] if path else []), *self.files]))[:REMEMBERED]
        places = ((turn, path), *self.places)[:REMEMBERED]
        known = replace(self, files=files, places=places, turns=self.turns + 1)
        if kind not in WORK:
            # what a check finds by itself, or somebody wants to know, is nobody's goal
            return known
        # who asks again about a file has not taken what was proposed for it
        decisions = (
            replace(one, outcome="rejected") if (one.path, one.outcome) == (path, "proposed") else one
            for one in self.decisions
        )
        return replace(known, goal=text, decisions=(Decision(turn, path, text), *decisions)[:REMEMBERED])

    def _decided(self, turn: int, outcome: str, changed: str = "") -> "Summary":
        decisions = tuple(
            replace(one, outcome=outcome, changed=changed or one.changed) if one.turn == turn else one
            for one in self.decisions
        )
        if outcome != "applied":
            return replace(self, decisions=decisions)
        path = self._path(turn)
        # what is applied was verified: what was open there is no more
        open = tuple(one for one in self.open if one[0] != path)
        touched = [found[1] for one in decisions if one.turn == turn and (found := TOUCHED.search(one.changed))]
        symbols = tuple(dict.fromkeys([*touched, *self.symbols]))[:REMEMBERED]
        return replace(self, decisions=decisions, open=open, symbols=symbols)

    def _ran(self, what: str) -> "Summary":
        """The same once more is the same command."""
        return replace(self, commands=tuple(dict.fromkeys([*([what] if what else []), *self.commands]))[:REMEMBERED])

    def _verified(self, turn: int, data: dict[str, Any]) -> "Summary":
        """Of a text as it is; candidates are nobody's text yet."""
        if "candidate" in data:
            return self
        path = self._path(turn)
        outcomes: list[dict[str, Any]] = data.get("outcomes") or []
        checks = ", ".join(
            f"{outcome.get('check')} {outcome.get('status')}"
            for outcome in outcomes
            if outcome.get("status") != "skipped"
        )
        said = [(path, " ".join(str(line).split())) for outcome in outcomes for line in outcome.get("said") or ()]
        known = self._ran(f"{checks} ({path})" if path and checks else checks)
        others = (one for one in self.open if one[0] != path)
        return replace(known, open=(*dict.fromkeys(said), *others)[:REMEMBERED])

    def _path(self, turn: int) -> str:
        # of a proposal that is taken late the turn may be long ago
        paths = {one.turn: one.path for one in self.decisions} | dict(self.places)
        return paths.get(turn, "")


def summary(events: Iterable[Event]) -> Summary:
    """Of a session's events, in their order."""
    found = Summary()
    for event in events:
        found = found.after(event)
    return found


def _short(line: str) -> str:
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"


def _changed(diff: str) -> str:
    """`+3 -1 in def area(r):`, the declaration being the last at or before the first change that the diff shows."""
    lines = [line for line in diff.split("\n") if not line.startswith(("+++", "---", "@@"))]
    first = next((n for n, line in enumerate(lines) if line[:1] in ("+", "-")), -1)
    added, gone = (sum(line.startswith(mark) for line in lines) for mark in "+-")
    named = [found[1] for line in lines[: first + 1] if (found := NAMED.match(line))]
    return f"+{added} -{gone}" + (f" in {named[-1]}" if named else "") if diff else ""
