"""The connection to an agent in a terminal: it types messages, and reads states and questions from the screen."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from lsp_harness.runtime.adapter import LaunchOrder
from lsp_harness.runtime.agent_errors import AgentBlocked, AgentNotReady
from lsp_harness.runtime.agent_state import StateClaim
from lsp_harness.runtime.connection import (
    AgentEnded,
    AgentQuestion,
    ClaimWithdrawn,
    Connection,
    Observer,
    QuestionAnswer,
    QuestionWithdrawn,
    ScreenRead,
    StateClaimed,
)
from lsp_harness.runtime.pty_traits import CTRL_C, ENTER, ESCAPE, PtyTraits
from lsp_harness.runtime.screen_answer import ANSWER_LINES, ScreenBefore, find_answer, find_box, has_end_of
from lsp_harness.runtime.states.screen_reader import ScreenReader, ScreenReading
from lsp_harness.runtime.states.state_ladder import claim_of_reports
from lsp_harness.runtime.terminal.terminal import Terminal
from lsp_harness.runtime.terminal.terminal_signals import (
    ScreenChanged,
    StatusReported,
    TerminalEnded,
    TerminalSignal,
    TitleChanged,
)

DIALOG_WAIT_S = 2.0
"""Time for a question to appear on the screen after the agent reported that it is blocked. A question without its text
tells the gate nothing."""
ReadVersion = Callable[[], Awaitable[str]]
"""Returns the version of an installed program, or an empty text."""


class ShownQuestion:
    """The question that the screen of one agent shows, from its reports and its dialogs.

    Args:
        observe: Receives the questions.
        find_login_url: Returns the address of a login on the screen, or an empty text.
    """

    def __init__(self, observe: Observer, find_login_url: Callable[[], str]) -> None:
        self._observe, self._find_login_url = observe, find_login_url
        self._count = 0
        self._blocked_since: float | None = None
        self.question: AgentQuestion | None = None
        """The present question."""

    def update(self, reported: StateClaim | None, reading: ScreenReading, now: float) -> bool:
        """Ask the question that the agent shows now, and withdraw the one that it does not show any more.

        Args:
            reported: What the agent reports about its state.
            reading: What the screen shows.
            now: The time in seconds.

        Returns:
            Whether everything is known. Otherwise the agent reported a question that the screen does not show yet.
        """
        shown = if_blocked(reading.screen) or if_blocked(reading.title)
        blocked, dialog = if_blocked(reported) or shown, reading.dialog
        if blocked is None:
            self._blocked_since = None
            self.withdraw()
            return True
        if self._blocked_since is None:
            self._blocked_since = now
        # a title tells of a question before the screen has it
        if if_blocked(reading.screen) is None and dialog is None and now - self._blocked_since < DIALOG_WAIT_S:
            return False
        kind = (shown.kind if shown and blocked.kind in ("", "dialog") else blocked.kind) or "dialog"
        text = blocked.message or (shown.message if shown else "") or (dialog.body if dialog else "")
        if self.question and (self.question.kind, self.question.text) == (kind, text):
            return True
        self.withdraw()
        self._count += 1
        self.question = AgentQuestion(
            id=f"q{self._count}",
            kind=kind,
            text=text,
            input={"text": dialog.body} if dialog else {},
            options=dialog.options if dialog else (),
            url=((shown.url if shown else "") or self._find_login_url()) if kind == "auth" else "",
            delivery="keys",
        )
        self._observe(self.question)
        return True

    def withdraw(self) -> None:
        """Forget the question that the screen showed, and report that it was withdrawn."""
        if question := self.question:
            self.question = None
            self._observe(QuestionWithdrawn(question.id))


def if_blocked(claim: StateClaim | None) -> StateClaim | None:
    """Return a claim if it says that the agent waits for an answer."""
    return claim if claim and claim.activity == "blocked" else None


SIGN_WAIT_S = 15.0
"""Time for the first sign of work after Enter. After it, a screen that looks idle counts: the work may have been too
short to be seen."""


class WorkSigns:
    """The signs of work since the last message.

    Right after Enter the screen of an agent looks as idle as before, on a busy machine for seconds. It is no evidence
    of an answer before the agent was seen at work.

    Args:
        is_visible: Whether the screen of this agent shows that it works.
    """

    def __init__(self, *, is_visible: bool) -> None:
        self._is_visible = is_visible
        self._sent_at: float | None = None
        self.has_come = False
        """Whether a sign has come since the last message."""

    def expect(self, message: str, now: float) -> None:
        """Note that Enter is pressed now, which sends a message.

        Args:
            message: The message. A command of the agent, such as `/status`, is often done without any sign of work.
            now: The time in seconds.
        """
        self._sent_at, self.has_come = None if message.startswith("/") else now, False

    def note(self) -> None:
        """Take a sign: a report, or a screen of an agent that works or asks."""
        self.has_come = True

    def is_awaited(self, now: float) -> bool:
        """Return whether a screen that looks idle must still be distrusted."""
        if self._sent_at is None or self.has_come or not self._is_visible:
            return False
        return now - self._sent_at < SIGN_WAIT_S


LOOK_S = 0.05
"""Time between two looks at a screen that changes."""
SETTLE_LOOK_S = 0.25
SETTLE_S = 3.0
"""Time between the looks at a screen that does not change any more, and how long they go on."""
ECHO_WAIT_S = 2.0
"""Time for a typed text to appear. An agent that shows nothing gets the Enter key all the same."""
ENTER_WAIT_S = 2.0
ENTER_TRIES = 3
"""How often Enter is pressed until the agent takes the message, or shows the effect of an answer, and how long to wait
for it each time."""
KEY_PAUSE_S = 0.05
"""Time between two lines that are typed alone."""
KEY_WAIT_S = 0.5
"""Time for a key of an answer to be shown. Dialogs lose keys that arrive together: gemini takes an Enter within 0.03 s
after another key for a part of a pasted text."""
EXIT_KEY_WAIT_S = 0.7
"""Time for an agent to end after a key that ends it."""
QUIET_S, QUIET_TRIES = 0.1, 5
"""Time without a change after which a screen is drawn, and how often it is waited for."""
PASTE_BEGIN, PASTE_END = b"\x1b[200~", b"\x1b[201~"


class PtyConnection(Connection):
    """The connection to an agent in a terminal.

    Args:
        order: The order to start it.
        traits: The keys and the screens of its kind.
        observe: Receives the observations.
        read_version: Returns the version of the installed program, by which the rules for its screens are chosen. None
            if the screens are those of `traits`.
    """

    def __init__(
        self, order: LaunchOrder, traits: PtyTraits, observe: Observer, read_version: ReadVersion | None = None
    ) -> None:
        super().__init__(observe)
        self._order, self._traits, self._read_version = order, traits, read_version
        self._reader = traits.create_reader()
        self._reading = ScreenReading(("", ""))
        self._reported: StateClaim | None = None
        self._looking: asyncio.TimerHandle | None = None
        self._changed_at = 0.0
        self._asked = ShownQuestion(observe, lambda: self._require_terminal().find_login_url())
        self._is_submitting = False
        self._work = WorkSigns(is_visible=self._reader.shows_work)
        self._before = ScreenBefore()
        self._message = ""
        self._changed = asyncio.Event()
        self._ended = asyncio.Event()

    async def start(self) -> None:
        """Start the program in its terminal."""
        spec = self._order.spec
        if self._read_version:
            self._reader = ScreenReader(spec.type, await self._read_version())
        self.terminal = await Terminal.start(
            self._order.build_command(self._order.argv, has_terminal=True),
            cwd=spec.workdir,
            env=self._order.env,
            columns=spec.columns,
            rows=spec.rows,
            log_file=self._order.folder / "terminal.log",
            mark=self._order.agent_id,
        )
        self.terminal.listeners.append(self.take_signal)

    # -- messages
    async def submit(self, message: str) -> bool:
        """Type a message, press Enter, and see that the agent takes it."""
        terminal = self._require_terminal()
        await self._wait_for_quiet()
        box = find_box(terminal.screen.rows(), terminal.screen.cursor[0])
        self._before, self._message = ScreenBefore(terminal.read_lines(ANSWER_LINES), box), message
        self._is_submitting = True
        try:
            await self._type(message)
            return await self._press_enter(message)
        finally:
            self._is_submitting = False
            # a screen that still looks idle is no evidence that the agent has finished
            self._reader.forget()
            self._changed_at = self._now()
            self._look_soon()

    async def read_unsent_text(self) -> str:
        """Return the text in the prompt, as the rules of the screen find it."""
        await self._wait_for_quiet()
        self._look()
        return self._reading.unsent_text

    def read_answer(self) -> str:
        """Return what the screen shows since the last message."""
        after = self._require_terminal().read_lines(ANSWER_LINES)
        return find_answer(self._before, after, self._message, self._traits.is_box, self._traits.prompt_rows)

    async def interrupt(self) -> None:
        """Press the keys that stop the work."""
        self._require_terminal().write(self._traits.interrupt_keys)

    # -- questions
    async def answer(self, question: AgentQuestion, answer: QuestionAnswer) -> None:
        """Press the keys that answer a question, if the screen still shows it."""
        # the answer is for what the screen shows now
        self._look()
        if self._asked.question is None or self._asked.question.id != question.id:
            raise AgentNotReady("the agent does not show this question any more")
        keys = self._traits.answer_keys(question, self._reading, answer)
        if not keys:
            raise AgentBlocked("the keys for this answer are not known", "answer it in the terminal of the agent")
        for key in keys[:-1]:
            await self._press(key, KEY_WAIT_S)
        await self._wait_for_quiet()
        for _ in range(ENTER_TRIES):
            if await self._press(keys[-1], ENTER_WAIT_S):
                break

    # -- the end
    async def stop(self, *, force: bool = False, timeout_s: float = 5.0) -> list[int]:
        """Press the keys that end the agent, then end its processes."""
        terminal = self.terminal
        if terminal is None:
            return []
        deadline = self._now() + timeout_s
        if not force and not self._ended.is_set():
            # a key that ends an agent answers a question that it asks
            first = (ESCAPE,) if self._asked.question else (CTRL_C,) if self._is_at_work else ()
            for key in (*first, *self._traits.exit_keys):
                terminal.write(key)
                if await self._wait(self._ended.is_set, min(EXIT_KEY_WAIT_S, timeout_s / 4)):
                    break
        left = await terminal.end(force=force, timeout_s=max(0.1, deadline - self._now()))
        self._close_looks()
        return left

    def explain(self) -> list[dict[str, Any]]:
        """Return the rules of the screen that were tried last."""
        return self._reader.explain()

    # -- signals
    def take_signal(self, signal: TerminalSignal) -> None:
        """Take what the terminal says. It is called in the event loop."""
        match signal:
            case StatusReported():
                self._take_reports()
                self._look_soon()
            case ScreenChanged() | TitleChanged():
                self._changed_at = self._now()
                self._look_soon()
            case TerminalEnded(exit_code):
                self._close_looks()
                self._ended.set()
                self._changed.set()
                self.observe(AgentEnded(exit_code, describe_exit(exit_code)))
            case _:
                pass

    def _take_reports(self) -> None:
        self._work.note()
        # it is drawn after the report
        self._changed_at = self._now()
        self._reported = claim_of_reports(self._require_terminal().status_reports)
        self.observe(StateClaimed(self._reported) if self._reported else ClaimWithdrawn("osc"))
        self._changed.set()

    def _look_soon(self, delay_s: float = LOOK_S) -> None:
        when = self._now() + delay_s
        if self._ended.is_set() or (self._looking and self._looking.when() <= when):
            return
        self._close_looks()
        self._looking = asyncio.get_running_loop().call_at(when, self._look)

    def _look(self) -> None:
        """Read the screen. Look again for some time, because rules demand that it has settled."""
        self._close_looks()
        if self._ended.is_set():
            return
        terminal = self._require_terminal()
        reading = self._reader.read(terminal.screen, terminal.find_login_url)
        if reading.shows_work and reading.claims != self._reading.claims:
            self._work.note()
        is_awaited = self._work.is_awaited(self._now())
        if reading.looks_idle and (self._is_submitting or is_awaited):
            # the message may lie in the prompt still, or the agent has not begun
            reading = replace(reading, screen=None)
        self._reading = reading
        self.observe(ScreenRead(reading))
        if not self._asked.update(self._reported, reading, self._now()):
            self._look_soon()
        self._changed.set()
        if is_awaited or self._now() - self._changed_at < SETTLE_S:
            self._look_soon(SETTLE_LOOK_S)

    # -- parts
    async def _type(self, message: str) -> None:
        terminal = self._require_terminal()
        lines = message.split("\n")
        if len(lines) > 1 and not self._traits.has_paste:
            for line in lines[:-1]:
                terminal.write(line.encode() + ENTER)
                await asyncio.sleep(KEY_PAUSE_S)
            text = lines[-1].encode()
        elif len(lines) > 1:
            text = PASTE_BEGIN + message.encode() + PASTE_END
        else:
            text = message.encode()
        terminal.write(text)
        # it is no error if nothing appears: a long text may be folded
        await self._wait(lambda: self._shows_message, ECHO_WAIT_S)

    async def _press_enter(self, message: str) -> bool:
        terminal, was_shown = self._require_terminal(), self._shows_message
        for _ in range(ENTER_TRIES):
            if self._ended.is_set():
                raise AgentNotReady("the agent ended before it took the message")
            if self._is_blocked:
                # Enter would answer the question
                raise AgentBlocked("the agent asked a question while the message was typed", "answer it first")
            self._work.expect(message, self._now())
            terminal.write(ENTER)

            def is_taken() -> bool:
                return self._work.has_come or (was_shown and not self._shows_message) or self._ended.is_set()

            if await self._wait(is_taken, ENTER_WAIT_S):
                return not self._ended.is_set()
        return False

    async def _press(self, key: bytes, limit_s: float) -> bool:
        """Press a key. Return whether the screen changes within a time, or the agent ends."""
        changed_at = self._changed_at
        self._require_terminal().write(key)
        return await self._wait(lambda: self._changed_at != changed_at or self._ended.is_set(), limit_s)

    @property
    def _shows_message(self) -> bool:
        """Return whether the row of the cursor has the end of the message."""
        screen = self._require_terminal().screen
        return has_end_of(self._message, screen.rows(), screen.cursor[0])

    @property
    def _is_blocked(self) -> bool:
        return bool(if_blocked(self._reported) or if_blocked(self._reading.screen))

    @property
    def _is_at_work(self) -> bool:
        return any(claim and claim.activity == "working" for claim in (self._reported, self._reading.screen))

    async def _wait_for_quiet(self) -> None:
        """Wait until the screen is drawn: agents report that they are ready before they draw their prompt."""
        for _ in range(QUIET_TRIES):
            if (left := self._changed_at + QUIET_S - self._now()) <= 0:
                break
            await asyncio.sleep(left)

    async def _wait(self, is_done: Callable[[], bool], limit_s: float) -> bool:
        """Wait until something holds, which is looked at after each change of the terminal."""
        try:
            async with asyncio.timeout(limit_s):
                while not is_done():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return is_done()
        return True

    def _close_looks(self) -> None:
        if self._looking:
            self._looking.cancel()
            self._looking = None

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _require_terminal(self) -> Terminal:
        if self.terminal is None:
            raise AgentNotReady("the agent was not started")
        return self.terminal


def describe_exit(exit_code: int) -> str:
    """Return the reason of an end in words."""
    return f"signal {-exit_code} ended the program" if exit_code < 0 else f"the program ended with {exit_code}"
