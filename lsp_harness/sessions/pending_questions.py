"""Questions about permissions that a client answers: a program that decides about everything, or a person."""

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from lsp_harness.errors import UsageError
from lsp_harness.permission.person import CHOICES, Choice, PermissionQuestion, PersonAnswer

DECISIONS = ("allow", "deny", "ask")
CLIENT_GONE = "the client has ended, so nobody can answer"


class PendingQuestions:
    """The questions that wait for an answer of the client.

    It is the person of the permission gate (`ask`) and, for a client that decides about everything, its callback
    (`decide`).
    """

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Future[Mapping[str, Any]]] = {}
        self._asked: dict[str, PermissionQuestion] = {}
        self._has_ended = False

    async def ask(self, question: PermissionQuestion) -> PersonAnswer | None:
        """Return the answer of the person, or None if the client has nobody who answers."""
        self._asked[question.request_id] = question
        try:
            answer = await self._wait(question.request_id)
        finally:
            del self._asked[question.request_id]
        if answer["decision"] == "ask" or answer.get("reason") is CLIENT_GONE:
            # the client has nobody who could answer, or is gone itself
            return None
        reason = str(answer.get("reason") or "")
        if answer["decision"] != "allow":
            return PersonAnswer("reject", reason)
        remember = answer.get("remember") or "once"
        return PersonAnswer(cast("Choice", remember), reason)

    async def decide(self, tool: str, context: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the decision of the program about an action."""
        request_id = str(context["request_id"])
        answer = await self._wait(request_id)
        return {key: answer[key] for key in ("decision", "reason", "updated_input") if answer.get(key) is not None}

    def answer(self, request_id: str, fields: Mapping[str, Any]) -> None:
        """Give the answer to a question.

        Raises:
            UsageError: There is no such question, or the answer is not valid.
        """
        if fields.get("decision") not in DECISIONS:
            raise UsageError(f"decision must be one of {', '.join(DECISIONS)}, not {fields.get('decision')!r}")
        if fields.get("remember") not in (None, *CHOICES):
            raise UsageError(f"remember must be one of {', '.join(CHOICES)}, not {fields.get('remember')!r}")
        future = self._waiting.get(request_id)
        if future is None or future.done():
            raise UsageError(f"there is no open question {request_id!r}; it was answered, or the turn has ended")
        future.set_result(fields)

    def end(self) -> None:
        """Deny the questions that wait, and all later ones: the client is gone."""
        self._has_ended = True
        for future in self._waiting.values():
            if not future.done():
                future.set_result({"decision": "deny", "reason": CLIENT_GONE})

    @property
    def open_ids(self) -> list[str]:
        """The ids of the questions that wait, the oldest first."""
        return list(self._waiting)

    @property
    def asked(self) -> list[PermissionQuestion]:
        """The questions that a person is asked, the oldest first."""
        return list(self._asked.values())

    async def _wait(self, request_id: str) -> Mapping[str, Any]:
        if self._has_ended:
            return {"decision": "deny", "reason": CLIENT_GONE}
        future: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = future
        try:
            return await future
        finally:
            self._waiting.pop(request_id, None)
