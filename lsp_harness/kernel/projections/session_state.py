"""The state of a session: what its events say, folded one by one.

The fold reads no clock, no file and no settings. So the same events always give the same state, whoever computes it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from lsp_harness.events.code_events import CandidateGenerated
from lsp_harness.events.event_codec import decode_event
from lsp_harness.events.model_events import ModelCompleted, TokenUsage
from lsp_harness.events.session_events import (
    AgentFinished,
    QueueAdded,
    QueueEdited,
    QueueRemoved,
    QueueTaken,
    SessionForked,
    SessionStarted,
    TurnStarted,
)
from lsp_harness.events.tool_events import PermissionRequested, TaskStarted
from lsp_harness.kernel.projections.code_progress import CodeProgress
from lsp_harness.kernel.projections.conversation_activity import Activity
from lsp_harness.kernel.projections.message_history import Conversation
from lsp_harness.kernel.projections.summary import SUMMARY_TYPES, Summary
from lsp_harness.wire.event import Event


@dataclass(frozen=True, slots=True)
class OpenCall:
    """Work of a turn that has begun and not ended: a tool call or a model call. `name` is the tool or the model."""

    turn: int | None
    name: str


@dataclass(frozen=True, slots=True)
class TokenTotals:
    """The tokens of all messages and candidates of a model, in a session and its subagents."""

    input: int = 0
    output: int = 0
    cached: int = 0

    @property
    def total(self) -> int:
        """The tokens that were read and written."""
        return self.input + self.output

    @property
    def usage(self) -> TokenUsage:
        """The numbers in the form in which an event has them."""
        return TokenUsage(self.input, self.output, self.cached)

    def with_usage(self, usage: TokenUsage) -> "TokenTotals":
        """Return the totals after more tokens."""
        return TokenTotals(
            self.input + usage.input_tokens, self.output + usage.output_tokens, self.cached + usage.cached_tokens
        )


@dataclass(frozen=True, slots=True)
class QueueItem:
    """A text that the user sent for later."""

    item_id: str
    kind: str
    text: str


@dataclass(slots=True)
class SessionState:
    """The state of a session after all events until now.

    Attributes:
        next_seq: The number of the next event.
        turn_count: The number of the next turn.
        started: The first event of the session, or None if it has none of this type.
        forked: What session this one continues, or None.
        open_turns: The number of each turn that has not stopped → the id of its request.
        open_calls: The id of each tool call that has no result → the call.
        open_models: The turn of each model call that has no answer → the call.
        open_questions: The id of each question about a permission that nobody answered → the question.
        open_tasks: The id of each task that has not ended → its start.
        queue: The texts that the user sent for later, by their id, in their order.
        tokens: The tokens of all model calls, with those of subagents that have ended.
        summary: The files, decisions and findings.
        activity: What the conversation was about.
        conversation: The messages for a model.
        code: How far the last prompt of the driver "code" has come.
    """

    next_seq: int = 0
    turn_count: int = 0
    started: SessionStarted | None = None
    forked: SessionForked | None = None
    open_turns: dict[int, str | None] = field(default_factory=dict[int, "str | None"])
    open_calls: dict[str, OpenCall] = field(default_factory=dict[str, OpenCall])
    open_models: dict[int, OpenCall] = field(default_factory=dict[int, OpenCall])
    open_questions: dict[str, PermissionRequested] = field(default_factory=dict[str, PermissionRequested])
    open_tasks: dict[str, TaskStarted] = field(default_factory=dict[str, TaskStarted])
    queue: dict[str, QueueItem] = field(default_factory=dict[str, QueueItem])
    tokens: TokenTotals = field(default_factory=TokenTotals)
    summary: Summary = field(default_factory=Summary)
    activity: Activity = field(default_factory=Activity)
    conversation: Conversation = field(default_factory=Conversation)
    code: CodeProgress = field(default_factory=CodeProgress)

    def apply(self, event: Event) -> None:
        """Add one event. Events come in the order of their numbers."""
        if event.seq is None:
            return
        # a damaged line must not give the next event a number that another one has
        self.next_seq = max(self.next_seq, event.seq + 1)
        if event.turn is not None and event.turn >= self.turn_count:
            self.turn_count = event.turn + 1
        if handle := HANDLERS.get(event.type):
            handle(self, event)
        if event.type in SUMMARY_TYPES:
            self.summary = self.summary.with_event(event)
        self.activity.apply(event)
        self.conversation.apply(event)
        self.code.apply(event)

    def queued(self, kind: str) -> list[QueueItem]:
        """Return the queued texts of a kind, the oldest first."""
        return [item for item in self.queue.values() if item.kind == kind]


def project_session(events: Iterable[Event]) -> SessionState:
    """Return the state after all events, which are in the order of their numbers."""
    state = SessionState()
    for event in events:
        state.apply(event)
    return state


Handler = Callable[[SessionState, Event], None]


def _on_session_started(state: SessionState, event: Event) -> None:
    started = decode_event(event.type, event.data)
    if isinstance(started, SessionStarted) and state.started is None:
        state.started = started


def _on_session_forked(state: SessionState, event: Event) -> None:
    forked = decode_event(event.type, event.data)
    if isinstance(forked, SessionForked):
        state.forked = forked


def _on_invocation(state: SessionState, event: Event) -> None:
    state.queue.pop(str(event.data.get("item_id")), None)


def _on_turn_started(state: SessionState, event: Event) -> None:
    started = decode_event(event.type, event.data)
    if isinstance(started, TurnStarted):
        state.open_turns[started.number] = started.request_id


def _on_turn_stopped(state: SessionState, event: Event) -> None:
    if event.turn is not None:
        state.open_turns.pop(event.turn, None)


def _on_tool_started(state: SessionState, event: Event) -> None:
    state.open_calls[str(event.data.get("call_id", ""))] = OpenCall(event.turn, str(event.data.get("tool", "")))


def _on_tool_ended(state: SessionState, event: Event) -> None:
    state.open_calls.pop(str(event.data.get("call_id")), None)


def _on_model_completed(state: SessionState, event: Event) -> None:
    _on_model_ended(state, event)
    # a call that the model requests is open until it has a result, whether its tool has started or not
    answer = decode_event(event.type, event.data)
    if not isinstance(answer, ModelCompleted):
        return
    for call in answer.tool_calls:
        state.open_calls[call.call_id] = OpenCall(event.turn, call.tool)
    state.tokens = state.tokens.with_usage(answer.usage)


def _on_model_started(state: SessionState, event: Event) -> None:
    if event.turn is not None:
        state.open_models[event.turn] = OpenCall(event.turn, str(event.data.get("model", "")))


def _on_model_ended(state: SessionState, event: Event) -> None:
    if event.turn is not None:
        state.open_models.pop(event.turn, None)


def _on_candidate(state: SessionState, event: Event) -> None:
    # the driver "code" asks the model for candidates, and not for messages
    made = decode_event(event.type, event.data)
    if isinstance(made, CandidateGenerated):
        usage = TokenUsage(made.evaluated + made.reused, made.generated, made.reused)
        state.tokens = state.tokens.with_usage(usage)


def _on_agent_finished(state: SessionState, event: Event) -> None:
    finished = decode_event(event.type, event.data)
    if isinstance(finished, AgentFinished):
        state.tokens = state.tokens.with_usage(finished.usage)


def _on_permission_requested(state: SessionState, event: Event) -> None:
    question = decode_event(event.type, event.data)
    if isinstance(question, PermissionRequested):
        state.open_questions[question.request_id] = question


def _on_permission_decided(state: SessionState, event: Event) -> None:
    state.open_questions.pop(str(event.data.get("request_id")), None)


def _on_task_started(state: SessionState, event: Event) -> None:
    task = decode_event(event.type, event.data)
    if isinstance(task, TaskStarted):
        state.open_tasks[task.task_id] = task


def _on_task_ended(state: SessionState, event: Event) -> None:
    state.open_tasks.pop(str(event.data.get("task_id")), None)


def _on_queue_changed(state: SessionState, event: Event) -> None:
    match decode_event(event.type, event.data):
        case QueueAdded(item_id, kind, text):
            state.queue[item_id] = QueueItem(item_id, kind, text)
        case QueueEdited(item_id, text) if item_id in state.queue:
            state.queue[item_id] = QueueItem(item_id, state.queue[item_id].kind, text)
        case QueueRemoved(item_id) | QueueTaken(item_id):
            state.queue.pop(item_id, None)
        case _:
            pass


HANDLERS: dict[str, Handler] = {
    "session.started": _on_session_started,
    "session.forked": _on_session_forked,
    "invocation.received": _on_invocation,
    "turn.started": _on_turn_started,
    "turn.stopped": _on_turn_stopped,
    "tool.started": _on_tool_started,
    "tool.completed": _on_tool_ended,
    "tool.failed": _on_tool_ended,
    "model.started": _on_model_started,
    "model.completed": _on_model_completed,
    "candidate.generated": _on_candidate,
    "model.failed": _on_model_ended,
    "model.cancelled": _on_model_ended,
    "agent.finished": _on_agent_finished,
    "permission.requested": _on_permission_requested,
    "permission.decided": _on_permission_decided,
    "task.started": _on_task_started,
    "task.completed": _on_task_ended,
    "task.failed": _on_task_ended,
    "task.cancelled": _on_task_ended,
    "queue.added": _on_queue_changed,
    "queue.edited": _on_queue_changed,
    "queue.removed": _on_queue_changed,
    "queue.taken": _on_queue_changed,
}
"""Type of an event → the function that adds it to the state. Other types change only the summary or the messages."""
