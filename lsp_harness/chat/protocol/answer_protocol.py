"""The interface of a protocol: how a model is told of its tools, and how its calls are read from its answer."""

from collections.abc import Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast

from lsp_harness.chat.conversation_prompt import ChatPrompt
from lsp_harness.chat.shown_tools import ShownTool
from lsp_harness.events.model_events import ToolCall
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import ModelRequest, Owner, Sampling, Stop, Usage, WrittenCall

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
