"""Calls of one hook: a command that reads JSON, an address to which JSON is posted, or a function."""

import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from lsp_harness.permission.hook import Hook, HookAnswer, HookError
from lsp_harness.permission.tool_callback import call_in_thread
from lsp_harness.process.tool_run import run_tool

ANSWER_KEYS = frozenset({"decision", "reason", "updated_input", "context"})
DENY_EXIT_CODE = 2
MAX_ANSWER_BYTES = 1_000_000
MAX_REASON_CHARS = 2_000
WORDS = ("allow", "deny", "ask", "")


async def run_hook(hook: Hook, payload: Mapping[str, Any], folder: Path | None = None) -> HookAnswer:
    """Return the answer of a hook. The caller limits the time.

    Raises:
        HookError: The hook failed.
    """
    if hook.function is not None:
        return await _call_function(hook, payload)
    try:
        data = json.dumps(payload, default=str).encode("utf-8", "replace")
    except (TypeError, ValueError, RecursionError) as error:
        raise HookError(f"the payload is no JSON: {error}") from error
    return await (_post(hook, data) if hook.url else _run_command(hook, data, folder))


async def _call_function(hook: Hook, payload: Mapping[str, Any]) -> HookAnswer:
    function = hook.function
    assert function is not None
    if inspect.iscoroutinefunction(function):
        answer = await function(payload)
    else:
        answer = await call_in_thread(lambda: function(payload))
        if inspect.isawaitable(answer):
            answer = await answer
    return HookAnswer() if answer is None else answer if isinstance(answer, HookAnswer) else read_hook_answer(answer)


async def _run_command(hook: Hook, data: bytes, folder: Path | None) -> HookAnswer:
    try:
        # one second more than the caller waits, so that the process is killed in any case
        result = await run_tool(["/bin/sh", "-c", hook.command], stdin=data, cwd=folder, limit_s=hook.timeout_s + 1)
    except (OSError, ValueError) as error:
        raise HookError(f"it cannot be started: {error}") from error
    errors = result.stderr.decode("utf-8", "replace").strip()[:MAX_REASON_CHARS]
    if result.exit_code == DENY_EXIT_CODE:
        return HookAnswer("deny", errors)
    if result.exit_code != 0:
        last = errors.splitlines()[-1:] or [""]
        raise HookError(f"it ended with status {result.exit_code} {last[0]}".rstrip())
    return _read_json(result.stdout)


async def _post(hook: Hook, data: bytes) -> HookAnswer:
    # the import takes a tenth of a second, and most sessions have no such hook
    import httpx2

    try:
        async with httpx2.AsyncClient(timeout=hook.timeout_s, follow_redirects=False) as client:
            response = await client.post(hook.url, content=data, headers={"content-type": "application/json"})
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, OSError) as error:
        raise HookError(f"{hook.url} cannot be reached: {type(error).__name__} {error}".rstrip()) from error
    if not response.is_success:
        raise HookError(f"{hook.url} answered {response.status_code}")
    return _read_json(response.content)


def _read_json(data: bytes) -> HookAnswer:
    if len(data) > MAX_ANSWER_BYTES:
        raise HookError(f"its answer is larger than {MAX_ANSWER_BYTES} bytes")
    text = data.strip()
    if not text.startswith(b"{"):
        # other output is for people
        return HookAnswer()
    try:
        return read_hook_answer(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise HookError(f"its answer is not valid JSON: {error}") from error


def read_hook_answer(answer: object) -> HookAnswer:
    """Return a valid answer.

    Raises:
        HookError: It is not valid. The message says why.
    """
    if isinstance(answer, str):
        answer = {"decision": answer}
    if not isinstance(answer, Mapping):
        raise HookError(f"its answer is a {type(answer).__name__} and no object")
    values = cast("Mapping[str, Any]", answer)
    if unknown := [key for key in values if key not in ANSWER_KEYS]:
        raise HookError(f"its answer has the unknown key {unknown[0]!r}; the keys are {', '.join(sorted(ANSWER_KEYS))}")
    decision, reason, context = (values.get(key) or "" for key in ("decision", "reason", "context"))
    if not isinstance(decision, str) or decision not in WORDS:
        raise HookError(f"its decision is {decision!r} and not allow, deny or ask")
    if not isinstance(reason, str) or not isinstance(context, str):
        raise HookError("its reason and its context must be texts")
    updated = values.get("updated_input")
    if updated is not None and not isinstance(updated, Mapping):
        raise HookError("its updated_input is no object")
    return HookAnswer(cast("Any", decision), reason, cast("Mapping[str, Any] | None", updated), context)
