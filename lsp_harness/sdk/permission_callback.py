"""The call of `can_use_tool`: what it is given, and what its answer means.

Everything that is not a clear answer denies: an exception, an answer of another form, and no answer in time.
"""

import json
from collections.abc import Mapping
from typing import Any, cast

from lsp_harness.sdk.daemon_thread import FunctionFailed, call_function
from lsp_harness.sdk.harness_options import PermissionCallback
from lsp_harness.wire.client_events import PermissionRequest

DECISIONS = ("allow", "deny", "ask")
MEMORIES = ("once", "session", "always")


def callback_context(request: PermissionRequest) -> dict[str, Any]:
    """Return the argument of `can_use_tool`."""
    return {
        "toolName": request.tool,
        "toolInputJson": json.dumps(request.input, ensure_ascii=False),
        "tool_name": request.tool,
        "tool_input": dict(request.input),
        "call_id": request.call_id,
        "session_id": request.session_id,
        "request_id": request.request_id,
        "reason": request.reason,
        "risk": request.risk,
        "mode": request.mode,
        "suggestions": list(request.suggestions),
        "paths": list(request.paths),
        "text": request.text,
    }


async def ask_callback(callback: PermissionCallback, request: PermissionRequest, limit_s: float) -> dict[str, Any]:
    """Return the decision of `can_use_tool` as the fields of the command `permission`. This function never raises."""
    try:
        return read_answer(await call_function(callback, callback_context(request), limit_s))
    except FunctionFailed as error:
        return _make_denial(f"can_use_tool {error}")


def read_answer(answer: Any) -> dict[str, Any]:
    """Return the fields of the command `permission` for an answer of `can_use_tool`."""
    if isinstance(answer, str):
        answer = {"decision": answer}
    if not isinstance(answer, Mapping):
        return _make_denial(f"can_use_tool returned {answer!r:.80}, which is not an answer")
    fields = dict(cast("Mapping[str, Any]", answer))
    decision, reason = fields.get("decision"), fields.get("reason")
    changed, memory = fields.get("updated_input"), fields.get("remember")
    if decision not in DECISIONS:
        return _make_denial(
            f"can_use_tool returned the decision {decision!r:.80}, which is none of {', '.join(DECISIONS)}"
        )
    if memory is not None and memory not in MEMORIES:
        return _make_denial(f"can_use_tool returned remember={memory!r:.80}, which is none of {', '.join(MEMORIES)}")
    if changed is not None and not (isinstance(changed, Mapping) and decision == "allow"):
        return _make_denial("can_use_tool returned an updated_input that is not an object, or that is not allowed")
    values: dict[str, Any] = {
        "decision": decision,
        "reason": reason if isinstance(reason, str) else "",
        "remember": memory,
    }
    values["updated_input"] = dict(cast("Mapping[str, Any]", changed)) if changed is not None else None
    try:
        # the session gets JSON
        json.dumps(values)
    except (TypeError, ValueError, RecursionError) as error:
        return _make_denial(f"can_use_tool returned an updated_input that is not JSON: {error}")
    return {key: value for key, value in values.items() if value is not None}


def _make_denial(reason: str) -> dict[str, Any]:
    return {"decision": "deny", "reason": reason}
