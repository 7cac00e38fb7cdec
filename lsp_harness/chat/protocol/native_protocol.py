"""Tools as a service takes them: apart from the text, with JSON schemas, and with calls that are no text either."""

import json
from dataclasses import replace
from typing import Any, cast

from ulid import ULID

from lsp_harness.chat.conversation_prompt import ChatPrompt
from lsp_harness.chat.protocol.answer_protocol import Answer, ChatSettings, KnownTools, Reply
from lsp_harness.chat.protocol.text_protocol import read_text
from lsp_harness.chat.schema_check import find_mismatch
from lsp_harness.chat.shown_tools import FIND_TOOL
from lsp_harness.chat.tool_calls import DECODER, MAX_QUOTED_CHARS, split_thinking
from lsp_harness.chat.tool_prompt import describe_tools
from lsp_harness.events.model_events import ToolCall
from lsp_harness.inference.request import ChatMessage, Stop, ToolChat, ToolSpec, WrittenCall


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
            call = ToolCall(str(ULID()), self._tools.name_of(written.tool) or "unreadable call")
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
