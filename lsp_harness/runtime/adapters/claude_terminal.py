"""The connection to claude in a terminal, with hooks.

The hooks say when a message begins and ends, and they carry the whole answer. A permission question comes as a hook,
too, and is answered by its reply: the dialog in the terminal closes without a key.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from lsp_harness.runtime.adapter import LaunchOrder
from lsp_harness.runtime.agent_state import Activity, BlockKind, StateClaim, StateSource
from lsp_harness.runtime.connection import (
    AgentQuestion,
    AnswerReceived,
    ClaimWithdrawn,
    Observation,
    Observer,
    QuestionAnswer,
    QuestionWithdrawn,
    StateClaimed,
)
from lsp_harness.runtime.pty_connection import PtyConnection, ReadVersion
from lsp_harness.runtime.pty_traits import PtyTraits
from lsp_harness.runtime.structured.hook_receiver import HookReceiver

EVENTS = ("UserPromptSubmit", "PermissionRequest", "Stop")
HOOK_TIMEOUT_S = 24 * 3600
"""Time for which claude waits for an answer. The gate may ask a person."""
HOOK_WAIT_S = 1.0
"""Time for the hook of a question that the terminal shows. After it, the question is answered by keys."""
LOGIN_LOOK_S = 5.0
"""Time between two looks for a login, while there is none."""
DENIED = "The permission gate denied it."
CheckLogin = Callable[[], Awaitable[bool]]


class ClaudeTerminal(PtyConnection):
    """A connection to claude in a terminal.

    Args:
        order: The order to start it.
        traits: The keys that claude understands.
        observe: Receives each observation of the agent: a state, a message, a question, its end.
        read_version: Returns the version of the installed program.
        check_login: Returns whether it has a login. It shows its prompt without one, too.
        login_hint: The way to log in.
    """

    def __init__(
        self,
        order: LaunchOrder,
        traits: PtyTraits,
        observe: Observer,
        read_version: ReadVersion,
        check_login: CheckLogin,
        login_hint: str,
    ) -> None:
        super().__init__(order, traits, self._filter, read_version)
        self._forward, self._check_login, self._login_hint = observe, check_login, login_hint
        self._hooks = HookReceiver(self._take_hook)
        self._answers: dict[str, asyncio.Future[QuestionAnswer]] = {}
        self._shown: dict[str, AgentQuestion] = {}
        self._count = 0
        self._looking_for_login: asyncio.Task[None] | None = None
        self._held_claim: StateClaimed | None = None

    async def start(self) -> None:
        """Start the receiver of the hooks and the program."""
        has_login = await self._check_login()
        await self._hooks.start()
        hook = {"type": "http", "url": self._hooks.url, "headers": self._hooks.headers, "timeout": HOOK_TIMEOUT_S}
        settings = self._order.folder / "claude-settings.json"
        # the token must not be in the list of processes
        settings.touch(mode=0o600)
        settings.write_text(json.dumps({"hooks": {event: [{"hooks": [hook]}] for event in EVENTS}}))
        self._order = replace(self._order, argv=(*self._order.argv, "--settings", str(settings)))
        if not has_login:
            self._looking_for_login = asyncio.ensure_future(self._look_for_login())
        try:
            await super().start()
        except BaseException:
            await self._close_hooks()
            raise
        if self._looking_for_login:
            self._claim_hook("transport", "blocked", "auth-status", kind="auth", message=self._login_hint)

    async def answer(self, question: AgentQuestion, answer: QuestionAnswer) -> None:
        """Answer by the reply of the hook, or by keys."""
        future = self._answers.get(question.id)
        if future is None:
            await super().answer(question, answer)
        elif not future.done():
            future.set_result(answer)

    async def stop(self, *, force: bool = False, timeout_s: float = 5.0) -> list[int]:
        """End the program and the receiver."""
        left = await super().stop(force=force, timeout_s=timeout_s)
        await self._close_hooks()
        return left

    async def _close_hooks(self) -> None:
        if looking := self._looking_for_login:
            looking.cancel()
            with suppress(asyncio.CancelledError):
                await looking
        await self._hooks.aclose()

    # -- hooks
    async def _take_hook(self, facts: Mapping[str, Any]) -> Mapping[str, Any]:
        event = facts.get("hook_event_name")
        if facts.get("agent_id") and event != "PermissionRequest":
            # a subagent of claude
            return {}
        if event == "PermissionRequest":
            return await self._ask(facts)
        if event == "UserPromptSubmit":
            self._work.note()
            self._claim_hook("hook", "working", "UserPromptSubmit")
            self._changed.set()
        elif event == "Stop":
            self._forward(AnswerReceived(str(facts.get("last_assistant_message") or ""), is_whole=True))
            self._claim_hook("hook", "idle", "Stop")
        return {}

    async def _ask(self, facts: Mapping[str, Any]) -> Mapping[str, Any]:
        tool, value = str(facts.get("tool_name")), dict[str, Any](facts.get("tool_input") or {})
        text = str(value.get("description") or f"claude wants to use {tool}")
        self._count += 1
        question = AgentQuestion(f"h{self._count}", "permission", text, tool, value, ("allow", "deny"), delivery="hook")
        future: asyncio.Future[QuestionAnswer] = asyncio.get_running_loop().create_future()
        self._answers[question.id] = future
        self._claim_hook("hook", "blocked", "PermissionRequest", kind="permission", message=text)
        self._forward(question)
        try:
            answer = await future
        finally:
            del self._answers[question.id]
            self._forward(QuestionWithdrawn(question.id))
            if not self._answers:
                self._claim_hook("hook", "working", "PermissionRequest/answered")
        decision: dict[str, Any] = {"behavior": "allow"}
        if not answer.is_allowed:
            decision = {"behavior": "deny", "message": answer.reason or DENIED}
        return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}

    def _claim_hook(
        self, source: StateSource, activity: Activity, rule: str, *, kind: BlockKind = "", message: str = ""
    ) -> None:
        self._forward(StateClaimed(StateClaim(source, activity, f"claude/{rule}", kind, message)))

    # -- what the terminal shows
    def _filter(self, observation: Observation) -> None:
        """Forward what the terminal shows, but not a question that a hook asks."""
        match observation:
            case AgentQuestion(kind="permission") as question:
                self._shown[question.id] = question
                asyncio.get_running_loop().call_later(HOOK_WAIT_S, self._forward_shown, question.id)
            case StateClaimed(claim) if self._looking_for_login and claim.activity in ("idle", "done"):
                # it shows its prompt without a login, too
                self._held_claim = observation
            case QuestionWithdrawn(question_id) if self._shown.pop(question_id, None):
                pass
            case _:
                self._forward(observation)

    def _forward_shown(self, question_id: str) -> None:
        """Forward a question that the terminal still shows, if no hook asks it."""
        if question_id not in self._shown:
            return
        if self._answers:
            asyncio.get_running_loop().call_later(HOOK_WAIT_S, self._forward_shown, question_id)
        else:
            self._forward(self._shown.pop(question_id))

    async def _look_for_login(self) -> None:
        # nothing tells about a login but the files of claude
        while True:
            await asyncio.sleep(LOGIN_LOOK_S)
            if await self._check_login():
                break
        self._looking_for_login = None
        self._forward(ClaimWithdrawn("transport"))
        if self._held_claim:
            self._forward(self._held_claim)
