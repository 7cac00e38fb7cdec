"""From prefix and suffix to prompt tokens, in the order that suits the model.

`suffix-first` lets the middle continue the prefix, so that typing only appends to what is already evaluated; whether
a model can do that is measured per model and kept in its card. Token ids come from the model's own metadata.
"""

from typing import Literal, Protocol

from lsp_harness.engine.decode.generation import Prompt, Work
from lsp_harness.errors import EngineRefused
from lsp_harness.inference.infill_text import file_name_lines, heal
from lsp_harness.inference.request import Infill, InfillContext

Order = Literal["suffix-first", "prefix-suffix-middle"]
TAIL = 256
"""Characters before an answer that say what is expected in it."""


class Tokenizer(Protocol):
    fim: dict[str, int]
    opening: tuple[int, ...]

    def tokenize(self, text: str, *, special: bool = False) -> list[int]: ...
    def piece(self, token: int, *, special: bool = False) -> bytes: ...


def assemble(tokenizer: Tokenizer, infill: Infill, order: Order) -> Work:
    """The prompts of an infill request, first choice first."""
    prompts = tuple(_prompt(tokenizer, given, order, infill.heal) for given in (infill.context, *infill.shorter))
    return Work(prompts, infill.sampling, infill.owner, infill.budget_ms, infill.cache_reuse)


def _prompt(tokenizer: Tokenizer, around: InfillContext, order: Order, healed: bool) -> Prompt:
    pre, suf, mid = (tokenizer.fim[name] for name in ("pre", "suf", "mid"))
    if min(pre, suf, mid) < 0:
        raise EngineRefused(
            "this model has no fill-in-the-middle tokens; choose one that has them (lsp-harness model list)"
        )
    tokens = [*tokenizer.opening]
    for title, (_, text) in zip(file_name_lines(around), around.extra, strict=True):
        if title and (sep := tokenizer.fim.get("sep", -1)) >= 0:
            tokens += [sep, *tokenizer.tokenize(title)]
        tokens += tokenizer.tokenize(text)
    before, forced = heal(around.prefix) if healed else (around.prefix, b"")
    prefix, suffix = tokenizer.tokenize(before), tokenizer.tokenize(around.suffix)
    if order == "suffix-first":
        tokens += [pre, suf, *suffix, mid, *prefix]
    else:
        tokens += [pre, *prefix, suf, *suffix, mid]
    return Prompt(tokens, forced, around.prefix[-TAIL:].encode("utf-8", "replace"))
