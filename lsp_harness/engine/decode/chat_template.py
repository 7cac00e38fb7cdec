"""The chat template of a model: a conversation becomes a prompt.

The template in the model file runs in the Jinja sandbox of the binding. If it cannot be read or refuses a conversation,
llama.cpp's own form of the template is used, if it knows one.
"""

# The binding is mostly untyped. Everything this file returns is typed.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import llama_cpp as lib
from llama_cpp.llama_chat_format import Jinja2ChatFormatter

from lsp_harness.engine.decode.vocabulary import Vocabulary
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
        formatter = Jinja2ChatFormatter(source, eos_token=eos, bos_token=bos)
    except Exception:  # noqa: BLE001 - a template is a program of somebody else and may raise anything
        return None

    def render(messages: Messages) -> str:
        try:
            return formatter(messages=_to_dicts(messages)).prompt
        except Exception as error:
            merged = _merge_system_message(messages)
            if merged is messages:
                raise EngineRefused(f"this model's chat template cannot format this conversation: {error}") from error
        # Some templates, for example Gemma's, refuse a system message.
        return render(merged)

    return render


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
    turns = (lib.llama_chat_message * len(messages))(
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
