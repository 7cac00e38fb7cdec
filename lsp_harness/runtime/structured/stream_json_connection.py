"""The connection to claude without a terminal: `claude -p --input-format stream-json --output-format stream-json`.

Messages, permission questions and interruptions go over its standard input and output. One process takes any number of
messages.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from lsp_harness.runtime.adapter import LaunchOrder
from lsp_harness.runtime.agent_errors import AgentError
from lsp_harness.runtime.connection import AgentQuestion, AnswerReceived, FilesTouched, Observer, QuestionAnswer
from lsp_harness.runtime.structured.structured_connection import (
    REQUEST_LIMIT_S,
    PendingRequests,
    StructuredConnection,
)

QUESTION_TOOL = "AskUserQuestion"
FILE_FIELDS: Mapping[str, str] = {
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "Write": "file_path",
    "NotebookEdit": "notebook_path",
}
"""Tools that change a file, and the field of their input with its path."""
LOGIN_ERRORS = frozenset({"authentication_failed", "oauth_org_not_allowed"})
LOGIN_STATUSES = frozenset({401, 403})
DENIED = "The permission gate denied it."


class StreamJsonConnection(StructuredConnection):
    """A connection to claude.

    Args:
        order: The order to start it.
        observe: Receives each observation of the agent: a state, a message, a question, its end.
        check_login: Raises AuthRequired if it has no login.
    """

    def __init__(self, order: LaunchOrder, observe: Observer, check_login: Callable[[], Awaitable[None]]) -> None:
        super().__init__(order, observe)
        self._check_login = check_login
        self._requests = PendingRequests()
        self._files: dict[str, str] = {}
        self._is_login_missing = False

    async def start(self) -> None:
        """Look for a login first. Without one claude starts as usual and fails at the first message."""
        await self._check_login()
        await super().start()

    async def greet(self) -> None:
        """Begin the protocol of claude by its first request."""
        await self._request({"subtype": "initialize", "hooks": None})

    async def submit(self, message: str) -> bool:
        """Send a message. Claude reads its input in order."""
        content = [{"type": "text", "text": message}]
        self.claim("working", "message-sent")
        await self.program.send(
            {"type": "user", "message": {"role": "user", "content": content}, "parent_tool_use_id": None}
        )
        return True

    async def interrupt(self) -> None:
        """Interrupt the turn."""
        await self._request({"subtype": "interrupt"})

    async def answer(self, question: AgentQuestion, answer: QuestionAnswer) -> None:
        """Answer a permission question, or a question to the person."""
        if question.id not in self._open:
            return
        value: dict[str, Any] = {"behavior": "deny", "message": answer.reason or DENIED}
        if question.kind == "question" and (answer.is_allowed or answer.text):
            questions = question.input.get("questions") or ()
            answers = {str(asked.get("question")): answer.text for asked in questions}
            value = {"behavior": "allow", "updatedInput": {**question.input, "answers": answers}}
        elif answer.is_allowed:
            value = {"behavior": "allow", "updatedInput": dict(question.input)}
        await self._respond(question.id, value)
        self.settle(question.id)

    def fail_requests(self, error: AgentError) -> None:
        """End all requests that wait for the agent."""
        self._requests.fail_all(error)

    async def handle(self, message: dict[str, Any]) -> None:
        """Handle a message of claude."""
        match message.get("type"):
            case "control_response":
                response = message["response"]
                if response.get("subtype") == "error":
                    error = AgentError(f"claude refused: {response.get('error')}", "look at its log")
                    self._requests.resolve(response.get("request_id"), error)
                else:
                    self._requests.resolve(response.get("request_id"), response.get("response") or {})
            case "control_request":
                await self._take_request(str(message["request_id"]), message["request"])
            case "control_cancel_request":
                self.settle(str(message.get("request_id")))
            case "stream_event":
                self._take_delta(message)
            case "assistant":
                self._take_assistant(message)
            case "user":
                self._take_tool_results(message)
            case "system":
                await self._take_retry(message)
            case "result":
                self._take_result(message)
            case _:
                pass

    async def _take_request(self, request_id: str, request: Mapping[str, Any]) -> None:
        if request.get("subtype") != "can_use_tool":
            error = {"subtype": "error", "request_id": request_id, "error": "this client does not offer that"}
            await self.program.send({"type": "control_response", "response": error})
            return
        tool, value = str(request.get("tool_name")), dict[str, Any](request.get("input") or {})
        if tool == QUESTION_TOOL:
            asked: list[Mapping[str, Any]] = value.get("questions") or []
            text = "\n".join(str(question.get("question", "")) for question in asked)
            options = tuple(str(option.get("label")) for question in asked for option in question.get("options") or ())
            self.ask(AgentQuestion(request_id, "question", text, tool, value, options))
            return
        text = str(request.get("title") or request.get("description") or f"claude wants to use {tool}")
        self.ask(AgentQuestion(request_id, "permission", text, tool, value, ("allow", "deny")))

    def _take_delta(self, message: Mapping[str, Any]) -> None:
        delta: Mapping[str, Any] = message["event"].get("delta") or {}
        if delta.get("type") == "text_delta" and message.get("parent_tool_use_id") is None:
            self.observe(AnswerReceived(str(delta.get("text", ""))))

    def _take_assistant(self, message: Mapping[str, Any]) -> None:
        self._is_login_missing = self._is_login_missing or message.get("error") in LOGIN_ERRORS
        for block in message["message"].get("content") or ():
            field = FILE_FIELDS.get(block.get("name", "")) if block.get("type") == "tool_use" else None
            if field and (path := block["input"].get(field)):
                self._files[str(block["id"])] = str(path)

    def _take_tool_results(self, message: Mapping[str, Any]) -> None:
        content = message["message"].get("content")
        blocks = cast("list[Mapping[str, Any]]", content) if isinstance(content, list) else []
        for block in blocks:
            path = self._files.pop(str(block.get("tool_use_id")), "")
            if path and not block.get("is_error"):
                self.observe(FilesTouched((path,)))

    async def _take_retry(self, message: Mapping[str, Any]) -> None:
        """Do not wait for the ten retries with a key that is not valid."""
        if message.get("subtype") == "api_retry" and message.get("error_status") in LOGIN_STATUSES:
            self._is_login_missing = True
            number, future = self._requests.add()
            # the answer comes through the reader, which runs this
            future.cancel()
            await self._send_request(number, {"subtype": "interrupt"})

    def _take_result(self, message: Mapping[str, Any]) -> None:
        text = str(message.get("result") or "")
        if self._is_login_missing:
            self._is_login_missing = False
            self.claim_login("authentication-failed", text or "claude has no valid login")
            return
        self.finish_turn(text, "result", is_failed=bool(message.get("is_error")))

    async def _request(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        number, future = self._requests.add()
        await self._send_request(number, request)
        try:
            async with asyncio.timeout(REQUEST_LIMIT_S):
                return await future
        except TimeoutError:
            raise AgentError(f"claude does not answer {request['subtype']}", "stop it") from None

    async def _send_request(self, number: int, request: Mapping[str, Any]) -> None:
        await self.program.send({"type": "control_request", "request_id": str(number), "request": request})

    async def _respond(self, request_id: str, value: Mapping[str, Any]) -> None:
        response = {"subtype": "success", "request_id": request_id, "response": value}
        await self.program.send({"type": "control_response", "response": response})
