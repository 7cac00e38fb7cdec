"""The part of a connection that is the same for all protocols of JSON lines."""

import asyncio
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from lsp_harness.runtime.adapter import LaunchOrder
from lsp_harness.runtime.agent_errors import AgentError, SpawnFailed
from lsp_harness.runtime.agent_state import Activity, BlockKind, StateClaim
from lsp_harness.runtime.connection import (
    AgentEnded,
    AgentQuestion,
    AnswerReceived,
    Connection,
    Observer,
    QuestionWithdrawn,
    StateClaimed,
)
from lsp_harness.runtime.structured.json_program import JsonProgram

START_LIMIT_S = 30.0
"""Time for an agent to say that it is ready. The slowest of them needs five seconds on a machine with two cores."""
REQUEST_LIMIT_S = 30.0
"""Time for an agent to answer a request that needs no model."""
EXIT_WAIT_S = 2.0
"""Time between the end of the output and the end of the program."""


class StructuredConnection(Connection):
    """A connection over a protocol.

    Args:
        order: The order to start the agent.
        observe: Receives the observations.
    """

    def __init__(self, order: LaunchOrder, observe: Observer) -> None:
        super().__init__(observe)
        self.order = order
        self._program: JsonProgram | None = None
        self._reading: asyncio.Task[None] | None = None
        self._open: dict[str, AgentQuestion] = {}
        self._is_started = self._has_ended = False

    @property
    def program(self) -> JsonProgram:
        """The program.

        Raises:
            AgentError: It was not started.
        """
        if self._program is None:
            raise AgentError("the agent was not started", "start it first")
        return self._program

    async def start(self) -> None:
        """Start the program and greet it. See the base class."""
        await self.launch(self.order.argv)
        try:
            async with asyncio.timeout(START_LIMIT_S):
                await self.greet()
        except TimeoutError:
            await self.stop(force=True)
            detail = self.program.error_text or "it says nothing"
            raise SpawnFailed(
                f"the agent is not ready after {START_LIMIT_S:.0f} s: {detail}", "run it in a terminal"
            ) from None
        except BaseException:
            await self.stop(force=True)
            raise
        self._is_started = True
        self.claim("idle", "greeting")

    async def launch(self, argv: Sequence[str]) -> None:
        """Start a command as the program, and read from it."""
        self._program = await JsonProgram.start(
            self.order.build_command(tuple(argv)),
            cwd=self.order.spec.workdir,
            env=self.order.env,
            mark=self.order.agent_id,
        )
        self._reading = asyncio.ensure_future(self._read(self._program))

    @abstractmethod
    async def greet(self) -> None:
        """Begin the protocol, so that the agent can take messages.

        Raises:
            AgentError: The agent refuses, or it wants a login (AuthRequired).
        """

    @abstractmethod
    async def handle(self, message: dict[str, Any]) -> None:
        """Handle a message of the agent."""

    @abstractmethod
    def fail_requests(self, error: AgentError) -> None:
        """End all requests that wait for the agent."""

    async def stop(self, *, force: bool = False, timeout_s: float = 5.0) -> list[int]:
        """End the program and all processes that it started. See the base class."""
        program, reading = self._program, self._reading
        if program is None:
            return []
        left = await program.end(force=force, timeout_s=timeout_s)
        if reading and reading is not asyncio.current_task():
            reading.cancel()
            with suppress(asyncio.CancelledError):
                await reading
        await self._finish(program, "it was stopped")
        return left

    def read_lines(self, count: int, *, raw: bool = False) -> list[str]:
        """Return the last lines of the protocol and of the errors."""
        lines = list(self._program.lines) if self._program else []
        return lines[-count:] if count > 0 else []

    # -- observations
    def claim(self, activity: Activity, rule: str, *, kind: BlockKind = "", message: str = "", url: str = "") -> None:
        """Report a state."""
        rule = f"{self.order.spec.type}/{rule}"
        self.observe(StateClaimed(StateClaim("transport", activity, rule, kind, message, url)))

    def claim_login(self, rule: str, message: str) -> None:
        """Report that the agent wants a login."""
        self.claim("blocked", rule, kind="auth", message=message)

    def ask(self, question: AgentQuestion) -> None:
        """Report a question of the agent."""
        self._open[question.id] = question
        self.claim("blocked", "question", kind=question.kind, message=question.text)
        self.observe(question)

    def settle(self, question_id: str) -> None:
        """Report that a question is answered or withdrawn."""
        if self._open.pop(question_id, None) is None:
            return
        self.observe(QuestionWithdrawn(question_id))
        if self._open:
            question = next(iter(self._open.values()))
            self.claim("blocked", "question", kind=question.kind, message=question.text)
        else:
            self.claim("working", "answered")

    def finish_turn(self, text: str, rule: str, *, is_failed: bool = False) -> None:
        """Report the whole answer, and that the agent takes the next message."""
        for question_id in list(self._open):
            self._open.pop(question_id)
            self.observe(QuestionWithdrawn(question_id))
        self.observe(AnswerReceived(text, is_whole=True))
        if is_failed:
            self.claim("error", rule, message=text)
        else:
            self.claim("idle", rule)

    # -- the end
    async def _read(self, program: JsonProgram) -> None:
        while (message := await program.receive()) is not None:
            if self._program is program:
                await self._handle_safely(program, message)
        with suppress(TimeoutError):
            async with asyncio.timeout(EXIT_WAIT_S):
                await program.wait()
        # also those that survive the program
        await program.end(force=True)
        if self._program is program:
            await self._finish(program, program.error_text)

    async def _handle_safely(self, program: JsonProgram, message: dict[str, Any]) -> None:
        try:
            await self.handle(message)
        except (AgentError, LookupError, TypeError, ValueError, AttributeError) as error:
            # an agent of another version may send anything, and the connection must survive it
            program.lines.append(f"lsp-harness cannot read this message: {type(error).__name__}: {error}")

    async def _finish(self, program: JsonProgram, reason: str) -> None:
        if self._has_ended:
            return
        self._has_ended = True
        error = SpawnFailed(f"the agent has ended: {reason}".rstrip(": "), "look at its log")
        self.fail_requests(error)
        if not self._is_started:
            # the start raises the error
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(EXIT_WAIT_S):
                self.observe(AgentEnded(await program.wait(), reason))
                return
        self.observe(AgentEnded(-9, reason))


class PendingRequests:
    """The requests to an agent that have no answer yet, by their ids."""

    def __init__(self) -> None:
        self._futures: dict[str, asyncio.Future[Mapping[str, Any]]] = {}
        self._count = 0

    def add(self) -> "tuple[int, asyncio.Future[Mapping[str, Any]]]":
        """Return the number of a new request, and the future of its answer."""
        self._count += 1
        future: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._futures[str(self._count)] = future
        return self._count, future

    def resolve(self, request_id: object, value: Mapping[str, Any] | AgentError) -> None:
        """Give a request its answer, or the error of the agent."""
        future = self._futures.pop(str(request_id), None)
        if future is None or future.done():
            return
        if isinstance(value, AgentError):
            future.set_exception(value)
        else:
            future.set_result(value)

    def fail_all(self, error: AgentError) -> None:
        """Give all requests an error."""
        for request_id in list(self._futures):
            self.resolve(request_id, error)
