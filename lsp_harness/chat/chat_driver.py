"""The driver of conversations: the model answers, or calls a tool and goes on with its result."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lsp_harness.chat.answer_protocol import Answer, ChatSettings, KnownTools, Reply, ask
from lsp_harness.chat.chat_model import Model, ModelChain
from lsp_harness.chat.compaction import CompactionStep, plan_step
from lsp_harness.chat.conversation_prompt import ChatPrompt, build_dialogue, build_messages
from lsp_harness.chat.conversation_steps import CallResult, ModelOutput
from lsp_harness.chat.loop import run_turn
from lsp_harness.chat.shown_tools import shorten_names, show_tools
from lsp_harness.chat.text_frames import TextFrames
from lsp_harness.chat.tool import Tool
from lsp_harness.chat.tool_execution import ToolExecution
from lsp_harness.errors import EngineError, EngineFailed, EngineUnavailable, NoAnswer, ToolsRefused
from lsp_harness.events.model_events import (
    CompactionCompleted,
    CompactionStarted,
    CompactionSummary,
    CompactionSummaryFailed,
    ModelCompleted,
    ModelFailed,
    ModelStarted,
    ToolOutputPromoted,
)
from lsp_harness.inference.request import Usage
from lsp_harness.kernel.driver import SteeredSession
from lsp_harness.kernel.limits import Budget, Ending
from lsp_harness.kernel.log.turn import Turn
from lsp_harness.kernel.projections.message_history import Conversation
from lsp_harness.kernel.projections.session_state import SessionState
from lsp_harness.permission.hooks import Hooks

MAX_ATTEMPTS = 2
"""Attempts to reach a model."""
MAX_UNREADABLE_ANSWERS = 3
"""Unreadable tool calls in a row after which the turn fails."""


@dataclass(frozen=True, slots=True)
class PromptSize:
    """The size of the present prompt.

    Attributes:
        model: The model whose tokens are counted.
        tokens: The tokens of the prompt.
        sections: Those of each section: "system" with the tools, "summary" and "messages".
        window: The window of the model.
        budget: The most tokens of a prompt. With more, messages are compacted.
    """

    model: str
    tokens: int
    sections: Mapping[str, int]
    window: int
    budget: int


class ChatDriver:
    """Runs the turns of a conversation (see `Driver`).

    Attributes:
        names: The name of each tool → the name that the model sees.

    Args:
        models: The models. The next one is used after a failure of the one before it.
        tools: The tools by their names.
        execution: Runs the tool calls.
        settings: The settings.
        hooks: Hear of each tier of the compaction, and may deny it.
        refresh_tools: Brings the tools up to date, and returns whether they have changed. It is called for each step.
    """

    name = "chat"
    is_exclusive = True

    def __init__(
        self,
        models: Sequence[Model],
        tools: Mapping[str, Tool],
        execution: ToolExecution,
        settings: ChatSettings,
        hooks: Hooks | None = None,
        refresh_tools: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        self._tools = tools
        self._refresh_tools = refresh_tools
        self._execution = execution
        self._settings = settings
        self._hooks = hooks or Hooks()
        self._denials: dict[str, str] = {}
        self._prompt: ChatPrompt | None = None
        self._prompt_revision: tuple[int, str, str] = (-1, "", "")
        self._unreadable = 0
        self._problems: dict[str, str] = {}
        self.names = shorten_names(tools)
        self._models = ModelChain(models, self._known_tools(), settings)

    def _known_tools(self) -> KnownTools:
        full_names = {shown: name for name, shown in self.names.items()}
        return KnownTools(tuple(show_tools(self._tools).values()), full_names)

    @property
    def system(self) -> str:
        """The system text with the tools, as the window of the model allows."""
        return self._models.text.system

    async def run(self, turn: Turn, session: SteeredSession, budget: Budget) -> Ending:
        """Ask the model and run its tools until the turn ends."""
        return await run_turn(self, turn, session, budget)

    # -- prompt
    async def should_compact(self, state: SessionState) -> bool:
        """Return whether a tier of the compaction applies."""
        return await self._plan(state) is not None

    async def compact(self, state: SessionState, turn: Turn) -> None:
        """Apply the next tier of the compaction, and record the tokens before and after it."""
        step = await self._plan(state)
        if step is None:
            return
        budget, before = await self._models.budget(), (await self._count(state)).tokens
        facts: dict[str, Any] = {"session_id": turn.session_id, "tier": step.tier, "tokens": before, "budget": budget}
        outcome = await self._hooks.run("preCompact", facts)
        if outcome.is_denied:
            # the next tier is tried; if none is left and the prompt does not fit, the turn fails with the reason
            self._denials[step.tier] = f"the hook {outcome.hook} does not allow to {step.tier}: {outcome.reason}"
            return
        turn.append(CompactionStarted(before, budget))
        after = before if step.promoted else await self._count_after(step, state)
        if step.summary is not None and after >= before:
            failure = f"the prompt would have {after} tokens with the summary, and has {before} now"
            turn.append(CompactionSummaryFailed(failure))
            if before <= budget:
                # the messages stay until there is more to summarize
                self._denials[step.tier] = failure
                return
            step = CompactionStep("cut", step.until_seq)
            after = await self._count_after(step, state)
        self._apply(step, turn)
        if step.promoted:
            # only now the outputs have the ids of their artifacts
            after = await self._count_after(step, state)
        turn.append(CompactionCompleted(step.tier, before, after, step.until_seq))
        await self._hooks.run("postCompact", facts | {"tier": step.tier, "after": after})

    async def _count_after(self, step: CompactionStep, state: SessionState) -> int:
        """Return the tokens of the prompt after a step."""
        return (await self._models.count(self.render(step.preview(state.conversation)))).tokens

    async def _plan(self, state: SessionState) -> CompactionStep | None:
        budget, prompt = await self._models.budget(), await self._count(state)
        return plan_step(state, prompt.tokens / budget, budget, self._denials)

    async def measure(self, state: SessionState) -> PromptSize:
        """Return the tokens of the prompt that the model would get now. Raises EngineError."""
        prompt, budget = await self._count(state), await self._models.budget()
        return PromptSize(self._models.current.name, prompt.tokens, prompt.sections or {}, self._models.window, budget)

    async def build_prompt(self, state: SessionState, turn: Turn) -> ChatPrompt:
        """Return the prompt.

        Raises:
            NoAnswer: The prompt does not fit into the window, and nothing can be left out.
        """
        budget, prompt = await self._models.budget(), await self._count(state)
        if prompt.tokens > budget:
            denials = "".join(f"; {denial}" for denial in self._denials.values())
            raise NoAnswer(
                f"the prompt has {prompt.tokens} tokens, and {budget} fit into the window of the model; write a "
                f"shorter text, begin a new session, or use a model with a larger window{denials}"
            )
        return prompt

    def _apply(self, step: CompactionStep, turn: Turn) -> None:
        for message in step.promoted:
            artifact_id = self._execution.promote(message.text, message.call_id)
            turn.append(ToolOutputPromoted(message.call_id, artifact_id))
        if step.summary is not None:
            turn.append(CompactionSummary(step.until_seq, step.summary))

    async def _count(self, state: SessionState) -> ChatPrompt:
        """Return the prompt of a state with its tokens. It is built once for each revision of the conversation."""
        if self._refresh_tools and await self._refresh_tools():
            self.names = shorten_names(self._tools)
            self._models.use_tools(self._known_tools())
        # the window of the model decides how the tools are shown
        self._models.renew()
        await self._models.connect()
        revision = (state.conversation.revision, self.system, self._models.current.name)
        if self._prompt is None or self._prompt_revision != revision:
            self._prompt = await self._models.count(self.render(state.conversation))
            self._prompt_revision = revision
        return self._prompt

    def render(self, conversation: Conversation, system: str | None = None) -> ChatPrompt:
        """Return the prompt of a conversation, without counting its tokens."""
        messages = build_messages(self.system if system is None else system, conversation, self.names)
        return ChatPrompt(messages, dialogue=build_dialogue(conversation, self.names))

    def render_all(self, conversation: Conversation) -> list[ChatPrompt]:
        """Return the prompts of a conversation with each view of the tools. The model's window allows one of them."""
        return [self.render(conversation, system) for system in self._models.text.systems]

    # -- model
    async def call_model(self, prompt: ChatPrompt, turn: Turn) -> ModelOutput:
        """Ask the model. A call that fails is repeated once, and then sent to the next model, if there is one.

        Raises:
            EngineError: The model cannot be reached or refuses the prompt.
            NoAnswer: The model wrote unreadable calls again and again.
        """
        attempts = 0
        while True:
            model = self._models.current
            turn.append(
                ModelStarted(model.name, prompt.tokens, prompt.sections or {}, self._models.window, prompt.hash)
            )
            try:
                return await self._ask(prompt, turn)
            except ToolsRefused as error:
                message = f"{error.message}; the tools are described as text from now on"
                turn.append(ModelFailed(model.name, message, type(error).__name__, will_retry=True))
                self._models.refuse_tools()
            except EngineError as error:
                attempts += 1
                may_repeat = attempts < MAX_ATTEMPTS and isinstance(error, EngineUnavailable | EngineFailed)
                will_retry = may_repeat or self._models.has_next
                turn.append(ModelFailed(model.name, error.message, type(error).__name__, will_retry))
                if not will_retry:
                    raise
                if not may_repeat:
                    self._models.use_next()
                    attempts = 0

    async def _ask(self, prompt: ChatPrompt, turn: Turn) -> ModelOutput:
        started_s = time.monotonic()
        reply, answer = await self._generate(prompt, turn)
        repeats = any(self._execution.repeats(call.tool, call.input) for call in answer.calls)
        if self._models.protocol.needs_answer(answer, repeats=repeats):
            reply, answer = await self._generate(prompt, turn, reply.usage)
        if self._models.protocol.holds_text and answer.text:
            turn.send_frame("text.delta", content=answer.text)
        ms = round(1000 * (time.monotonic() - started_s))
        tokens = await self._models.usage(prompt, reply)
        name, stop = self._models.current.name, reply.stop or ""
        turn.append(ModelCompleted(name, answer.text, answer.calls, tokens, stop, ms, answer.thinking))
        self._unreadable = self._unreadable + 1 if answer.problems else 0
        if self._unreadable >= MAX_UNREADABLE_ANSWERS:
            raise NoAnswer(f"the model wrote {self._unreadable} unreadable tool calls in a row; use a larger model")
        self._problems |= {call.call_id: problem for call, problem in answer.problems}
        return ModelOutput(answer.text, answer.tool_calls)

    async def _generate(self, prompt: ChatPrompt, turn: Turn, earlier: Usage | None = None) -> tuple[Reply, Answer]:
        """Return a whole answer of the model, and send its text as it arrives.

        After an `earlier` answer, this one may not call tools, and its usage includes that of the earlier one.
        """
        await self._models.connect()
        protocol, has_schema = self._models.protocol, self._settings.answer_schema is not None
        frames = TextFrames(turn, may_be_call=bool(self._tools) and not has_schema)
        request = protocol.request(prompt, must_answer=earlier is not None)
        reply = await ask(self._models.current.engine, request, [] if protocol.holds_text else [frames])
        answer = protocol.read(reply)
        # text beside calls is text; a call that is written as text is none
        frames.end(is_call=bool(answer.calls) and not reply.calls)
        if earlier:
            generated = earlier.generated + reply.usage.generated
            usage = replace(reply.usage, evaluated=earlier.evaluated + reply.usage.evaluated, generated=generated)
            reply = replace(reply, usage=usage)
        return reply, answer

    async def ask_again(self, prompt: ChatPrompt) -> Answer:
        """Return the answer of the model to a prompt of the past. Nothing is recorded, and no tool runs.

        Raises:
            EngineError: The model cannot be reached.
        """
        await self._models.connect()
        return self._models.protocol.read(await ask(self._models.current.engine, self._models.protocol.request(prompt)))

    # -- tools
    async def execute_tool_calls(self, output: ModelOutput, turn: Turn) -> Sequence[CallResult]:
        """Run the calls of an answer, one after another, and record their results."""
        results: list[CallResult] = []
        for call in output.tool_calls:
            if problem := self._problems.pop(call.call_id, ""):
                results.append(self._execution.refuse(call, problem, turn))
                continue
            results.append(await self._execution.run(call, turn))
            # other turns and the client may act between two calls
            await asyncio.sleep(0)
        return results
