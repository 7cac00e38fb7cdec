"""The adapter `lsp-harness`: our own agent, as `lsp-harness session` serves it."""

import asyncio
import sys
from collections.abc import Mapping
from typing import Any

from lsp_harness.runtime.adapter import Adapter, Launch, LaunchOrder, Probe
from lsp_harness.runtime.agent_errors import AgentError, InvalidSpec, SpawnFailed
from lsp_harness.runtime.agent_spec import AgentSpec, TransportName
from lsp_harness.runtime.connection import (
    AgentQuestion,
    AnswerReceived,
    Connection,
    FilesTouched,
    Observer,
    QuestionAnswer,
)
from lsp_harness.runtime.structured.structured_connection import StructuredConnection
from lsp_harness.wire.version import VERSION

ALLOWED_ARGUMENTS = frozenset(
    {"--driver", "--max-turns", "--max-seconds", "--max-tokens-total", "--system-prompt", "--session", "--resume"}
)
"""Options that a client may give. The others decide who is asked, or which programs are started."""


ANSWER_S = 600
"""Time for an answer of the gate, which may have to wait for a person."""


class OwnAgent(Adapter):
    """The adapter of lsp-harness as an agent. It asks the permission gate of the runtime about each action."""

    name = "lsp-harness"
    program = sys.executable
    transports: tuple[TransportName, ...] = ("stream-json",)

    def build_launch(self, spec: AgentSpec, transport: TransportName) -> Launch:
        """Return the command of a session that asks its client about permissions."""
        for argument in spec.args:
            name, separator, _ = argument.partition("=")
            if name not in ALLOWED_ARGUMENTS or not separator:
                allowed = ", ".join(f"{option}=…" for option in sorted(ALLOWED_ARGUMENTS))
                raise InvalidSpec(f"the argument {name!r} is not allowed", f"use only these: {allowed}")
        if spec.permission_mode:
            raise InvalidSpec("an agent of the type lsp-harness takes no permission mode", "set permissions.mode")
        model = [f"--model={spec.model}"] if spec.model else []
        # without -P, Python would import files of the working folder
        session = (sys.executable, "-P", "-m", "lsp_harness", "session", "--ask-permissions")
        return Launch((*session, f"--permission-timeout={ANSWER_S}", *model, *spec.args))

    async def probe(self) -> Probe:
        """Return that the agent is available: it is this program."""
        return Probe(sys.executable, VERSION, is_recorded=True, auth="not needed")

    def connect(self, order: LaunchOrder, observe: Observer) -> Connection:
        """Return a connection over the objects of a session."""
        return OwnAgentConnection(order, observe)


class OwnAgentConnection(StructuredConnection):
    """The connection to a session: prompts and commands in, the objects of its events out (see docs/sessions.md).

    Args:
        order: The order to start it.
        observe: Receives each observation of the agent: a state, a message, a question, its end.
    """

    def __init__(self, order: LaunchOrder, observe: Observer) -> None:
        super().__init__(order, observe)
        self._prompts = 0
        self._is_ready = asyncio.Event()
        self._refusal: AgentError | None = None

    async def greet(self) -> None:
        """Wait until the session says that it is ready."""
        await self._is_ready.wait()
        if self._refusal:
            raise self._refusal

    async def submit(self, message: str) -> bool:
        """Send a prompt."""
        self._prompts += 1
        self.claim("working", "message-sent")
        await self.program.send({"id": str(self._prompts), "prompt": message})
        return True

    async def interrupt(self) -> None:
        """Stop the running turn."""
        await self.program.send({"command": "interrupt"})

    async def answer(self, question: AgentQuestion, answer: QuestionAnswer) -> None:
        """Answer a question about a permission."""
        decision = "allow" if answer.is_allowed else "deny"
        command = {"command": "permission", "request_id": question.id, "decision": decision, "reason": answer.reason}
        await self.program.send(command)
        self.settle(question.id)

    def fail_requests(self, error: AgentError) -> None:
        """End the wait for the session."""
        self._refusal = self._refusal or error
        self._is_ready.set()

    async def handle(self, message: dict[str, Any]) -> None:
        """Handle an object of the session."""
        match message.get("type"):
            case "ready":
                self._is_ready.set()
            case "error" if not self._is_ready.is_set():
                self.fail_requests(SpawnFailed(str(message.get("message")), "look at the settings of lsp-harness"))
            case "text":
                self.observe(AnswerReceived(str(message.get("content", ""))))
            case "permission_request":
                self._take_question(message)
            case "checkpoint":
                if paths := tuple(str(path) for path in message.get("paths") or ()):
                    self.observe(FilesTouched(paths))
            case "turn_stop" if message.get("id") == str(self._prompts):
                reason = str(message.get("reason"))
                text = str(message.get("text") or message.get("detail") or "")
                self.finish_turn(text, f"turn-{reason}", is_failed=reason == "error")
            case _:
                pass

    def _take_question(self, message: Mapping[str, Any]) -> None:
        tool, input = str(message.get("tool")), dict[str, Any](message.get("input") or {})
        text = f"lsp-harness wants to use {tool}: {message.get('reason') or ''}".rstrip(": ")
        self.ask(AgentQuestion(str(message["request_id"]), "permission", text, tool, input, ("allow", "deny")))
