"""Adapters that the user describes in the settings: a command, and the signs of its states on the screen."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from lsp_harness.config.runtime_schema import AgentSetting
from lsp_harness.runtime.adapter import Launch, LaunchOrder
from lsp_harness.runtime.adapters.terminal_adapter import TerminalAdapter
from lsp_harness.runtime.agent_errors import InvalidSpec
from lsp_harness.runtime.agent_spec import AgentSpec, TransportName
from lsp_harness.runtime.agent_state import Activity, StateClaim
from lsp_harness.runtime.connection import AgentQuestion, Connection, Observer, QuestionAnswer
from lsp_harness.runtime.pty_traits import CONTROL_KEYS, CTRL_D, ESCAPE, KEYS, PtyTraits, TerminalReader, choose_answer
from lsp_harness.runtime.screen_answer import is_frame
from lsp_harness.runtime.states.dialog_reader import read_dialog
from lsp_harness.runtime.states.screen_reader import ScreenReader, ScreenReading
from lsp_harness.runtime.states.screen_rules import GENERAL_RULES, ScreenView

LIVE_ROWS = 8
"""The last rows that are not empty. Only these show the state; above them is what the agent has said."""
SETTLE_S = 1.0
NAMED_KEYS = ("enter", "escape", "tab", "space", "up", "down", "right", "left", "backspace")
"""The names that the settings know. Every other one is a text."""
KEY_BYTES = {**{name: KEYS[name] for name in NAMED_KEYS}, "esc": KEYS["escape"]}
"""Name of a key → what it sends."""


def read_keys(names: tuple[str, ...]) -> tuple[bytes, ...]:
    """Return the bytes of keys: `enter`, `ctrl-c`, or a text that is typed as it is."""
    return tuple(_read_key(name) for name in names)


def _read_key(name: str) -> bytes:
    small = name.casefold()
    if small in KEY_BYTES:
        return KEY_BYTES[small]
    if match := re.fullmatch(r"ctrl-([a-z])", small):
        return CONTROL_KEYS[match.group(1)]
    return name.encode()


class SignReader:
    """The reader of a screen by the signs of the settings.

    Args:
        signs: State and its pattern, the stronger state first.
        clock: Returns the time in seconds.
    """

    def __init__(
        self, signs: Sequence[tuple[Activity, re.Pattern[str]]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._signs, self._clock = signs, clock
        # a dialog that no sign knows is a dialog all the same
        self._general = ScreenReader(GENERAL_RULES)
        self._tried = list[dict[str, Any]]()
        self._looks, self._changed_at = ("", ""), clock()

    @property
    def shows_work(self) -> bool:
        """Return whether the settings have a sign of work."""
        return any(activity == "working" for activity, _ in self._signs)

    def read(self, screen: ScreenView, find_login_url: Callable[[], str] = str) -> ScreenReading:
        """Read the last rows. They only say `idle` when they have not changed for a second."""
        rows, now = screen.rows(), self._clock()
        looks = ("\n".join(rows), screen.title)
        if looks != self._looks:
            self._looks, self._changed_at = looks, now
        live = [row for row in rows if row.strip()][-LIVE_ROWS:]
        found: StateClaim | None = None
        self._tried.clear()
        for activity, pattern in self._signs:
            match = next((match for row in live if (match := pattern.search(row))), None)
            rule, detail = f"custom/{activity}", match.group()[:80] if match else f"no match of {pattern.pattern!r}"
            if match and activity == "idle" and now - self._changed_at < SETTLE_S:
                match, detail = None, f"the screen changed {now - self._changed_at:.1f} s ago"
            self._tried.append({"source": "screen", "rule": rule, "matched": match is not None, "detail": detail})
            if match and found is None:
                found = StateClaim("screen", activity, rule, "permission" if activity == "blocked" else "")
        if found is None or found.activity != "blocked":
            general = self._general.read(screen, find_login_url)
            is_dialog = general.screen is not None and general.screen.activity == "blocked"
            return general if is_dialog else ScreenReading(looks, found)
        dialog = read_dialog(rows)
        text = dialog.body if dialog else "\n".join(row.strip() for row in live)
        return ScreenReading(looks, replace(found, message=text), None, dialog)

    def forget(self) -> None:
        """Treat the screen as just changed, so that its state counts only when it is unchanged for a while."""
        self._changed_at = self._clock()

    def explain(self) -> list[dict[str, Any]]:
        """Return the signs that were looked for last."""
        return list(self._tried)


class CustomAgent(TerminalAdapter):
    """An agent of the settings.

    Args:
        setting: Its table in the settings.
    """

    def __init__(self, setting: AgentSetting) -> None:
        self._setting = setting
        self.name, self.program = setting.name, setting.command
        if setting.transport not in ("pty", "acp"):
            raise InvalidSpec(f"runtime.agents.{setting.name}.transport must be pty or acp, not {setting.transport!r}")
        self.transports: tuple[TransportName, ...] = ("acp",) if setting.transport == "acp" else ("pty",)
        self._signs = _compile(setting)

    def build_launch(self, spec: AgentSpec, transport: TransportName) -> Launch:
        """Return the command of the settings with the arguments of the agent."""
        setting, env = self._setting, dict[str, str]()
        for entry in setting.env:
            name, separator, value = entry.partition("=")
            if not separator or not name:
                raise InvalidSpec(f"runtime.agents.{self.name}.env has {entry!r}, which is not NAME=value")
            env[name] = value
        return Launch((setting.command, *setting.args, *spec.args), env)

    def connect(self, order: LaunchOrder, observe: Observer) -> Connection:
        """Return a connection through a terminal, or by the Agent Client Protocol."""
        if order.transport == "acp":
            from lsp_harness.runtime.structured.acp_connection import AcpConnection

            return AcpConnection(order, observe, f"log in with {self.program}")
        return super().connect(order, observe)

    def make_traits(self) -> PtyTraits:
        """Return the keys and the signs of the settings."""
        setting = self._setting
        allow, deny = read_keys(setting.allow_keys), read_keys(setting.deny_keys)

        def answer_keys(question: AgentQuestion, reading: ScreenReading, answer: QuestionAnswer) -> Sequence[bytes]:
            if question.kind in ("permission", "trust") and (keys := allow if answer.is_allowed else deny):
                return keys
            return choose_answer(question, reading, answer)

        return PtyTraits(
            create_reader=self._create_reader,
            answer_keys=answer_keys,
            exit_keys=read_keys(setting.exit_keys) or (CTRL_D,),
            interrupt_keys=b"".join(read_keys(setting.interrupt_keys)) or ESCAPE,
            has_paste=setting.bracketed_paste,
            is_box=is_frame,
            prompt_rows=setting.prompt_rows,
        )

    def _create_reader(self) -> TerminalReader:
        # without signs, there are those that all agents have
        return SignReader(self._signs) if self._signs else ScreenReader(GENERAL_RULES)


def _compile(setting: AgentSetting) -> list[tuple[Activity, re.Pattern[str]]]:
    signs: list[tuple[Activity, str, str]] = [
        ("blocked", "blocked_pattern", setting.blocked_pattern),
        ("working", "busy_pattern", setting.busy_pattern),
        ("idle", "ready_pattern", setting.ready_pattern),
    ]
    patterns = list[tuple[Activity, re.Pattern[str]]]()
    for activity, key, text in signs:
        if not text:
            continue
        try:
            patterns.append((activity, re.compile(text)))
        except re.error as error:
            raise InvalidSpec(f"runtime.agents.{setting.name}.{key} is no regular expression: {error}") from error
    return patterns
