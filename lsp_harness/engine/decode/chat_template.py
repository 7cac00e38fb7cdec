"""The chat template of a model: a conversation becomes a prompt.

The template in the model file runs in the sandbox of Jinja. If it cannot be read or refuses a conversation,
llama.cpp's own form of the template is used, if it knows one.
"""

# The binding is mostly untyped. Everything this file returns is typed.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false

import ctypes
import json
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from jinja2.ext import Extension, loopcontrols
from jinja2.nodes import Node
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from lsp_harness.engine.decode.vocabulary import Vocabulary
from lsp_harness.engine.native.declarations import TemplateMessage
from lsp_harness.engine.native.loaded_library import lib
from lsp_harness.errors import EngineRefused

Messages = Sequence[tuple[str, str]]
"""The messages of a conversation as (role, content)."""


class ChatTemplate:
    """The chat template of one model. It is compiled when it is first used.

    Args:
        model: llama.cpp's model.
        vocabulary: The vocabulary of the model.
    """

    def __init__(self, model: Any, vocabulary: Vocabulary) -> None:
        self._model = model
        self._vocabulary = vocabulary
        self._render: Callable[[Messages], str] | None = None

    def render(self, messages: Messages) -> str:
        """Return the prompt of a conversation.

        Raises:
            EngineRefused: The model has no template, or the template does not allow this conversation.
        """
        source = lib.llama_model_chat_template(self._model, None)
        if not source:
            raise EngineRefused("this model has no chat template; choose an instruct model")
        if self._render is None:
            bos, eos = (self._token_text(getattr(lib, f"llama_vocab_{end}")) for end in ("bos", "eos"))
            own_template = compile_template(source.decode("utf-8", "replace"), bos=bos, eos=eos)
            self._render = own_template or (lambda messages: _render_built_in(source, messages))
        try:
            return self._render(messages)
        except EngineRefused as refused:
            try:
                return _render_built_in(source, messages)
            except EngineRefused:
                raise refused from None

    def _token_text(self, read_token: Callable[[Any], int]) -> str:
        token = read_token(self._vocabulary.pointer)
        return self._vocabulary.special_text(token) if token >= 0 else ""


def compile_template(source: str, *, bos: str, eos: str) -> Callable[[Messages], str] | None:
    """Compile a Jinja template.

    Args:
        source: The template.
        bos: The text of the token for the beginning of a text.
        eos: The text of the token for its end.

    Returns:
        A function that renders a conversation, or None if the template cannot be read.
    """
    try:
        template = _make_environment().from_string(source)
    except Exception:  # noqa: BLE001 - a template is a program of somebody else and may raise anything
        return None

    def render(messages: Messages) -> str:
        try:
            return template.render(
                messages=_to_dicts(messages), bos_token=bos, eos_token=eos, add_generation_prompt=True, tools=None
            )
        except Exception as error:
            merged = _merge_system_message(messages)
            if merged is messages:
                raise EngineRefused(f"this model's chat template cannot format this conversation: {error}") from error
        # Some templates, for example Gemma's, refuse a system message.
        return render(merged)

    return render


class _GenerationTag(Extension):
    """The tag of published templates around what the model writes. It changes nothing here."""

    tags = {"generation"}  # noqa: RUF012 - jinja declares it so

    def parse(self, parser: Parser) -> list[Node]:
        parser.stream.skip(1)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _make_environment() -> ImmutableSandboxedEnvironment:
    """Return an environment with what published chat templates use (those of the library transformers)."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_GenerationTag, loopcontrols]
    )
    environment.filters["tojson"] = partial(json.dumps, ensure_ascii=False)
    environment.globals |= {"raise_exception": _raise_exception, "strftime_now": _format_now}
    return environment


def _raise_exception(message: str) -> None:
    raise ValueError(message)


def _format_now(format: str) -> str:
    return datetime.now().strftime(format)


def _to_dicts(messages: Messages) -> list[Any]:
    return [{"role": role, "content": content} for role, content in messages]


def _merge_system_message(messages: Messages) -> Messages:
    """Return the conversation with the system message at the beginning of the user's first message."""
    match messages:
        case [("system", instructions), ("user", question), *rest]:
            return [("user", f"{instructions}\n\n{question}"), *rest]
        case _:
            return messages


def _render_built_in(template: bytes, messages: Messages) -> str:
    """Return the prompt by llama.cpp's own form of a template, if it recognizes the template."""
    turns = (TemplateMessage * len(messages))(
        *((role.encode("utf-8", "replace"), content.encode("utf-8", "replace")) for role, content in messages)
    )
    buffer = ctypes.create_string_buffer(4096)
    count = lib.llama_chat_apply_template(template, turns, len(messages), True, buffer, len(buffer))
    if count > len(buffer):
        buffer = ctypes.create_string_buffer(count)
        count = lib.llama_chat_apply_template(template, turns, len(messages), True, buffer, len(buffer))
    if count < 0:
        raise EngineRefused("llama.cpp does not know this model's chat template")
    return buffer.raw[:count].decode("utf-8", "replace")
