"""The driver of conversations: the model answers, or calls a tool and goes on with its result."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

from ulid import ULID

from lsp_harness.chat.compaction import CompactionStep, plan_step
from lsp_harness.chat.conversation_prompt import SUMMARY_TITLE, ChatPrompt, build_messages
from lsp_harness.chat.shown_tools import shorten_names, show_tools
from lsp_harness.chat.text_frames import TextFrames
from lsp_harness.chat.tool import Tool
from lsp_harness.chat.tool_calls import ParsedAnswer, RequestedCall, parse_answer, split_thinking
from lsp_harness.chat.tool_execution import ToolExecution
from lsp_harness.chat.tool_grammar import AnswerForm, ToolGrammar, build_tool_grammar
from lsp_harness.chat.tool_prompt import render_tools
from lsp_harness.errors import EngineError, EngineUnavailable, NoAnswer
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import ChatRequest, Owner, Sampling, Stop, Usage
from lsp_harness.session.driver import CallResult, ModelOutput
from lsp_harness.session.events.model_events import (
    CompactionCompleted,
    CompactionStarted,
    CompactionSummary,
    CompactionSummaryFailed,
    ModelCompleted,
    ModelFailed,
    ModelStarted,
    TokenUsage,
    ToolCall,
    ToolOutputPromoted,
)
from lsp_harness.session.events.tool_events import ToolFailed
from lsp_harness.session.log.turn import Turn
from lsp_harness.session.permission.hooks import Hooks
from lsp_harness.session.projections.session_state import SessionState

ANSWER_TOKENS = 512
"""Tokens that are reserved for an answer."""
MIN_CONTEXT_TOKENS = 512
DEFAULT_CONTEXT_TOKENS = 8192
"""The window of a model that does not report it."""
WINDOW_SHARE = 0.85
"""The share of the window that a prompt and its answer may use. The rest covers what the template adds."""
MAX_ATTEMPTS = 2
"""Attempts to reach a model."""
MAX_UNREADABLE_ANSWERS = 3
"""Unreadable tool calls in a row after which the turn fails."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model that can answer, and its name for the log."""

    name: str
    engine: Engine


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """The settings of a conversation.

    Attributes:
        system: The system text, without the tools.
        answer_schema: The JSON schema of the last answer, for structured output.
        context_tokens: The window to use; 0 is that of the model.
        answer_tokens: Tokens that are reserved for an answer.
        temperature: The temperature of sampling.
        owner: The sender of the requests.
    """

    system: str
    answer_schema: Mapping[str, Any] | None = None
    context_tokens: int = 0
    answer_tokens: int = ANSWER_TOKENS
    temperature: float = 0.0
    owner: Owner = field(default_factory=Owner)


