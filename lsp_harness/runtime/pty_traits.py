"""Facts that a connection through a terminal needs about one kind of agent: its keys and a reader of its screen."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lsp_harness.runtime.connection import AgentQuestion, QuestionAnswer
from lsp_harness.runtime.states.screen_reader import ScreenReading
from lsp_harness.runtime.states.screen_rules import ScreenView

KEYS: Mapping[str, bytes] = {
    "enter": b"\r",
    "escape": b"\x1b",
    "tab": b"\t",
    "backtab": b"\x1b[Z",
    "backspace": b"\x7f",
    "space": b" ",
    "up": b"\x1b[A",
    "down": b"\x1b[B",
    "right": b"\x1b[C",
    "left": b"\x1b[D",
    "home": b"\x1b[H",
    "end": b"\x1b[F",
    "pageup": b"\x1b[5~",
    "pagedown": b"\x1b[6~",
    "delete": b"\x1b[3~",
}
"""Name of a key → what a terminal sends for it."""
CONTROL_KEYS: Mapping[str, bytes] = {letter: bytes([ord(letter) - 96]) for letter in "abcdefghijklmnopqrstuvwxyz"}
"""Letter → what a terminal sends for it together with Ctrl."""


CTRL_C, CTRL_D, ESCAPE, ENTER = CONTROL_KEYS["c"], CONTROL_KEYS["d"], KEYS["escape"], KEYS["enter"]
UP, DOWN, LEFT, RIGHT = KEYS["up"], KEYS["down"], KEYS["left"], KEYS["right"]
ALLOW_LABEL = re.compile(r"(?i)^(yes|allow|approve|proceed|trust)\b")
DENY_LABEL = re.compile(r"(?i)^(no|deny|reject|cancel|don't)\b")
"""The labels of options that allow and deny, where no rule names them."""


class TerminalReader(Protocol):
    """The reader of the title and the screen of one agent. It has a memory, so each agent has its own."""

    @property
    def shows_work(self) -> bool:
        """Return whether a screen of this agent can show that it works."""
        ...

    def read(self, screen: ScreenView, find_login_url: Callable[[], str] = str) -> ScreenReading:
        """Read a screen."""
        ...

    def forget(self) -> None:
        """Note that a message was sent: a screen that still looks idle is no evidence."""
        ...

    def explain(self) -> list[dict[str, Any]]:
        """Return the rules that the last reading tried."""
        ...


class BlindReader:
    """The reader for an agent whose own reports say everything. It only sees whether the screen changes."""

    shows_work = False

    def read(self, screen: ScreenView, find_login_url: Callable[[], str] = str) -> ScreenReading:
        """Return the text of the screen and no claim."""
        return ScreenReading(("\n".join(screen.rows()), screen.title))

    def forget(self) -> None:
        """Do nothing, because this reader keeps no state of the screen."""

    def explain(self) -> list[dict[str, Any]]:
        """Return no rules, because this reader has none."""
        return []


AnswerKeys = Callable[[AgentQuestion, ScreenReading, QuestionAnswer], Sequence[bytes]]
"""A function that returns the keys that answer a question on the screen, each to be pressed alone, or nothing if the
answer cannot be given by keys."""


def choose_answer(question: AgentQuestion, reading: ScreenReading, answer: QuestionAnswer) -> Sequence[bytes]:
    """Return the keys that move the cursor of a dialog to the wanted option and confirm it.

    Numbers and defaults of options change between versions, so only their labels count. Without a wanted option a
    denial is Escape, and nothing is allowed.
    """
    if question.kind == "question" and answer.is_allowed:
        return (answer.text.replace("\n", " ").encode(), ENTER) if answer.text else ()
    dialog, rule = reading.dialog, reading.rule
    if rule and (rule.allow or rule.deny):
        label = rule.allow if answer.is_allowed else rule.deny
    else:
        label = ALLOW_LABEL if answer.is_allowed else DENY_LABEL
    wanted = dialog.find(label) if dialog and label else -1
    if dialog is None or wanted < 0 or dialog.selected < 0:
        return () if answer.is_allowed else (ESCAPE,)
    steps = dialog.steps_to(wanted)
    back, forward = (LEFT, RIGHT) if dialog.is_row else (UP, DOWN)
    return (*([forward if steps > 0 else back] * abs(steps)), ENTER)


@dataclass(frozen=True, slots=True)
class PtyTraits:
    """The behaviour of one kind of agent in a terminal.

    Attributes:
        create_reader: Creates the reader of the screen of one agent.
        answer_keys: Finds the keys for an answer.
        exit_keys: Keys that end an agent that is ready, each pressed alone. They may need to be pressed twice.
        interrupt_keys: Keys that stop the work on a message.
        has_paste: Whether a message of several lines is pasted as one. Otherwise its lines are typed one by one.
        is_box: Whether a row of the screen belongs to the prompt or the frame and not to an answer.
        prompt_rows: The number of rows at the end that are always the prompt of an agent that is ready.
    """

    create_reader: Callable[[], TerminalReader] = BlindReader
    answer_keys: AnswerKeys = choose_answer
    exit_keys: tuple[bytes, ...] = (CTRL_D,)
    interrupt_keys: bytes = ESCAPE
    has_paste: bool = True
    is_box: Callable[[str], bool] = lambda row: False
    prompt_rows: int = 0
