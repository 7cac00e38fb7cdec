"""The models of a conversation: the one that answers now, its window, and the way in which it is told of the tools."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lsp_harness.chat.answer_protocol import (
    AnswerProtocol,
    ChatSettings,
    KnownTools,
    NativeProtocol,
    Reply,
    TextProtocol,
)
from lsp_harness.chat.conversation_prompt import SUMMARY_TITLE, ChatPrompt
from lsp_harness.events.model_events import TokenUsage
from lsp_harness.inference.client import Engine

MIN_CONTEXT_TOKENS = 512
DEFAULT_CONTEXT_TOKENS = 8192
"""The window of a model that does not report it."""
WINDOW_SHARE = 0.85
"""The share of the window that a prompt and its answer may use. The rest covers what the template adds."""


@dataclass(slots=True)
class Model:
    """A model that can answer, and its name for the log. `refuses_tools` is set after its service refused them."""

    name: str
    engine: Engine
    refuses_tools: bool = False


class ModelChain:
    """The models of a conversation, one of which answers.

    Args:
        models: The models. The next one is used after a failure of the one before it. If the owner of this list
            puts another model in the first place, `renew` takes it.
        tools: The tools.
        settings: The settings of the conversation.

    Attributes:
        text: The tools as text, which every model can read.
        protocol: The way to ask the present model. It is known after `connect`.
        window: The window of the present model in tokens, or 0 before `connect`.

    Raises:
        EngineRefused: The grammar cannot express the answer schema.
    """

    def __init__(self, models: Sequence[Model], tools: KnownTools, settings: ChatSettings) -> None:
        self._chosen = models
        self._first: Model = models[0]
        self._models = list(models)
        self._tools = tools
        self._settings = settings
        self.text = TextProtocol(tools, settings)
        self.protocol: AnswerProtocol = self.text
        self.window = 0

    @property
    def current(self) -> Model:
        """The model that answers."""
        return self._models[0]

    @property
    def has_next(self) -> bool:
        """Return whether there is another model."""
        return len(self._models) > 1

    async def connect(self) -> None:
        """Read once what the model can do: its window, and whether it takes tools apart from the text."""
        if self.window:
            return
        props = await self.current.engine.props()
        self.text.has_grammar = props.features.get("grammar") is True
        is_native = props.features.get("tools") is True and not self.current.refuses_tools
        self.protocol = NativeProtocol(self._tools, self._settings) if is_native else self.text
        wanted = self._settings.context_tokens or props.n_ctx or DEFAULT_CONTEXT_TOKENS
        window = max(MIN_CONTEXT_TOKENS, min(wanted, props.n_ctx or wanted))
        await self.text.fit(self.current.engine.count, window)
        self.window = window

    def renew(self) -> None:
        """Take the model that was chosen meanwhile, if there is one."""
        if self._chosen[0] is not self._first:
            self._first = self._chosen[0]
            self._models = list(self._chosen)
            self.window = 0

    def use_tools(self, tools: KnownTools) -> None:
        """Show other tools to the model from now on."""
        self._tools = tools
        self.text = self.protocol = TextProtocol(tools, self._settings)
        self.window = 0

    def refuse_tools(self) -> None:
        """Describe the tools as text to the present model from now on."""
        self.current.refuses_tools = True
        self.window = 0

    def use_next(self) -> None:
        """Let the next model answer from now on."""
        self._models.pop(0)
        self.window = 0

    async def budget(self) -> int:
        """Return the most tokens of a prompt."""
        await self.connect()
        return max(MIN_CONTEXT_TOKENS // 2, int(self.window * WINDOW_SHARE) - self._settings.answer_tokens)

    async def count(self, prompt: ChatPrompt) -> ChatPrompt:
        """Return a prompt with its tokens, as a whole and by section."""
        counts = await self.current.engine.count(
            [f"<|im_start|>{role}\n{content}<|im_end|>\n" for role, content in prompt.messages]
        )
        sections = {"system": 0, "summary": 0, "messages": 0}
        for (role, content), tokens in zip(prompt.messages, counts, strict=True):
            is_summary = role == "user" and content.startswith(SUMMARY_TITLE)
            sections["system" if role == "system" else "summary" if is_summary else "messages"] += tokens
        return replace(prompt, tokens=sum(sections.values()), sections=sections)

    async def usage(self, prompt: ChatPrompt, reply: Reply) -> TokenUsage:
        """Return the tokens as the engine reports them, or as they are counted if it reports none."""
        usage = reply.usage
        read = usage.evaluated + usage.reused
        if read or usage.generated:
            return TokenUsage(read, usage.generated, usage.reused)
        written = sum(await self.current.engine.count([reply.text, *(call.arguments for call in reply.calls)]))
        return TokenUsage(prompt.tokens, written, 0, is_estimated=True)