class ChatDriver:
    """Runs the turns of a conversation (see `Driver`).

    Args:
        models: The models. The next one is used after a failure of the one before it.
        tools: Name → tool.
        execution: Runs the calls.
        settings: The settings.
        hooks: Hear of each tier of the compaction, and may deny it.
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
    ) -> None:
        self._models = list(models)
        self._tools = tools
        self._execution = execution
        self._settings = settings
        self._hooks = hooks or Hooks()
        self._denials: dict[str, str] = {}
        self._window = 0
        self._has_grammar = False
        self._prompt: ChatPrompt | None = None
        self._prompt_revision = -1
        self._unreadable = 0
        self.names = shorten_names(tools)
        self._full_names = {shown: name for name, shown in self.names.items()}
        self._shown_tools = show_tools(tools).values()
        self.system = "\n\n".join(part for part in (settings.system, render_tools(self._shown_tools)) if part)
        self.grammar = build_tool_grammar(self._shown_tools, AnswerForm(answer_schema=settings.answer_schema))

    @cached_property
    def _final_grammar(self) -> ToolGrammar:
        """The grammar of an answer without a call. Most turns do not need it."""
        form = AnswerForm(must_answer=True, answer_schema=self._settings.answer_schema)
        return build_tool_grammar(self._shown_tools, form)

    # -- prompt
    async def should_compact(self, state: SessionState) -> bool:
        """Return whether a tier of the compaction applies."""
        return await self._plan(state) is not None

    async def compact(self, state: SessionState, turn: Turn) -> None:
        """Apply the next tier of the compaction, and record the tokens before and after it."""
        step = await self._plan(state)
        if step is None:
            return
        before, budget = (await self._count(state)).tokens, await self._budget()
        facts: dict[str, Any] = {"session_id": turn.session_id, "tier": step.tier, "tokens": before, "budget": budget}
        outcome = await self._hooks.run("preCompact", facts)
        if outcome.is_denied:
            # the next tier is tried; if none is left and the prompt does not fit, the turn fails with the reason
            self._denials[step.tier] = f"the hook {outcome.hook} does not allow to {step.tier}: {outcome.reason}"
            return
        turn.append(CompactionStarted(before, budget))
        if failure := await self._find_failure(step, state, before):
            turn.append(CompactionSummaryFailed(failure))
            if before <= budget:
                # the messages stay until there is more to summarize
                self._denials[step.tier] = failure
                return
            step = CompactionStep("cut", step.until_seq)
        self._apply(step, turn)
        after = await self._measure(build_messages(self.system, step.preview(state.conversation), self.names))
        turn.append(CompactionCompleted(step.tier, before, after, step.until_seq))
        await self._hooks.run("postCompact", facts | {"tier": step.tier, "after": after})

    async def _find_failure(self, step: CompactionStep, state: SessionState, before: int) -> str:
        """Return why the summary of a step is no gain, or an empty text."""
        if step.summary is None:
            return ""
        after = await self._measure(build_messages(self.system, step.preview(state.conversation), self.names))
        return f"the prompt would have {after} tokens with the summary, and has {before} now" if after >= before else ""

    async def _plan(self, state: SessionState) -> CompactionStep | None:
        prompt, budget = await self._count(state), await self._budget()
        return plan_step(state, prompt.tokens / budget, budget, self._denials)

    async def build_prompt(self, state: SessionState, turn: Turn) -> ChatPrompt:
        """Return the prompt.

        Raises:
            NoAnswer: The prompt does not fit into the window, and nothing can be left out.
        """
        prompt, budget = await self._count(state), await self._budget()
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
        if self._prompt is None or self._prompt_revision != state.conversation.revision:
            messages = build_messages(self.system, state.conversation, self.names)
            sections = await self._count_sections(messages)
            self._prompt = ChatPrompt(messages, sum(sections.values()), sections)
            self._prompt_revision = state.conversation.revision
        return self._prompt

    async def _count_sections(self, messages: Sequence[tuple[str, str]]) -> dict[str, int]:
        counts = await self._models[0].engine.count(
            [f"<|im_start|>{role}\n{content}<|im_end|>\n" for role, content in messages]
        )
        sections = {"system": 0, "summary": 0, "messages": 0}
        for (role, content), tokens in zip(messages, counts, strict=True):
            is_summary = role == "user" and content.startswith(SUMMARY_TITLE)
            sections["system" if role == "system" else "summary" if is_summary else "messages"] += tokens
        return sections

    async def _measure(self, messages: Sequence[tuple[str, str]]) -> int:
        return sum((await self._count_sections(messages)).values())

    async def _budget(self) -> int:
        """Return the most tokens of a prompt."""
        if not self._window:
            props = await self._models[0].engine.props()
            self._has_grammar = props.features.get("grammar") is True
            reported = props.n_ctx or DEFAULT_CONTEXT_TOKENS
            wanted = self._settings.context_tokens or reported
            self._window = max(MIN_CONTEXT_TOKENS, min(wanted, reported))
        return max(MIN_CONTEXT_TOKENS // 2, int(self._window * WINDOW_SHARE) - self._settings.answer_tokens)

    # -- model
    async def call_model(self, prompt: ChatPrompt, turn: Turn) -> ModelOutput:
        """Ask the model. A call that fails is repeated once, and then sent to the next model, if there is one.

        Raises:
            EngineError: The model cannot be reached or refuses the prompt.
            NoAnswer: The model wrote unreadable calls again and again.
        """
        attempts = 0
        while True:
            model = self._models[0]
            turn.append(ModelStarted(model.name, prompt.tokens, prompt.sections or {}, self._window, prompt.hash))
            try:
                return await self._ask(prompt, turn)
            except EngineError as error:
                attempts += 1
                may_repeat = attempts < MAX_ATTEMPTS and isinstance(error, EngineUnavailable)
                will_retry = may_repeat or len(self._models) > 1
                turn.append(ModelFailed(model.name, error.message, type(error).__name__, will_retry))
                if not will_retry:
                    raise
                if not may_repeat:
                    self._models.pop(0)
                    attempts = 0

    async def _ask(self, prompt: ChatPrompt, turn: Turn) -> ModelOutput:
        started_s = time.monotonic()
        reply = await self._generate(prompt, turn, self.grammar)
        answer = self._parse(reply.text)
        if self._has_grammar and any(self._execution.repeats(self._name_of(call), call.input) for call in answer.calls):
            # a small model would write the same call again and again; it has the result, so it must answer now
            reply = await self._generate(prompt, turn, self._final_grammar, reply.usage)
            answer = self._parse(reply.text)
        ms = round(1000 * (time.monotonic() - started_s))
        calls = tuple(ToolCall(str(ULID()), self._name_of(call), call.input) for call in answer.calls)
        tokens = await self._usage(prompt, reply.text, reply.usage)
        thinking, said = split_thinking(reply.text)
        shown = answer.text or (said if answer.problem else "")
        turn.append(ModelCompleted(self._models[0].name, shown, calls, tokens, reply.stop or "", ms, thinking))
        if not answer.problem:
            self._unreadable = 0
            return ModelOutput(answer.text, calls)
        self._unreadable += 1
        if self._unreadable >= MAX_UNREADABLE_ANSWERS:
            raise NoAnswer(f"the model wrote {self._unreadable} unreadable tool calls in a row; use a larger model")
        return ModelOutput(answer.text, (ToolCall("", "", {"problem": answer.problem}),))

    async def _generate(
        self, prompt: ChatPrompt, turn: Turn, grammar: ToolGrammar, earlier: Usage | None = None
    ) -> "_Reply":
        """Return a whole answer of the model, and send its text as it arrives."""
        request = await self.request(prompt.messages, grammar)
        text, stop, usage = "", cast("Stop | None", None), Usage()
        frames = TextFrames(turn, may_be_call=bool(self._tools) and self._settings.answer_schema is None)
        async with aclosing(cast("Any", self._models[0].engine.stream(request))) as chunks:
            async for chunk in chunks:
                text, stop, usage = text + chunk.text, chunk.stop, chunk.usage
                frames.add(chunk.text)
        frames.end(is_call=bool(self._parse(text).calls))
        if earlier:
            generated = earlier.generated + usage.generated
            usage = replace(usage, evaluated=earlier.evaluated + usage.evaluated, generated=generated)
        return _Reply(text, stop, usage)

    async def request(self, messages: Sequence[tuple[str, str]], grammar: ToolGrammar | None = None) -> ChatRequest:
        """Return the request for an answer to messages. The grammar is that of all answers, unless another is given."""
        await self._budget()
        settings = self._settings
        text = (grammar or self.grammar).text if self._has_grammar else ""
        sampling = Sampling(n_predict=settings.answer_tokens, temperature=settings.temperature, grammar=text)
        return ChatRequest(tuple(messages), sampling, owner=settings.owner)

    def _parse(self, text: str) -> ParsedAnswer:
        # structured output may look like a call without its marks
        return parse_answer(split_thinking(text)[1], () if self._settings.answer_schema else self._full_names)

    def _name_of(self, call: RequestedCall) -> str:
        return self._full_names.get(call.name, call.name)

    async def _usage(self, prompt: ChatPrompt, text: str, usage: Usage) -> TokenUsage:
        """Return the tokens as the engine reports them, or as they are counted if it reports none."""
        read = usage.evaluated + usage.reused
        if read or usage.generated:
            return TokenUsage(read, usage.generated, usage.reused)
        [written] = await self._models[0].engine.count([text])
        return TokenUsage(prompt.tokens, written, 0, is_estimated=True)

    # -- tools
    async def execute_tool_calls(self, output: ModelOutput, turn: Turn) -> Sequence[CallResult]:
        """Run the calls of an answer, one after another, and record their results."""
        results: list[CallResult] = []
        for call in output.tool_calls:
            if not call.call_id:
                # the model reads the message as the result of the call that it meant
                turn.append(ToolFailed(str(ULID()), "unreadable call", "invalid_input", str(call.input["problem"])))
                results.append(CallResult("", is_error=True))
                continue
            results.append(await self._execution.run(call, turn))
            # other turns and the client may act between two calls
            await asyncio.sleep(0)
        return results


@dataclass(frozen=True, slots=True)
class _Reply:
    text: str
    stop: Stop | None
    usage: Usage
