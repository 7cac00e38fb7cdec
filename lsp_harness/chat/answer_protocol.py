"""Protocols by which a model is told of its tools and calls them: as text, or apart from the text of an answer.

Every model can be told of tools as text. If it can be held to a grammar, its calls are always readable.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, cast

from lsp_harness.chat.conversation_prompt import ChatPrompt
from lsp_harness.chat.schema_check import find_mismatch
from lsp_harness.chat.shown_tools import FIND_TOOL, TOOLS_SHARE, ShownTool, render_views
from lsp_harness.chat.tool_calls import DECODER, MAX_QUOTED_CHARS, parse_answer, split_thinking
from lsp_harness.chat.tool_grammar import AnswerForm, ToolGrammar, build_tool_grammar
from lsp_harness.chat.tool_prompt import describe_tools
from lsp_harness.events.model_events import ToolCall
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import (
    ChatMessage,
    ChatRequest,
    ModelRequest,
    Owner,
    Sampling,
    Stop,
    ToolChat,
    ToolSpec,
    Usage,
    WrittenCall,
)
from lsp_harness.text.ulid import make_ulid

ANSWER_TOKENS = 512
"""Tokens that are reserved for an answer."""


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

    def sampling(self, grammar: str = "") -> Sampling:
        """Return how the tokens of an answer are chosen."""
        return Sampling(n_predict=self.answer_tokens, temperature=self.temperature, grammar=grammar)


@dataclass(frozen=True, slots=True)
class KnownTools:
    """The tools of a conversation.

    Attributes:
        shown: The tools as the model sees them.
        full_names: The name that the model sees → the name of the tool.
    """

    shown: tuple[ShownTool, ...]
    full_names: Mapping[str, str]

    def name_of(self, shown: str) -> str:
        """Return the tool that a model names, or its own word if there is no such tool."""
        return self.full_names.get(shown, shown)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as a server sent it, before it is read."""

    text: str = ""
    thinking: str = ""
    calls: tuple[WrittenCall, ...] = ()
    stop: Stop | None = None
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of a model.

    Attributes:
        text: The text without the calls.
        thinking: The reasoning.
        calls: The calls that the log records as part of the answer.
        problems: Calls that cannot run, each with a sentence for the model. Some of them may be in `calls`.
    """

    text: str
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    problems: tuple[tuple[ToolCall, str], ...] = ()

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """All calls that need a result."""
        return (*self.calls, *(call for call, _ in self.problems if call not in self.calls))


class Frames(Protocol):
    """Shows an answer to people as it arrives."""

    def add(self, text: str) -> None: ...
    def add_thinking(self, text: str) -> None: ...


class AnswerProtocol(Protocol):
    """A way to ask a model that may call tools."""

    @property
    def holds_text(self) -> bool:
        """True if the text of an answer is shown at its end, because another one may replace it."""
        ...

    def request(self, prompt: ChatPrompt, *, must_answer: bool = False) -> ModelRequest:
        """Return the request for an answer. With `must_answer` the model may not call a tool."""
        ...

    def read(self, reply: Reply) -> Answer:
        """Return what an answer says."""
        ...

    def needs_answer(self, answer: Answer, *, repeats: bool) -> bool:
        """Return whether to ask again with `must_answer`. `repeats` is true if a call is equal to the last one."""
        ...


async def ask(engine: Engine, request: ModelRequest, frames: Iterable[Frames] = ()) -> Reply:
    """Return the whole answer to a request.

    Raises:
        EngineError: The model cannot answer.
    """
    reply = Reply()
    async with aclosing(cast("Any", engine.stream(request))) as chunks:
        async for chunk in chunks:
            for frame in frames:
                frame.add_thinking(chunk.thinking)
                frame.add(chunk.text)
            text, thinking = reply.text + chunk.text, reply.thinking + chunk.thinking
            reply = replace(reply, text=text, thinking=thinking, stop=chunk.stop, usage=chunk.usage)
            reply = replace(reply, calls=reply.calls + chunk.calls)
    return reply


SCHEMA_REQUEST = "Answer with nothing but JSON that fits this JSON schema:"


class TextProtocol:
    """Asks a model with tools as text (see `AnswerProtocol`).

    Args:
        tools: The tools.
        settings: The settings of the conversation.

    Attributes:
        systems: The system text with the tools, whole and short.
        system: The one of them that the window of the model allows.
        has_grammar: Whether the model can be held to a grammar.

    Raises:
        EngineRefused: The grammar cannot express the answer schema.
    """

    def __init__(self, tools: KnownTools, settings: ChatSettings) -> None:
        self._tools = tools
        self._settings = settings
        self.has_grammar = False
        self.systems = render_views(settings.system, tools.shown)
        self.system = self.systems[0]
        self._grammar = build_tool_grammar(tools.shown, AnswerForm(answer_schema=settings.answer_schema))

    async def fit(self, count: Callable[[Sequence[str]], Awaitable[list[int]]], window: int) -> None:
        """Choose how the tools are shown to a model with a window of so many tokens."""
        whole, own = await count([self.systems[0], self._settings.system])
        self.system = self.systems[-1] if whole - own > window * TOOLS_SHARE else self.systems[0]

    @property
    def holds_text(self) -> bool:
        """True if the text of an answer is shown at its end."""
        return False

    @cached_property
    def _final_grammar(self) -> ToolGrammar:
        """The grammar of an answer without a call. Most turns do not need it."""
        form = AnswerForm(must_answer=True, answer_schema=self._settings.answer_schema)
        return build_tool_grammar(self._tools.shown, form)

    def request(self, prompt: ChatPrompt, *, must_answer: bool = False) -> ChatRequest:
        """Return the request for an answer."""
        settings, messages = self._settings, prompt.messages
        grammar = (self._final_grammar if must_answer else self._grammar).text if self.has_grammar else ""
        if settings.answer_schema is not None and not grammar:
            wish = f"{SCHEMA_REQUEST}\n{json.dumps(settings.answer_schema, ensure_ascii=False)}"
            messages = (("system", f"{self.system}\n\n{wish}".strip()), *(m for m in messages if m[0] != "system"))
        return ChatRequest(messages, settings.sampling(grammar), owner=settings.owner)

    def read(self, reply: Reply) -> Answer:
        """Return what an answer says."""
        return read_text(reply.text, self._tools, self._settings)

    def needs_answer(self, answer: Answer, *, repeats: bool) -> bool:
        """Return whether to ask again: a small model would write the same call again and again."""
        return self.has_grammar and repeats


def read_text(text: str, tools: KnownTools, settings: ChatSettings) -> Answer:
    """Return what a text says. Its calls are those that it contains."""
    thinking, said = split_thinking(text)
    # structured output may look like a call without its marks
    parsed = parse_answer(said, () if settings.answer_schema else tools.full_names)
    calls = tuple(ToolCall(make_ulid(), tools.name_of(call.name), call.input) for call in parsed.calls)
    problems = ((ToolCall(make_ulid(), "unreadable call"), parsed.problem),) if parsed.problem else ()
    return Answer(parsed.text or (said if parsed.problem else ""), thinking, calls, problems)


class NativeProtocol:
    """Asks a model by the tool calls of its service (see `AnswerProtocol`).

    Args:
        tools: The tools.
        settings: The settings of the conversation.
    """

    def __init__(self, tools: KnownTools, settings: ChatSettings) -> None:
        self._tools = tools
        self._settings = settings
        # it stands for tools of a short list, and a service gets the whole one
        listed = [tool for tool in tools.shown if tool.name != FIND_TOOL]
        self._specs = tuple(ToolSpec(*description) for description in describe_tools(listed))

    @property
    def holds_text(self) -> bool:
        """True if the text of an answer is shown at its end, because it may not fit the schema."""
        return self._settings.answer_schema is not None

    def request(self, prompt: ChatPrompt, *, must_answer: bool = False) -> ToolChat:
        """Return the request for an answer."""
        settings = self._settings
        system = (ChatMessage("system", settings.system),) if settings.system else ()
        return ToolChat(
            (*system, *prompt.dialogue),
            self._specs,
            settings.answer_schema,
            must_answer,
            settings.sampling(),
            owner=settings.owner,
        )

    def read(self, reply: Reply) -> Answer:
        """Return what an answer says. A small model may write its calls as text all the same."""
        if not reply.calls:
            answer = read_text(reply.text, self._tools, self._settings)
            return replace(answer, thinking=reply.thinking or answer.thinking)
        thinking, text = split_thinking(reply.text)
        calls, problems = list[ToolCall](), list[tuple[ToolCall, str]]()
        for written in reply.calls:
            # ids of services may repeat within a session
            call = ToolCall(make_ulid(), self._tools.name_of(written.tool) or "unreadable call")
            given, problem = _read_arguments(written, reply.stop)
            calls.append(ToolCall(call.call_id, call.tool, given))
            if problem:
                problems.append((calls[-1], problem))
        return Answer(text.strip(), reply.thinking or thinking, tuple(calls), tuple(problems))

    def needs_answer(self, answer: Answer, *, repeats: bool) -> bool:
        """Return whether to ask again, because an answer in words does not fit the schema."""
        schema = self._settings.answer_schema
        if schema is None or answer.calls:
            return False
        try:
            return bool(find_mismatch(schema, json.loads(answer.text)))
        except (ValueError, RecursionError):
            return True


def _read_arguments(call: WrittenCall, stop: Stop | None) -> tuple[dict[str, Any], str]:
    """Return the input of a call, or a sentence for the model about what is wrong with it."""
    if not call.tool:
        return {}, "The tool call could not be read: it has no name of a tool. Call a tool by its name."
    try:
        # a tool without inputs may be called without a text
        value: Any = DECODER.decode(call.arguments) if call.arguments.strip() else {}
    except (ValueError, RecursionError) as error:
        if stop == "limit":
            reason = "the answer reached its limit of tokens in the middle of them, so write less at once"
        elif isinstance(error, json.JSONDecodeError):
            reason = f"they are not valid JSON ({error.msg}): {call.arguments[:MAX_QUOTED_CHARS]}"
        else:
            reason = "they are nested too deeply"
        return {}, f"The arguments of {call.tool} could not be read: {reason}. Call it again."
    if not isinstance(value, dict):
        return {}, f"The arguments of {call.tool} must be a JSON object, not {call.arguments[:MAX_QUOTED_CHARS]}."
    return cast("dict[str, Any]", value), ""
