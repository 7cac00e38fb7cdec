"""From prefix and suffix to prompt tokens, in the order that suits the model.

`suffix-first` lets the middle continue the prefix, so that typing only appends to what is already evaluated; whether
a model can do that is measured per model and kept in its card. Token ids come from the model's own metadata.
"""

import re
from typing import Literal, Protocol

from lsp_harness.errors import EngineRefused
from lsp_harness.inference.generate import Work
from lsp_harness.inference.request import Infill

Order = Literal["suffix-first", "prefix-suffix-middle"]
BLANK = re.compile(r"[ \t]+\Z")


class Tokenizer(Protocol):
    fim: dict[str, int]

    def tokenize(self, text: str, *, special: bool = False) -> list[int]: ...
    def piece(self, token: int, *, special: bool = False) -> bytes: ...


def heal(tokenizer: Tokenizer, prefix: str) -> tuple[list[int], bytes]:
    """Tokens of `prefix` up to a boundary the model would have chosen, and the text that was taken off.

    Blanks at the end go as a whole, because a tokenizer puts the last one with the word that follows; otherwise the
    last token goes, because more typing could have merged into it.
    """
    if blank := BLANK.search(prefix):
        return tokenizer.tokenize(prefix[: blank.start()]), blank.group().encode()
    tokens = tokenizer.tokenize(prefix)
    if not tokens or prefix.endswith(("\n", "\r")):
        return tokens, b""
    return tokens[:-1], tokenizer.piece(tokens[-1])


def assemble(tokenizer: Tokenizer, infill: Infill, order: Order) -> Work:
    """The prompt of an infill request."""
    pre, suf, mid = (tokenizer.fim[name] for name in ("pre", "suf", "mid"))
    if min(pre, suf, mid) < 0:
        raise EngineRefused("this model has no fill-in-the-middle tokens; choose one that has (lsp-harness model list)")
    tokens: list[int] = []
    for _, text in infill.around.extra:
        tokens += tokenizer.tokenize(text)
    prefix, forced = (
        heal(tokenizer, infill.around.prefix) if infill.heal else (tokenizer.tokenize(infill.around.prefix), b"")
    )
    suffix = tokenizer.tokenize(infill.around.suffix)
    if order == "suffix-first":
        tokens += [pre, suf, *suffix, mid, *prefix]
    else:
        tokens += [pre, *prefix, suf, *suffix, mid]
    return Work(tokens, infill.sampling, forced)
