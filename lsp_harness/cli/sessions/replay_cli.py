"""`lsp-harness replay`: a session computed again from its log."""

import asyncio
import difflib
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from lsp_harness.cli.console import JsonOption, print_json, say
from lsp_harness.cli.sessions.session_flags import SessionFlags
from lsp_harness.errors import HarnessError
from lsp_harness.kernel.log.log_reader import read_history
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.sessions.open_session import OpenSession
from lsp_harness.sessions.replay import (
    RecordedCall,
    StateReplay,
    as_json,
    ask_again,
    find_calls,
    replay_state,
)
from lsp_harness.sessions.session_opening import open_session, open_without_model
from lsp_harness.sessions.session_options import SessionOptions
from lsp_harness.text.visible_text import escape_controls
from lsp_harness.text.wording import format_count
from lsp_harness.wire.event import Event


def replay(
    id: Annotated[
        str,
        Parameter(help="The name of a session, its beginning or its end. The default is the last one here."),
    ] = "",
    /,
    *,
    ask: Annotated[
        bool,
        Parameter(("--ask", "--model"), negative="", help="Send each recorded prompt to the model again, and compare."),
    ] = False,
    provider: Annotated[str, Parameter(("--provider", "-p"), help="Where the model runs, as for `run`.")] = "",
    json: JsonOption = False,
) -> int:
    """Compute a session again from its log, and compare the results.

    The state is folded in several ways, which must agree, and each prompt is built again. Nothing is written. The exit
    status is 1 if the log has gaps or the states differ. With --model, the model may answer otherwise than it did: the
    differences are shown, and the exit status stays 0.
    """
    store = SessionStore()
    name = store.find(id, Path.cwd())
    events = list(read_history(store.folder, name))
    state = replay_state(events)
    options = _options_of(events, provider)
    calls, answers, problem = asyncio.run(_replay_calls(options, events, ask=ask))
    if json:
        rows = [as_json(call, answer) for call, answer in zip(calls, answers, strict=True)]
        print_json({"session_id": name, **asdict(state), "is_sound": state.is_sound, "calls": rows, "problem": problem})
    else:
        say(name)
        _show_state(state)
        _show_calls(calls, problem)
        for call, answer in zip(calls, answers, strict=True):
            if answer is not None:
                _show_answer(call, answer)
    return 0 if state.is_sound else 1


def _options_of(events: list[Event], provider: str) -> SessionOptions:
    """Return the options of a session that answers as the recorded one, as far as its log says them."""
    found: list[dict[str, Any]] = [event.data for event in events if event.type == "session.started"]
    options = SessionFlags(provider=provider).options("replay")
    root = str(found[0].get("root") or "") if found else ""
    try:
        options = replace(options, cwd=root)
    except HarnessError:
        # the folder was removed; the prompts then say so
        return replace(options, session_persistence=False)
    return replace(options, session_persistence=False)


async def _replay_calls(
    options: SessionOptions, events: list[Event], *, ask: bool
) -> tuple[list[RecordedCall], list[str | None], str]:
    """Return the calls, the answers of today, and why there are none."""
    try:
        opened = await (open_session(options) if ask else open_without_model(options))
    except HarnessError as error:
        return [], [], error.message
    try:
        calls = find_calls(events, opened.create_chat_driver())
        answers: list[str | None] = [await _ask(opened, call) if ask else None for call in calls]
    except HarnessError as error:
        return [], [], error.message
    finally:
        await opened.aclose()
    return calls, answers, ""


async def _ask(opened: OpenSession, call: RecordedCall) -> str | None:
    return await ask_again(opened, call) if call.answer is not None else None


def _show_state(state: StateReplay) -> None:
    events, turns = format_count(state.events, "event"), format_count(state.turns, "turn")
    gaps = f"without the numbers {', '.join(map(str, state.missing[:5]))}" if state.missing else "without gaps"
    say(f"{events} in {turns}, {gaps}")
    say(f"state: {'equal' if state.is_equal else 'DIFFERENT'}, with {format_count(state.messages, 'message')}")


def _show_calls(calls: list[RecordedCall], problem: str) -> None:
    if problem:
        say(f"the calls of the model were not computed: {problem}")
    elif calls:
        same = sum(call.is_same_prompt for call in calls)
        say(f"prompts: {same} of {len(calls)} are equal to the recorded ones")
        if same < len(calls):
            say("(others had other options, tools, settings or another version)")


def _show_answer(call: RecordedCall, answer: str) -> None:
    recorded = call.answer or ""
    if answer == recorded:
        say(f"event {call.seq}: the same answer")
        return
    say(f"event {call.seq}: another answer")
    for line in difflib.unified_diff(recorded.splitlines(), answer.splitlines(), "recorded", "now", lineterm="", n=1):
        say(escape_controls(f"  {line}"))
