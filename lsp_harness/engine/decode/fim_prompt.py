"""The conversion of prefix and suffix to the tokens of a prompt, in the order that suits the model.

With `suffix-first` the middle continues the prefix, so that typing only appends to the tokens that are evaluated
already. Whether a model can do that is measured for each model and stored in its card. The token ids come from the
metadata of the model.
"""

from typing import Literal, Protocol

from lsp_harness.engine.decode.model_runtime import Prompt, TokenRequest
from lsp_harness.errors import EngineRefused
from lsp_harness.inference.infill_text import file_name_lines, heal
from lsp_harness.inference.request import Infill, InfillContext

FimOrder = Literal["suffix-first", "prefix-suffix-middle"]
TAIL_CHARS = 256
"""Characters before the answer that are kept to find out which names fit there."""


class Tokenizer(Protocol):
    """The functions of `Vocabulary` that turn texts into the tokens of a prompt."""

    fim_tokens: dict[str, int]
    bos_tokens: tuple[int, ...]

    def tokenize(self, text: str, *, special: bool = False) -> list[int]: ...
    def piece(self, token: int, *, special: bool = False) -> bytes: ...


def tokenize_infill(tokenizer: Tokenizer, infill: Infill, order: FimOrder) -> TokenRequest:
    """Return the infill request with its prompts in tokens: the full prompt first, then the shorter ones.

    Raises:
        EngineRefused: The model has no fill-in-the-middle tokens.
    """
    prompts = tuple(
        _tokenize_prompt(tokenizer, hole, order, should_heal=infill.heal) for hole in (infill.context, *infill.shorter)
    )
    return TokenRequest(prompts, infill.sampling, infill.owner, infill.budget_ms, infill.cache_reuse)


def _tokenize_prompt(tokenizer: Tokenizer, hole: InfillContext, order: FimOrder, *, should_heal: bool) -> Prompt:
    pre, suf, mid = (tokenizer.fim_tokens[name] for name in ("pre", "suf", "mid"))
    if min(pre, suf, mid) < 0:
        raise EngineRefused(
            "this model has no fill-in-the-middle tokens; choose one that has them (lsp-harness model list)"
        )
    tokens = [*tokenizer.bos_tokens]
    for title, (_, text) in zip(file_name_lines(hole), hole.extra, strict=True):
        if title and (sep := tokenizer.fim_tokens.get("sep", -1)) >= 0:
            tokens += [sep, *tokenizer.tokenize(title)]
        tokens += tokenizer.tokenize(text)
    before, forced = heal(hole.prefix) if should_heal else (hole.prefix, b"")
    prefix, suffix = tokenizer.tokenize(before), tokenizer.tokenize(hole.suffix)
    if order == "suffix-first":
        tokens += [pre, suf, *suffix, mid, *prefix]
    else:
        tokens += [pre, *prefix, suf, *suffix, mid]
    return Prompt(tokens, forced, hole.prefix[-TAIL_CHARS:].encode("utf-8", "replace"))
