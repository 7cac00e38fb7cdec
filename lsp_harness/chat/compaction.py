"""Makes the prompt of a long conversation smaller, tier by tier, without a model.

The pressure is the share of the token budget that the prompt uses. Each tier begins at a pressure of its own, and the
last two turns are exempt from all of them. Only if the prompt would not fit at all, older steps of these two turns are
summarized and shortened as well. Compaction appends events; the log keeps everything.

The same events always give the same prompt, because nothing here depends on time or chance.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from itertools import chain

from lsp_harness.chat.conversation_prompt import is_shortened
from lsp_harness.kernel.projections.message_history import Conversation, Message
from lsp_harness.kernel.projections.session_state import SessionState

EXEMPT_TURNS = 2
WINDOW_TURNS = 4
"""Turns that a summary replaces at once."""
PROMOTED_CHARS = 1024
"""Outputs with more characters become artifacts."""
SUMMARIZE = "summarize"
SUMMARIZE_MORE = "summarize_more"
PRESSURES = {"drop_thinking": 0.5, "promote": 0.65, "tombstone": 0.75, "summarize": 0.85, "summarize_more": 0.95}
"""Tier → the pressure at which it begins."""


@dataclass(frozen=True, slots=True)
class CompactionStep:
    """One tier that is applied.

    Attributes:
        tier: The name of the tier.
        until_seq: The number of the last event that it is about.
        summary: The text in place of the messages up to that event, or None.
        promoted: The messages whose outputs become artifacts.
    """

    tier: str
    until_seq: int
    summary: str | None = None
    promoted: tuple[Message, ...] = ()

    def preview(self, conversation: Conversation) -> Conversation:
        """Return a conversation as it is after this step. Outputs that become artifacts stay as they are."""
        match self.tier:
            case "drop_thinking":
                return replace(conversation, thinking_until=self.until_seq)
            case "tombstone":
                return replace(conversation, tombstoned_until=self.until_seq)
            case _:
                after = replace(conversation)
                if self.summary is not None:
                    after.summary = self.summary
                if self.summary is not None or self.tier == "cut":
                    after.cut(self.until_seq)
                return after


def plan_step(
    state: SessionState, pressure: float, budget: int = 0, denied: Collection[str] = ()
) -> CompactionStep | None:
    """Return the next tier to apply at a pressure, or None if nothing more can be left out.

    Args:
        state: The state of the session.
        pressure: The tokens of the prompt divided by the budget. Above 1, the prompt does not fit.
        budget: The most tokens of a prompt. A summary may use about a quarter of them. 0 means no limit.
        denied: The names of tiers that must not be applied.
    """
    if pressure < min(PRESSURES.values()):
        return None
    exempt = exempt_from(state)
    # the plans are made one by one, because each looks at all messages
    tiers = (plan(state, exempt) for tier, plan in TIERS.items() if pressure >= PRESSURES[tier])
    emergencies = (plan(state) for plan in EMERGENCY_TIERS if pressure > 1)
    step = next((step for step in chain(tiers, emergencies) if step and step.tier not in denied), None)
    if step is None or not step.tier.startswith(SUMMARIZE):
        return step
    # a token has about four characters
    lines = state.activity.lines_within(budget) if budget else state.activity.lines
    return replace(step, summary="\n".join(lines))


def exempt_from(state: SessionState) -> int:
    """Return the number of the first event of the last two turns. Messages from there on are exempt."""
    turns = sorted({message.turn for message in state.conversation.messages if message.turn >= 0})
    if len(turns) < EXEMPT_TURNS:
        return 0
    first_turn = turns[-EXEMPT_TURNS]
    return min(message.seq for message in state.conversation.messages if message.turn == first_turn)


def _plan_thinking(state: SessionState, exempt: int) -> CompactionStep | None:
    conversation = state.conversation
    old = [message for message in _list_before(conversation, exempt) if message.thinking]
    until = max((message.seq for message in old), default=-1)
    return CompactionStep("drop_thinking", until) if until > conversation.thinking_until else None


def _plan_promotion(state: SessionState, exempt: int) -> CompactionStep | None:
    large = tuple(_large_outputs(state.conversation, exempt))
    return CompactionStep("promote", large[-1].seq, promoted=large) if large else None


def _plan_tombstones(state: SessionState, exempt: int) -> CompactionStep | None:
    conversation = state.conversation
    old = (message for message in _list_before(conversation, exempt) if message.seq > conversation.tombstoned_until)
    until = max((message.seq for message in old if is_shortened(message, conversation)), default=-1)
    return CompactionStep("tombstone", until) if until >= 0 else None


def _plan_summary(state: SessionState, exempt: int, windows: int = 1) -> CompactionStep | None:
    old = list(_list_before(state.conversation, exempt))
    turns = sorted({message.turn for message in old})[: WINDOW_TURNS * windows]
    until = max((message.seq for message in old if message.turn in turns), default=-1)
    return _summarize(state, until, SUMMARIZE if windows == 1 else SUMMARIZE_MORE)


def _plan_larger_summary(state: SessionState, exempt: int) -> CompactionStep | None:
    return _plan_summary(state, exempt, windows=2)


TIERS: dict[str, Callable[[SessionState, int], CompactionStep | None]] = {
    "drop_thinking": _plan_thinking,
    "promote": _plan_promotion,
    "tombstone": _plan_tombstones,
    "summarize_more": _plan_larger_summary,
    "summarize": _plan_summary,
}
"""Tier → the function that plans it, the cheapest loss first. At a high pressure, more turns are summarized at once."""


def _cut_old_steps(state: SessionState) -> CompactionStep | None:
    """Summarize everything before the last step whose calls all have results."""
    answers = [message.seq for message in state.conversation.messages if message.role == "assistant"]
    open_seqs = [
        message.seq
        for message in state.conversation.messages
        if any(call.call_id in state.open_calls for call in message.calls)
    ]
    last = min([*answers[-1:], *open_seqs], default=0)
    return _summarize(state, last - 1, "summarize_steps")


def _promote_last_outputs(state: SessionState) -> CompactionStep | None:
    """Move every large output to an artifact, those of the last step too."""
    large = tuple(_large_outputs(state.conversation, state.next_seq))
    return CompactionStep("promote_all", large[-1].seq, promoted=large) if large else None


EMERGENCY_TIERS = (_cut_old_steps, _promote_last_outputs)
"""The functions that plan further steps, in their order, if the prompt does not fit after all tiers."""


def _summarize(state: SessionState, until: int, tier: str) -> CompactionStep | None:
    """Return the step that replaces the messages up to an event, or None if there are none.

    A call without a result must stay in the prompt, so the summary ends before it.
    """
    for message in state.conversation.messages:
        if message.seq <= until and any(call.call_id in state.open_calls for call in message.calls):
            until = message.seq - 1
    if not any(message.seq <= until for message in state.conversation.messages):
        return None
    return CompactionStep(tier, until)


def _list_before(conversation: Conversation, exempt: int) -> Iterator[Message]:
    return (message for message in conversation.messages if message.seq < exempt)


def _large_outputs(conversation: Conversation, exempt: int) -> Iterator[Message]:
    for message in _list_before(conversation, exempt):
        is_shown = message.seq > conversation.tombstoned_until and message.call_id not in conversation.promoted
        if message.role == "tool" and is_shown and len(message.text) > PROMOTED_CHARS:
            yield message
