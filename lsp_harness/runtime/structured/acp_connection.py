"""The connection to an agent that speaks the Agent Client Protocol: `gemini --acp` and `opencode acp`."""

import asyncio
import uuid
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from lsp_harness.runtime.adapter import LaunchOrder
from lsp_harness.runtime.agent_errors import AgentError, AuthRequired, SpawnFailed
from lsp_harness.runtime.connection import AgentQuestion, AnswerReceived, FilesTouched, Observer, QuestionAnswer
from lsp_harness.runtime.structured.structured_connection import StructuredConnection, client_version
from lsp_harness.wire.checked_messages import CheckedMessages
from lsp_harness.wire.rpc_message import classify

if TYPE_CHECKING:
    from acp.client.connection import ClientSideConnection
    from acp.interfaces import Client
    from acp.schema import PermissionOption, RequestPermissionResponse, ToolCallUpdate

AUTH_REQUIRED = -32000
MAX_MESSAGES = 10_000
"""Messages of the agent that wait to be handled. Further ones wait in the pipe."""
ALLOW_KINDS = ("allow_once", "allow_always")
DENY_KINDS = ("reject_once", "reject_always")


class AcpConnection(StructuredConnection):
    """A connection by the Agent Client Protocol.

    Args:
        order: The order to start the agent.
        observe: Receives each observation of the agent: a state, a message, a question, its end.
        login_hint: The way to log in, in one sentence.
    """

    def __init__(self, order: LaunchOrder, observe: Observer, login_hint: str) -> None:
        super().__init__(order, observe)
        self._login_hint = login_hint
        self._incoming: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue(MAX_MESSAGES)
        self._answers: dict[str, asyncio.Future[QuestionAnswer]] = {}
        self._checked = CheckedMessages(self._send)
        self._client: ClientSideConnection | None = None
        self._session_id = ""
        self._turn: asyncio.Task[None] | None = None
        self._parts: list[str] = []
        self._parts_before: list[str] = []

    @property
    def client(self) -> "ClientSideConnection":
        """The client side of the Agent Client Protocol.

        Raises:
            AgentError: The agent was not started.
        """
        if self._client is None:
            raise AgentError("the agent was not started", "start it first")
        return self._client

    async def greet(self) -> None:
        """Begin the protocol and a session."""
        # imported here, because nobody else needs them and they take long to import
        from acp import PROTOCOL_VERSION, RequestError
        from acp.client.connection import ClientSideConnection
        from acp.schema import ClientCapabilities, Implementation
        from pydantic import ValidationError

        self._client = ClientSideConnection(cast("Client", _Client(self)), _Messages(self))
        try:
            await self._client.initialize(
                protocol_version=PROTOCOL_VERSION,
                client_capabilities=ClientCapabilities(),
                client_info=Implementation(name="lsp-harness", title="lsp-harness", version=client_version()),
            )
            session = await self._client.new_session(cwd=str(self.order.spec.workdir), mcp_servers=[])
        except RequestError as error:
            if error.code == AUTH_REQUIRED:
                raise AuthRequired(f"{self.order.spec.type} has no login: {error}", self._login_hint) from error
            raise SpawnFailed(f"{self.order.spec.type} refused: {error}", "look at its log") from error
        except ValidationError as error:
            raise SpawnFailed("the agent gave an answer that is not valid", "look at its log") from error
        except ConnectionError as error:
            raise SpawnFailed(f"the agent has ended: {self.program.error_text}", "look at its log") from error
        self._session_id = session.session_id

    async def submit(self, message: str) -> bool:
        """Send a prompt. Its answer comes later."""
        self._parts, self._parts_before = [], []
        self.claim("working", "message-sent")
        self._turn = asyncio.ensure_future(self._send_prompt(message))
        return True

    async def interrupt(self) -> None:
        """Cancel the turn. The protocol demands that open questions are answered by then."""
        await self.client.cancel(session_id=self._session_id)
        for question_id in list(self._answers):
            self._answers[question_id].cancel()

    async def answer(self, question: AgentQuestion, answer: QuestionAnswer) -> None:
        """Answer a permission question."""
        future = self._answers.get(question.id)
        if future and not future.done():
            future.set_result(answer)

    async def stop(self, *, force: bool = False, timeout_s: float = 5.0) -> list[int]:
        """End the program. See the base class."""
        left = await super().stop(force=force, timeout_s=timeout_s)
        if self._client:
            await self._client.close()
        return left

    def fail_requests(self, error: AgentError) -> None:
        """End all requests that wait for the agent, and the reader of the library."""
        for future in self._answers.values():
            future.cancel()
        while self._incoming.full():
            self._incoming.get_nowait()
        self._incoming.put_nowait(None)

    async def handle(self, message: dict[str, Any]) -> None:
        """Give a message to the library, if it is a valid one."""
        # the end of the agent is reported by the reader
        with suppress(AgentError):
            checked = await self._checked.take(classify({"jsonrpc": "2.0", **message}))
            if checked is not None:
                await self._incoming.put(checked)

    # -- what the library calls
    async def send(self, message: dict[str, Any]) -> None:
        """Send a message to the agent."""
        if "method" in message and "id" in message:
            self._checked.note_request(message["id"])
        await self._send(message)

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message, or None after the end of the agent."""
        return await self._incoming.get()

    async def decide(
        self, options: "Sequence[PermissionOption]", call: "ToolCallUpdate"
    ) -> "RequestPermissionResponse":
        """Ask for a permission, and return the option of the agent that means the answer."""
        from acp.schema import AllowedOutcome, DeniedOutcome, RequestPermissionResponse

        raw = cast("object", call.raw_input)
        value = cast("dict[str, Any]", raw) if isinstance(raw, dict) else {}
        paths = [location.path for location in call.locations or ()]
        diffs = [content for content in call.content or () if content.type == "diff"]
        if diffs:
            value = {**value, "changes": [{"path": diff.path, "new_text": diff.new_text} for diff in diffs]}
            paths += [diff.path for diff in diffs if diff.path not in paths]
        if paths:
            value = {**value, "paths": paths}
        # gemini says the command in the title only
        if call.kind == "execute" and "command" not in value and call.title:
            value = {**value, "command": call.title}
        question = AgentQuestion(
            uuid.uuid4().hex,
            "permission",
            call.title or "the agent asks for a permission",
            call.kind or "other",
            value,
            tuple(option.name for option in options),
        )
        future: asyncio.Future[QuestionAnswer] = asyncio.get_running_loop().create_future()
        self._answers[question.id] = future
        self.ask(question)
        try:
            answer = await future
        except asyncio.CancelledError:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        finally:
            self._answers.pop(question.id, None)
            self.settle(question.id)
        kinds = ALLOW_KINDS if answer.is_allowed else DENY_KINDS
        for kind in kinds:
            for option in options:
                if option.kind == kind:
                    outcome = AllowedOutcome(outcome="selected", option_id=option.option_id)
                    return RequestPermissionResponse(outcome=outcome)
        return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))

    def take_update(self, update: Any) -> None:
        """Take an update of the session."""
        match update.session_update:
            case "agent_message_chunk" if update.content.type == "text":
                self._parts.append(update.content.text)
                self.observe(AnswerReceived(update.content.text))
            case "tool_call" | "tool_call_update":
                # what came before tells what the agent is about to do, the answer comes after it
                if self._parts:
                    self._parts, self._parts_before = [], self._parts
                paths = [content.path for content in update.content or () if content.type == "diff"]
                if update.status == "completed" and paths:
                    self.observe(FilesTouched(tuple(paths)))
            case _:
                pass

    async def _send(self, message: dict[str, Any]) -> None:
        await self.program.send(message)

    async def _send_prompt(self, message: str) -> None:
        from acp import RequestError, text_block
        from pydantic import ValidationError

        try:
            result = await self.client.prompt(session_id=self._session_id, prompt=[text_block(message)])
        except RequestError as error:
            if error.code == AUTH_REQUIRED:
                self.claim_login("authentication-required", f"{error}. {self._login_hint}")
            else:
                self.finish_turn(f"the agent failed: {error}", "prompt-failed", is_failed=True)
        except ConnectionError:
            # its end is reported by the reader
            return
        except ValidationError:
            self.finish_turn("the agent gave an answer that is not valid", "prompt-failed", is_failed=True)
        else:
            self.finish_turn("".join(self._parts or self._parts_before), result.stop_reason)


class _Messages:
    """The pipe of messages that the library wants."""

    def __init__(self, connection: AcpConnection) -> None:
        self._connection = connection

    async def send(self, message: dict[str, Any]) -> None:
        """Send a message to the agent."""
        await self._connection.send(message)

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message of the agent."""
        return await self._connection.receive()

    async def close(self) -> None:
        """Do nothing: the connection ends the program."""


class _Client:
    """The requests of an agent. It gets no file system and no terminal of ours: it has its own."""

    def __init__(self, connection: AcpConnection) -> None:
        self._connection = connection

    async def request_permission(
        self, session_id: str, tool_call: "ToolCallUpdate", options: "list[PermissionOption]", **_: Any
    ) -> "RequestPermissionResponse":
        """Pass a permission question of the agent on, and return the answer."""
        return await self._connection.decide(options, tool_call)

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        """Turn an update of the agent into observations."""
        self._connection.take_update(update)
