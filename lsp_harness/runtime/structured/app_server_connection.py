"""The connection to codex without a terminal: `codex app-server`, which speaks JSON-RPC in lines."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any, cast

from lsp_harness.runtime.adapter import LaunchOrder
from lsp_harness.runtime.agent_errors import AgentError, AuthRequired
from lsp_harness.runtime.connection import AgentQuestion, AnswerReceived, FilesTouched, Observer, QuestionAnswer
from lsp_harness.runtime.structured.structured_connection import (
    REQUEST_LIMIT_S,
    PendingRequests,
    StructuredConnection,
    client_version,
)

METHOD_NOT_FOUND = -32601
COMMAND_APPROVAL = "item/commandExecution/requestApproval"
FILE_APPROVAL = "item/fileChange/requestApproval"
ACCESS_APPROVAL = "item/permissions/requestApproval"
USER_INPUT = "item/tool/requestUserInput"
ASK_SETTINGS: Sequence[Mapping[str, str]] = (
    {"approvalPolicy": "untrusted", "sandbox": "workspace-write"},
    {"approvalPolicy": "on-request", "sandbox": "read-only"},
)
"""Settings with which codex asks before everything but commands that it knows to be harmless. A version that does not
know the first ones takes the second."""
LOGIN_HINT = "run `codex login`, or set OPENAI_API_KEY"
KEPT_CHANGES = 200
"""Number of file changes whose texts are remembered for the question about them."""


class AppServerRefused(AgentError):
    """Codex does not do what it was asked."""


class AppServerConnection(StructuredConnection):
    """A connection to codex.

    Args:
        order: The order to start it.
        observe: Receives each observation of the agent: a state, a message, a question, its end.
        key: A key that is used if there is no login. It stays in the memory of the program.
        key_arguments: Arguments with which the program keeps a key in its memory only.
    """

    def __init__(self, order: LaunchOrder, observe: Observer, key: str, key_arguments: Sequence[str]) -> None:
        super().__init__(order, observe)
        self._key, self._key_arguments = key, tuple(key_arguments)
        self._requests = PendingRequests()
        self._questions: dict[str, tuple[object, str]] = {}
        self._changes: dict[str, list[Mapping[str, Any]]] = {}
        self._thread_id = self._turn_id = ""
        self._answer = ""

    async def greet(self) -> None:
        """Begin the protocol and a thread."""
        await self._initialize()
        account = await self._request("account/read", {})
        if account.get("account") is None and account.get("requiresOpenaiAuth"):
            await self._log_in()
        self._thread_id = await self._start_thread()

    async def submit(self, message: str) -> bool:
        """Start a turn."""
        self._answer = ""
        self.claim("working", "message-sent")
        turn = {"threadId": self._thread_id, "input": [{"type": "text", "text": message}]}
        started = await self._request("turn/start", turn)
        self._turn_id = str(started["turn"]["id"])
        return True

    async def interrupt(self) -> None:
        """Interrupt the turn."""
        if self._turn_id:
            await self._request("turn/interrupt", {"threadId": self._thread_id, "turnId": self._turn_id})

    async def answer(self, question: AgentQuestion, answer: QuestionAnswer) -> None:
        """Answer a request. Codex confirms it by `serverRequest/resolved`."""
        if question.id not in self._questions:
            return
        request_id, method = self._questions.pop(question.id)
        value: dict[str, Any]
        if method == USER_INPUT:
            asked = question.input.get("questions") or ()
            value = {"answers": {str(item.get("id")): {"answers": [answer.text]} for item in asked}}
        elif method == ACCESS_APPROVAL:
            value = {"permissions": question.input.get("permissions") if answer.is_allowed else {}, "scope": "turn"}
        else:
            value = {"decision": "accept" if answer.is_allowed else "decline"}
        await self.program.send({"id": request_id, "result": value})

    def fail_requests(self, error: AgentError) -> None:
        """End all requests that wait for the agent."""
        self._requests.fail_all(error)

    async def handle(self, message: dict[str, Any]) -> None:
        """Handle a message of codex."""
        method = message.get("method")
        if method is None:
            if "error" in message:
                error = message["error"]
                self._requests.resolve(message["id"], AppServerRefused(f"codex refused: {error.get('message')}"))
            else:
                self._requests.resolve(message["id"], message.get("result") or {})
        elif "id" in message:
            await self._take_request(message["id"], method, message.get("params") or {})
        else:
            self._take_notice(method, message.get("params") or {})

    async def _take_request(self, request_id: object, method: str, params: Mapping[str, Any]) -> None:
        question_id = str(request_id)
        item = str(params.get("itemId", ""))
        match method:
            case "item/commandExecution/requestApproval":
                command = str(params.get("command") or "")
                text = str(params.get("reason") or f"codex wants to run: {command}")
                value = {"command": command, "cwd": params.get("cwd")}
                question = AgentQuestion(question_id, "permission", text, "shell", value, ("accept", "decline"))
            case "item/fileChange/requestApproval":
                changes = self._changes.get(item, [])
                paths = [str(change.get("path")) for change in changes]
                text = str(params.get("reason") or f"codex wants to change {', '.join(paths) or 'files'}")
                value = {"paths": paths, "changes": changes}
                question = AgentQuestion(question_id, "permission", text, "edit", value, ("accept", "decline"))
            case "item/permissions/requestApproval":
                text = str(params.get("reason") or "codex wants more permissions")
                value = {"permissions": params.get("permissions")}
                question = AgentQuestion(question_id, "permission", text, "permissions", value, ("accept", "decline"))
            case "item/tool/requestUserInput":
                asked: list[Mapping[str, Any]] = params.get("questions") or []
                text = "\n".join(str(entry.get("question", "")) for entry in asked)
                options = tuple(str(o.get("label")) for entry in asked for o in entry.get("options") or ())
                question = AgentQuestion(question_id, "question", text, method, {"questions": asked}, options)
            case _:
                error = {"code": METHOD_NOT_FOUND, "message": "this client does not offer that"}
                await self.program.send({"id": request_id, "error": error})
                return
        self._questions[question_id] = (request_id, method)
        self.ask(question)

    def _take_notice(self, method: str, params: Mapping[str, Any]) -> None:
        if params.get("threadId", self._thread_id) != self._thread_id:
            # a thread of a subagent
            return
        match method:
            case "item/agentMessage/delta":
                self.observe(AnswerReceived(str(params["delta"])))
            case "item/started" if params["item"].get("type") == "fileChange":
                if len(self._changes) >= KEPT_CHANGES:
                    self._changes.clear()
                self._changes[str(params["item"]["id"])] = list(params["item"].get("changes") or ())
            case "item/completed":
                self._take_item(params["item"])
            case "turn/started":
                self._turn_id = str(params["turn"]["id"])
            case "turn/completed":
                self._take_turn(params["turn"])
            case "error":
                self._take_error(params)
            case "serverRequest/resolved":
                question_id = str(params.get("requestId"))
                self._questions.pop(question_id, None)
                self.settle(question_id)
            case _:
                pass

    def _take_item(self, item: Mapping[str, Any]) -> None:
        if item.get("type") == "agentMessage":
            # the last one is the answer, those before it tell what codex is about to do
            self._answer = str(item.get("text") or "")
        elif item.get("type") == "fileChange":
            self._changes.pop(str(item.get("id")), None)
            if item.get("status") == "completed":
                self.observe(FilesTouched(tuple(str(change["path"]) for change in item.get("changes") or ())))

    def _take_turn(self, turn: Mapping[str, Any]) -> None:
        self._turn_id = ""
        self._questions.clear()
        error: Mapping[str, Any] = turn.get("error") or {}
        if _is_login_error(error):
            self.claim_login("unauthorized", str(error.get("message")))
            return
        is_failed = turn.get("status") == "failed"
        self.finish_turn(
            str(error.get("message")) if is_failed else self._answer, "turn-completed", is_failed=is_failed
        )

    def _take_error(self, params: Mapping[str, Any]) -> None:
        error: Mapping[str, Any] = params.get("error") or {}
        if _is_login_error(error):
            self.claim_login("unauthorized", str(error.get("message")))

    async def _start_thread(self) -> str:
        spec = self.order.spec
        # its own reviewer would decide in place of the gate
        thread: dict[str, Any] = {"cwd": str(spec.workdir), "approvalsReviewer": "user"}
        if spec.model:
            thread["model"] = spec.model
        asking = ASK_SETTINGS
        if spec.permission_mode:
            asking = ({"approvalPolicy": spec.permission_mode, "sandbox": "workspace-write"},)
        for settings in asking[:-1]:
            with suppress(AppServerRefused):
                return _thread_id(await self._request("thread/start", {**thread, **settings}))
        return _thread_id(await self._request("thread/start", {**thread, **asking[-1]}))

    async def _initialize(self) -> None:
        info = {"name": "lsp-harness", "title": "lsp-harness", "version": client_version()}
        await self._request("initialize", {"clientInfo": info})
        await self.program.send({"method": "initialized"})

    async def _log_in(self) -> None:
        """Log in by a key in a program that writes no credentials to the disk."""
        if not self._key:
            raise AuthRequired("codex has no login", LOGIN_HINT)
        first = self.program
        await self.launch((*self.order.argv, *self._key_arguments))
        await first.end(timeout_s=1.0)
        await self._initialize()
        await self._request("account/login/start", {"type": "apiKey", "apiKey": self._key})

    async def _request(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        number, future = self._requests.add()
        await self.program.send({"id": number, "method": method, "params": params})
        try:
            async with asyncio.timeout(REQUEST_LIMIT_S):
                return await future
        except TimeoutError:
            raise AgentError(f"codex does not answer {method}", "stop it") from None


def _thread_id(started: Mapping[str, Any]) -> str:
    return str(started["thread"]["id"])


def _is_login_error(error: Mapping[str, Any]) -> bool:
    information = error.get("codexErrorInfo")
    if not isinstance(information, dict):
        return information == "unauthorized"
    details = cast("dict[str, Mapping[str, Any]]", information).values()
    return any(detail.get("httpStatusCode") == HTTPStatus.UNAUTHORIZED for detail in details)
