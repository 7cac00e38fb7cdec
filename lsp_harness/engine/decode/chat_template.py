"""A model's own chat template: what its file says, run by the sandbox the binding has for that."""

# the binding is mostly untyped; what leaves this file is typed
# pyright: reportUnknownMemberType=false, reportArgumentType=false

from collections.abc import Callable, Sequence
from typing import Any

from llama_cpp.llama_chat_format import Jinja2ChatFormatter

from lsp_harness.errors import EngineRefused

Messages = Sequence[tuple[str, str]]
"""(role, content) each."""


def compiled(source: str, *, bos: str, eos: str) -> Callable[[Messages], str] | None:
    """Conversations to prompts by the Jinja template `source`; None where it cannot be read."""
    try:
        form = Jinja2ChatFormatter(source, eos_token=eos, bos_token=bos)
    except Exception:  # noqa: BLE001 - a template is a program of somebody else's
        return None

    def render(messages: Messages) -> str:
        try:
            return form(messages=_turns(messages)).prompt
        except Exception as error:
            merged = _merged(messages)
            if merged is messages:
                raise EngineRefused(f"this model's chat template cannot format this conversation: {error}") from error
        # some know no system message (Gemma's)
        return render(merged)

    return render


def _turns(messages: Messages) -> list[Any]:
    return [{"role": role, "content": content} for role, content in messages]


def _merged(messages: Messages) -> Messages:
    """The same without a system message: its text begins the user's first turn, as in llama.cpp's own forms."""
    match messages:
        case [("system", told), ("user", asked), *rest]:
            return [("user", f"{told}\n\n{asked}"), *rest]
        case _:
            return messages
