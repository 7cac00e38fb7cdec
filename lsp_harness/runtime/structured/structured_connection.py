"""The part of a connection that is the same for all protocols of JSON lines, and the program that speaks it."""

import asyncio
import json
import os
from abc import abstractmethod
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, cast

from lsp_harness.process.process_tree import ProcessTree
from lsp_harness.runtime.adapter import LaunchOrder
from lsp_harness.runtime.agent_errors import AgentError, CliNotFound, SpawnFailed
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
from lsp_harness.text.surrogates import to_scalar_json
from lsp_harness.wire.message_lines import LineTooLong, MessageLines


def client_version() -> str:
    """Return the version of the installed package."""
    try:
        return version("lsp-harness")
    except PackageNotFoundError:
        return "0"


KEPT_LINES = 2_000
MAX_KEPT_CHARS = 4_000
"""A longer line is remembered up to this length."""
CHUNK_BYTES = 65_536
WRITE_LIMIT_S = 10.0
"""Time for a program to read what it is sent."""
ERROR_LINES_IN_MESSAGE = 5
EXIT_SHARE = 0.5
"""The part of the time of a stop in which a program may end by itself, after its input was closed."""


class JsonProgram:
    """A running program, with all processes that it starts.

    Attributes:
        lines: The last lines that it wrote, errors included, for people.
    """

    def __init__(self, tree: ProcessTree, writer: asyncio.WriteTransport, outlet: "_Outlet") -> None:
        self._tree, self._writer, self._outlet = tree, writer, outlet
        self._incoming = MessageLines(tree.output.read)
        self._errors = deque[str](maxlen=ERROR_LINES_IN_MESSAGE)
        self._reading_errors: asyncio.Task[None] | None = None
        self.lines = deque[str](maxlen=KEPT_LINES)

    @classmethod
    async def start(cls, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], mark: str) -> "JsonProgram":
        """Start a program.

        Args:
            argv: The command.
            cwd: The folder in which it runs.
            env: All environment variables of the program.
            mark: The name by which its processes are found.

        Raises:
            CliNotFound: It is not installed.
            SpawnFailed: It cannot be started.
        """
        if not cwd.is_dir():
            raise SpawnFailed(f"there is no folder {cwd}", "name a folder that exists")
        loop = asyncio.get_running_loop()
        input_end, own_input = os.pipe()
        own_errors, errors_end = os.pipe()
        try:
            # the program's errors are kept apart from its protocol
            tree = await ProcessTree.start(
                argv, mark=mark, cwd=cwd, env=env, stdin=input_end, prepare=lambda: _redirect_errors(errors_end)
            )
        except OSError as error:
            os.close(own_input)
            os.close(own_errors)
            if isinstance(error, FileNotFoundError):
                raise CliNotFound(f"{argv[0]} is not installed", f"install {argv[0]}") from error
            raise SpawnFailed(f"{argv[0]} cannot be started: {error.strerror}", "run it in a terminal") from error
        finally:
            os.close(input_end)
            os.close(errors_end)
        outlet = _Outlet()
        writer, _ = await loop.connect_write_pipe(lambda: outlet, os.fdopen(own_input, "wb", 0))
        program = cls(tree, writer, outlet)
        errors = asyncio.StreamReader()
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(errors), os.fdopen(own_errors, "rb", 0)
        )
        program._reading_errors = asyncio.ensure_future(program._read_errors(errors, transport))
        return program

    @property
    def error_text(self) -> str:
        """The last lines on its standard error."""
        return "\n".join(self._errors)

    async def send(self, message: Mapping[str, Any]) -> None:
        """Send an object.

        Raises:
            AgentError: The program has ended, or it does not read.
        """
        if self._writer.is_closing():
            raise AgentError("the agent has ended", "start another agent")
        self._writer.write(json.dumps(message).encode() + b"\n")
        try:
            async with asyncio.timeout(WRITE_LIMIT_S):
                await self._outlet.drained.wait()
        except TimeoutError:
            raise AgentError("the agent does not read what it is sent", "stop it") from None

    async def receive(self) -> dict[str, Any] | None:
        """Return the next object, or None at the end of the output. Lines that are no objects are left out."""
        while True:
            try:
                line = await self._incoming.next()
            except LineTooLong as error:
                self._remember_line(error.message.encode())
                continue
            if line is None:
                return None
            self._remember_line(line)
            if (message := _parse(line)) is not None:
                return message

    async def wait(self) -> int:
        """Wait until the program has ended, and return its exit status or minus the number of a signal."""
        return await self._tree.wait()

    async def end(self, *, force: bool = False, timeout_s: float = 5.0) -> list[int]:
        """End the program and all processes that it started: end of input, SIGTERM, SIGKILL.

        Args:
            force: Kill it at once.
            timeout_s: Time for it to end before it is killed.

        Returns:
            The numbers of processes that still run.
        """
        self._writer.close()
        grace_s = 0.0
        if not force:
            share_s = timeout_s * EXIT_SHARE
            await asyncio.wait({asyncio.ensure_future(self._tree.wait())}, timeout=share_s)
            grace_s = timeout_s - share_s
        left = await self._tree.end(grace_s=grace_s)
        self._tree.close()
        if self._reading_errors:
            # a process that could not be ended may hold the pipe open
            self._reading_errors.cancel()
        return left

    async def _read_errors(self, errors: asyncio.StreamReader, transport: asyncio.BaseTransport) -> None:
        pending = b""
        try:
            while data := await errors.read(CHUNK_BYTES):
                *lines, pending = (pending + data).split(b"\n")
                pending = pending[:MAX_KEPT_CHARS]
                for line in lines:
                    self._remember_line(line, is_error=True)
        finally:
            transport.close()

    def _remember_line(self, line: bytes, *, is_error: bool = False) -> None:
        text = line[:MAX_KEPT_CHARS].decode(errors="replace").rstrip()
        self.lines.append(text)
        if is_error and text:
            self._errors.append(text)


class _Outlet(asyncio.BaseProtocol):
    """The state of the pipe to the program.

    Attributes:
        drained: Is set while the program keeps up with reading, and after the end of the pipe.
    """

    def __init__(self) -> None:
        self.drained = asyncio.Event()
        self.drained.set()

    def pause_writing(self) -> None:
        """Make writers wait, because the pipe to the program is full."""
        self.drained.clear()

    def resume_writing(self) -> None:
        """Let writers go on, because the pipe to the program has room again."""
        self.drained.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let writers go on, because the pipe to the program has ended."""
        self.drained.set()


def _redirect_errors(descriptor: int) -> None:
    os.dup2(descriptor, 2)


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        message = json.loads(to_scalar_json(line))
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", message) if isinstance(message, dict) else None


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
        observe: Receives each observation of the agent: a state, a message, a question, its end.
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
        """Report a state of the agent to the observer."""
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
        """Give the open request with this id its answer, or the error of the agent."""
        future = self._futures.pop(str(request_id), None)
        if future is None or future.done():
            return
        if isinstance(value, AgentError):
            future.set_exception(value)
        else:
            future.set_result(value)

    def fail_all(self, error: AgentError) -> None:
        """Give all open requests an error instead of an answer."""
        for request_id in list(self._futures):
            self.resolve(request_id, error)
