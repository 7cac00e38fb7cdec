"""Computes a session again from its log: its state, the prompts of its conversation, and on demand its answers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from lsp_harness.chat.chat_driver import ChatDriver
from lsp_harness.chat.conversation_prompt import ChatPrompt, format_call
from lsp_harness.events.event_codec import decode_event
from lsp_harness.events.model_events import ModelCompleted, ToolCall
from lsp_harness.kernel.projections.session_state import SessionState, project_session
from lsp_harness.sessions.open_session import OpenSession
from lsp_harness.wire.event import Event, decode, encode

MAX_MISSING = 1_000


@dataclass(frozen=True, slots=True)
class StateReplay:
    """The comparison of states that were computed in different ways.

    Attributes:
        events: The number of events.
        turns: The number of turns.
        messages: The number of messages of the conversation.
        missing: The first numbers that no event has, although a later one exists.
        is_equal: Whether all ways give the same state.
    """

    events: int
    turns: int
    messages: int
    missing: tuple[int, ...]
    is_equal: bool

    @property
    def is_sound(self) -> bool:
        """Return whether the log is complete and says the same in every way."""
        return self.is_equal and not self.missing


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call of a model in a log.

    Attributes:
        seq: The number of its first event.
        turn: The turn.
        model: The model that answered.
        prompt: The prompt, built again from the events before it.
        is_same_prompt: Whether it is the recorded prompt.
        answer: The recorded answer with its tool calls, or None if there was none.
    """

    seq: int
    turn: int | None
    model: str
    prompt: ChatPrompt
    is_same_prompt: bool
    answer: str | None


def replay_state(events: Sequence[Event]) -> StateReplay:
    """Fold the events at once, event by event from the middle, and from their lines again, and compare the states."""
    whole = project_session(events)
    middle = len(events) // 2
    continued = project_session(events[:middle])
    for event in events[middle:]:
        continued.apply(event)
    read_again = project_session(decode(encode(event)) for event in events)
    numbers = {event.seq for event in events}
    # a damaged log may have any number, so not all numbers up to the last one are tried
    missing = tuple(islice((seq for seq in range(whole.next_seq) if seq not in numbers), MAX_MISSING))
    is_equal = whole == continued == read_again
    return StateReplay(len(events), whole.turn_count, len(whole.conversation.messages), missing, is_equal)


def find_calls(events: Iterable[Event], driver: ChatDriver) -> list[RecordedCall]:
    """Return the calls of conversations, each with the prompt that the events before it give.

    Args:
        events: The events of the session.
        driver: Has the system text with the tools and the names that the model sees. They are not in the log.
    """
    state, calls = SessionState(), list[RecordedCall]()
    for event in events:
        recorded_hash = event.data.get("prompt_hash")
        if event.type == "model.started" and recorded_hash:
            # the window of the model decided how the tools were shown
            prompts = sorted(driver.render_all(state.conversation), key=lambda prompt: prompt.hash != recorded_hash)
            prompt, is_same = prompts[0], prompts[0].hash == recorded_hash
            model = str(event.data.get("model", ""))
            calls.append(RecordedCall(event.seq or 0, event.turn, model, prompt, is_same, None))
        elif event.type == "model.completed" and calls and calls[-1].turn == event.turn and calls[-1].answer is None:
            calls[-1] = _with_answer(calls[-1], event)
        state.apply(event)
    return calls


def _with_answer(call: RecordedCall, event: Event) -> RecordedCall:
    answer = decode_event(event.type, event.data)
    if not isinstance(answer, ModelCompleted):
        return call
    text = render_answer(answer.text, answer.tool_calls)
    return RecordedCall(call.seq, call.turn, call.model, call.prompt, call.is_same_prompt, text)


async def ask_again(opened: OpenSession, call: RecordedCall) -> str:
    """Send the prompt of a call to the model of a session, and return its answer in the form of `render_answer`.

    Raises:
        EngineError: The model cannot be reached.
    """
    answer = await opened.create_chat_driver().ask_again(call.prompt)
    return render_answer(answer.text, answer.calls)


def render_answer(text: str, calls: Sequence[ToolCall]) -> str:
    """Return an answer with its calls as the model writes them, so that two answers can be compared."""
    return "\n".join([*([text] if text else []), *(format_call(call) for call in calls)])


def as_json(call: RecordedCall, answer: str | None) -> dict[str, Any]:
    """Return a call for programs. `answer` is that of today, or None if no model was asked."""
    fields: dict[str, Any] = {"seq": call.seq, "turn": call.turn, "model": call.model}
    fields |= {"is_same_prompt": call.is_same_prompt, "recorded": call.answer}
    return fields if answer is None else fields | {"answer": answer, "is_same_answer": answer == call.answer}
