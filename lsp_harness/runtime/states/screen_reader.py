"""The reader of an agent's screen: which state the title and the rows show, and what a dialog asks."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from lsp_harness.runtime.agent_state import StateClaim
from lsp_harness.runtime.states.dialog_reader import Dialog, read_dialog
from lsp_harness.runtime.states.screen_rules import (
    GENERAL_RULES,
    Composer,
    Condition,
    ScreenRule,
    ScreenView,
    find_composer,
    find_unsent_text,
    join_rows,
    last_rows,
    load_rules,
    rows_below_rule,
    strip_borders,
    text_before_cursor,
)

BOTTOM_ROWS = 12


@dataclass(frozen=True, slots=True)
class ScreenReading:
    """The result of one look at a screen.

    Attributes:
        looks: The text of the screen and the title.
        screen: What the screen says. None: no rule knows it, which is no evidence of anything.
        title: What the title says.
        dialog: The dialog that waits for a choice.
        rule: The rule that decided about the screen. It names the options that allow and deny.
        unsent_text: The text in the composer that the user has typed and not sent.
    """

    looks: tuple[str, str]
    screen: StateClaim | None = None
    title: StateClaim | None = None
    dialog: Dialog | None = None
    rule: ScreenRule | None = None
    unsent_text: str = ""

    @property
    def claims(self) -> tuple[StateClaim | None, StateClaim | None]:
        """Return the claims of the screen and of the title."""
        return self.screen, self.title

    @property
    def shows_work(self) -> bool:
        """Return whether the agent works, or asks something, which it does only at work."""
        return any(claim is not None and claim.activity in ("working", "blocked") for claim in self.claims)

    @property
    def looks_idle(self) -> bool:
        """Return whether the screen says that the agent waits for a message."""
        return self.screen is not None and self.screen.activity in ("idle", "done")


@dataclass(frozen=True, slots=True)
class _Look:
    """A screen at one moment, divided into its parts."""

    view: ScreenView
    rows: Sequence[str]
    composer: Composer | None
    dialog: Dialog | None
    quiet_s: float

    def read(self, condition: Condition) -> str:
        """Return the text that a condition is about."""
        count = condition.rows or len(self.rows)
        match condition.region:
            case "title":
                return self.view.title
            case "bottom":
                return join_rows(last_rows(self.rows, condition.rows or BOTTOM_ROWS))
            case "above_composer":
                return join_rows(last_rows(self.rows[: self._composer_top()], count))
            case "composer":
                return join_rows(self.rows[self.composer.first : self.composer.end] if self.composer else ())
            case "footer":
                below = self.rows[self.composer.end :] if self.composer else ()
                return join_rows([row for row in below if strip_borders(row)][:count])
            case "below_rule":
                return join_rows(rows_below_rule(self.rows))
            case "body":
                return self.dialog.body if self.dialog else ""
            case "options":
                return "\n".join(self.dialog.options) if self.dialog else ""
            case "before_cursor":
                return text_before_cursor(self.view)
        return assert_never(condition.region)

    def _composer_top(self) -> int:
        if self.composer is None:
            return 0
        # the upper edge of its box is no content
        edge = self.composer.first - 1
        return edge if edge >= 0 and not re.search(r"\w", self.rows[edge]) else self.composer.first


class ScreenReader:
    """The reader of the screens of one agent.

    Rules of a version that was not recorded say `unknown`. Only the general rules hold for all versions: a dialog that
    nobody knows is a dialog.

    Args:
        agent: The kind of agent, whose rules are in `rules/<agent>.toml`.
        version: The version of its program.
        clock: Returns the time in seconds since the epoch.
    """

    def __init__(self, agent: str, version: str = "", clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._set = load_rules(agent)
        self._is_recorded = self._set.knows(version)
        self._version = version
        self._general = load_rules(GENERAL_RULES).rules
        self._looks: tuple[str, str] | None = None
        self._changed_at = clock()
        self._idle_rule: ScreenRule | None = None
        self._tried: list[dict[str, Any]] = []

    @property
    def is_recorded(self) -> bool:
        """The rules were recorded on this version."""
        return self._is_recorded

    @property
    def shows_work(self) -> bool:
        """Return whether a rule knows a screen or a title of an agent that works."""
        return self._is_recorded and any(rule.activity == "working" for rule in self._set.rules)

    def forget(self) -> None:
        """Note that a message was sent: a screen that still looks idle must settle first."""
        self._idle_rule = None
        self._changed_at = self._clock()

    def read(self, screen: ScreenView, find_login_url: Callable[[], str] = str) -> ScreenReading:
        """Read a screen. Read it a moment after the last output, when the agent has drawn it whole.

        Args:
            screen: The screen.
            find_login_url: Returns the address of a login that the agent shows. It is called if it waits for a login.
        """
        rows = screen.rows()
        looks = ("\n".join(row.rstrip() for row in rows).rstrip(), screen.title)
        now = self._clock()
        if looks != self._looks:
            self._looks = looks
            self._changed_at = now
        composer = find_composer(rows, self._set.composer)
        dialog = None if composer else read_dialog(rows, self._set.row_of_options, screen.backgrounds)
        look = _Look(screen, rows, composer, dialog, now - self._changed_at)
        self._tried = []
        title = self._find(look, self._title_rules())
        rule = self._find(look, self._screen_rules())
        self._idle_rule = rule if rule and rule.activity == "idle" else None
        claim = _make_claim(rule, dialog, find_login_url) if rule else None
        if claim is None and not self._is_recorded:
            detail = (
                f"the rules were recorded on {' to '.join(self._set.recorded_on)}, this is {self._version or 'none'}"
            )
            claim = StateClaim("screen", "unknown", f"{self._set.agent}/version", message=detail)
            self._tried.append({"source": "screen", "rule": claim.rule, "matched": True, "detail": detail})
        unsent = ""
        if composer and self._set.composer and self._is_recorded:
            unsent = find_unsent_text(screen, composer, self._set.composer)
        title_claim = StateClaim("title", title.activity, title.name, title.kind) if title else None
        return ScreenReading(looks, claim, title_claim, dialog, rule, unsent)

    def explain(self) -> list[dict[str, Any]]:
        """Return the rules that the last reading tried, each with the reason why it did not match."""
        return list(self._tried)

    def _title_rules(self) -> Iterator[ScreenRule]:
        if self._is_recorded:
            yield from (rule for rule in self._set.rules if rule.source == "title")

    def _screen_rules(self) -> list[ScreenRule]:
        own = [rule for rule in self._set.rules if rule.source == "screen"] if self._is_recorded else []
        return sorted([*own, *self._general], key=lambda rule: -rule.priority)

    def _find(self, look: _Look, rules: "Iterator[ScreenRule] | list[ScreenRule]") -> ScreenRule | None:
        for rule in rules:
            fault = self._find_fault(look, rule)
            self._tried.append({"source": rule.source, "rule": rule.name, "matched": not fault, "detail": fault})
            if not fault:
                return rule
        return None

    def _find_fault(self, look: _Look, rule: ScreenRule) -> str:
        if rule.composer is not None and rule.composer != (look.composer is not None):
            return "there is a composer" if look.composer else "there is no composer"
        for condition in rule.conditions:
            if fault := condition.find_fault(look.read(condition)):
                return fault
        if look.quiet_s < rule.settle_s and rule is not self._idle_rule:
            return f"the screen changed {look.quiet_s:.1f} s ago"
        return ""


def _make_claim(rule: ScreenRule, dialog: Dialog | None, find_login_url: Callable[[], str]) -> StateClaim:
    message = dialog.question if dialog and rule.activity == "blocked" else ""
    url = find_login_url() if rule.kind == "auth" else ""
    return StateClaim("screen", rule.activity, rule.name, rule.kind, message, url)
