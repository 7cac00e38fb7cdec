"""The messages to one agent: the one that it works on, and those that wait for their turn."""

import asyncio
import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lsp_harness.runtime.agent_errors import (
    AgentBlocked,
    AgentBusy,
    AgentError,
    AgentNotReady,
    AgentTimeout,
    AuthRequired,
    InvalidSpec,
    UnsentText,
)
from lsp_harness.runtime.agent_events import EventName
from lsp_harness.runtime.agent_state import ENDED, AgentState, AgentStatus
from lsp_harness.runtime.connection import AnswerReceived, Connection
from lsp_harness.runtime.states.state_ladder import StateLadder
from lsp_harness.text.ulid import make_ulid

MAX_MESSAGE_CHARS = 1_000_000
MAX_WAITING = 100
"""Messages that may wait for one agent."""
UNCERTAIN: frozenset[AgentStatus] = frozenset({"starting", "unknown"})
"""States in which an agent gets a message only if it is forced."""
MAX_SHOWN_CHARS = 80
"""Characters of an unsent text in the error about it."""
ANSWER_SETTLE_S = 0.15
"""Time between the end of the work and the look at the screen for the answer, because some agents paint it late."""
READY_AFTER_ANSWER_S = 2.0
"""Time in which an agent that said its whole answer must be ready. After it the answer is returned anyway."""
CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""Characters that a terminal would take as keys. A message is text only; keys are pressed with `press`."""
Publish = Callable[[EventName, Mapping[str, Any]], object]


@dataclass(frozen=True, slots=True)
class AgentReply:
    """The result of a message.

    Attributes:
        message_id: The id of the message in the events.
        sent: Whether it was given to the agent.
        submitted: Whether the agent was seen to take it.
        response: The answer of the agent.
        queued: Whether it had to wait for its turn.
    """

    message_id: str
    sent: bool
    submitted: bool
    response: str
    queued: bool

    @property
    def fields(self) -> dict[str, Any]:
        """The result as JSON."""
        return {
            "messageId": self.message_id,
            "sent": self.sent,
            "submitted": self.submitted,
            "response": self.response,
            "queued": self.queued,
        }


@dataclass(eq=False)
class _Message:
    text: str
    done: "asyncio.Future[AgentReply]"
    is_queued: bool = False
    is_forced: bool = False
    is_submitted: bool = False
    parts: list[str] = field(default_factory=list[str])
    whole: str | None = None
    id: str = field(default_factory=lambda: make_ulid())

    def fail(self, error: AgentError) -> None:
        if not self.done.done():
            self.done.set_exception(error)
            # nobody may wait for it any more
            self.done.exception()


class Mailbox:
    """The messages to one agent. It works on one at a time.

    Args:
        connection: Delivers the messages to the agent.
        ladder: Knows the state of the agent.
        publish: Publishes an event of the agent.
        refresh: Is called after the state was changed from here.
    """

    def __init__(
        self, connection: Connection, ladder: StateLadder, publish: Publish, refresh: Callable[[], None]
    ) -> None:
        self._connection, self._ladder, self._publish, self._refresh = connection, ladder, publish, refresh
        self._current: _Message | None = None
        self._waiting: deque[_Message] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._finishing: asyncio.TimerHandle | None = None

    @property
    def is_working(self) -> bool:
        """Return whether the agent has a message that is not answered."""
        return self._current is not None

    @property
    def waiting(self) -> list[dict[str, Any]]:
        """The messages that wait, the next one first, without their texts."""
        return [{"messageId": message.id, "chars": len(message.text)} for message in self._waiting]

    async def send(self, text: str, timeout_s: float, *, queue: bool = False, force: bool = False) -> AgentReply:
        """Give the agent a message and return its answer.

        Args:
            text: The text of the message.
            timeout_s: The time for everything. The agent goes on after it.
            queue: Let the message wait until the agent is ready. Otherwise it must be ready now.
            force: Also send to an agent whose state is not known, or whose prompt has an unsent text. That text is
                sent together with the message.

        Raises:
            AgentError: The agent is not ready (BUSY, BLOCKED, NOT_READY, AUTH_REQUIRED, UNSENT_TEXT), ended, or took
                too long.
        """
        text = _clean(text)
        refusal = self._find_refusal(is_forced=force)
        # the answer before is read from the screen, which takes a moment
        must_wait = refusal is not None or self._finishing is not None
        if refusal and (not queue or self._ladder.state.status in ENDED):
            if self._ladder.state.status in UNCERTAIN and (unsent := await self._connection.read_unsent_text()):
                # it is the reason why its screen does not look ready
                raise _refuse_unsent_text(unsent)
            raise refusal
        if len(self._waiting) >= MAX_WAITING:
            raise AgentBusy(f"{MAX_WAITING} messages wait already", "wait for answers first")
        future: asyncio.Future[AgentReply] = asyncio.get_running_loop().create_future()
        message = _Message(text, future, is_queued=refusal is not None, is_forced=force)
        if must_wait:
            self._waiting.append(message)
        else:
            self._begin(message)
        try:
            async with asyncio.timeout(timeout_s):
                return await message.done
        except TimeoutError:
            place = "still waits for its turn and was withdrawn" if message in self._waiting else "has no answer"
            raise AgentTimeout(
                f"the message {place} after {timeout_s:g} s", "the agent goes on; ask again, interrupt it or stop it"
            ) from None
        finally:
            if message in self._waiting:
                self._waiting.remove(message)

    def take_answer(self, answer: AnswerReceived) -> None:
        """Take a part of the answer, or the whole one, from the transport."""
        if (message := self._current) is None:
            if answer.is_whole and answer.text:
                self._publish_answer("", answer.text)
            return
        if not answer.is_whole:
            message.parts.append(answer.text)
            return
        message.whole = answer.text
        self._finish_later(0.0 if self._ladder.state.status == "ready" else READY_AFTER_ANSWER_S)

    def follow(self, state: AgentState) -> None:
        """Follow a new state of the agent: it may have answered, be free for the next message, or have ended."""
        if state.status in ENDED:
            self._end_all(AgentNotReady(f"the agent has ended: {state.message}", "start another agent"))
        elif state.status == "authenticating" and self._current:
            self._end_current(_refuse_login(state))
        elif state.status == "ready":
            if self._current is None:
                self._begin_next()
            elif self._current.is_submitted:
                self._finish_later(0.0 if self._current.whole is not None else ANSWER_SETTLE_S)
        elif self._finishing and state.status == "busy" and self._current and self._current.whole is None:
            # it only paused
            self._cancel_finish()

    async def aclose(self) -> None:
        """End all messages."""
        self._end_all(AgentNotReady("the agent was closed", "start another agent"))
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _find_refusal(self, *, is_forced: bool) -> AgentError | None:
        """Return why the agent takes no message now."""
        state = self._ladder.state
        if state.status in ENDED or state.status == "stopping":
            return AgentNotReady(f"the agent is {state.status}", "start another agent")
        if state.status == "authenticating":
            return _refuse_login(state)
        if state.status == "blocked":
            return AgentBlocked(
                f"the agent waits for an answer ({state.kind or 'dialog'}); a message would answer it",
                "answer its open question first",
            )
        is_finishing = state.status == "ready" and self._finishing is not None and not self._waiting
        if (self._current and not is_finishing) or self._waiting or state.status == "busy":
            return AgentBusy("the agent works on another message", "wait, send with queue, or interrupt it")
        if state.status != "ready" and not is_forced:
            return AgentNotReady(
                f"the agent is {state.status} ({state.rule})", "wait until it is ready, or look at its screen"
            )
        return None

    def _begin(self, message: _Message) -> None:
        self._current = message
        task = asyncio.ensure_future(self._submit(message))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _begin_next(self) -> None:
        while self._waiting and self._current is None:
            message = self._waiting.popleft()
            if not message.done.done():
                self._begin(message)

    async def _submit(self, message: _Message) -> None:
        if not message.is_forced and (unsent := await self._connection.read_unsent_text()):
            message.fail(_refuse_unsent_text(unsent))
            self._release(message)
            return
        if self._current is not message:
            # it has ended meanwhile
            return
        self._ladder.note_sent()
        self._refresh()
        try:
            is_submitted = await self._connection.submit(message.text)
        except AgentError as error:
            message.fail(error)
            self._release(message)
            return
        except Exception as error:  # noqa: BLE001 - a transport that fails must not leave the sender without an answer
            message.fail(AgentError(f"the message could not be delivered: {type(error).__name__}: {error}"))
            self._release(message)
            return
        self._publish("submitted", {"messageId": message.id, "submitted": is_submitted, "chars": len(message.text)})
        if not is_submitted:
            self._resolve(message, AgentReply(message.id, True, False, "", message.is_queued))
            self._release(message)
            return
        message.is_submitted = True
        if self._current is message:
            self.follow(self._ladder.state)

    def _finish_later(self, delay_s: float) -> None:
        self._cancel_finish()
        if delay_s:
            self._finishing = asyncio.get_running_loop().call_later(delay_s, self._finish)
        else:
            self._finish()

    def _cancel_finish(self) -> None:
        if self._finishing:
            self._finishing.cancel()
            self._finishing = None

    def _finish(self) -> None:
        """Return the answer to the sender, and begin with the next message."""
        self._finishing = None
        if (message := self._current) is None:
            return
        if message.whole is not None:
            response = message.whole
        else:
            response = "".join(message.parts) or self._connection.read_answer()
        self._publish_answer(message.id, response)
        self._resolve(message, AgentReply(message.id, True, True, response, message.is_queued))
        self._release(message)

    def _resolve(self, message: _Message, reply: AgentReply) -> None:
        if not message.done.done():
            message.done.set_result(reply)

    def _release(self, message: _Message) -> None:
        if self._current is message:
            self._current = None
        self._refresh()
        if self._ladder.state.status == "ready":
            self._begin_next()

    def _end_current(self, error: AgentError) -> None:
        self._cancel_finish()
        if message := self._current:
            self._current = None
            message.fail(error)

    def _end_all(self, error: AgentError) -> None:
        self._end_current(error)
        while self._waiting:
            self._waiting.popleft().fail(error)

    def _publish_answer(self, message_id: str, content: str) -> None:
        self._publish("message", {"message": {"id": message_id, "direction": "outbound", "content": content}})


def _clean(text: str) -> str:
    if not text.strip():
        raise InvalidSpec("the message is empty", "write what the agent is to do")
    if len(text) > MAX_MESSAGE_CHARS:
        raise InvalidSpec(f"the message has more than {MAX_MESSAGE_CHARS} characters", "put the text into a file")
    return CONTROL_CHARACTERS.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).rstrip("\n")


def _refuse_unsent_text(text: str) -> UnsentText:
    return UnsentText(
        f"the prompt of the agent has a text that was not sent: {text[:MAX_SHOWN_CHARS]!r}",
        "send or delete it in the terminal of the agent, or send with force, which sends both as one message",
    )


def _refuse_login(state: AgentState) -> AuthRequired:
    return AuthRequired(state.message or "the agent wants a login", "log in with the program of the agent, then retry")
