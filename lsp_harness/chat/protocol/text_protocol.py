"""Tools as text: the system text describes them, and calls are read from the answer.

Every model can be asked in this way. If it can be held to a grammar, its calls are always readable.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property

from ulid import ULID

from lsp_harness.chat.conversation_prompt import ChatPrompt
from lsp_harness.chat.protocol.answer_protocol import Answer, ChatSettings, KnownTools, Reply
from lsp_harness.chat.shown_tools import TOOLS_SHARE, render_views
from lsp_harness.chat.tool_calls import parse_answer, split_thinking
from lsp_harness.chat.tool_grammar import AnswerForm, ToolGrammar, build_tool_grammar
from lsp_harness.events.model_events import ToolCall
from lsp_harness.inference.request import ChatRequest

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
    calls = tuple(ToolCall(str(ULID()), tools.name_of(call.name), call.input) for call in parsed.calls)
    problems = ((ToolCall(str(ULID()), "unreadable call"), parsed.problem),) if parsed.problem else ()
    return Answer(parsed.text or (said if parsed.problem else ""), thinking, calls, problems)
