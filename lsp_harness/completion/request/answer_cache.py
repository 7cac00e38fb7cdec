"""What the model wrote before, kept by everything that it was told: the same question needs no model.

The key covers the text on both sides, the outline, what other files say, the language, the path and the settings. What is kept is the
model's own text, so an answer from here is shaped and gated for the document as it is now.
"""

from collections import OrderedDict
from dataclasses import dataclass
from hashlib import blake2b

from lsp_harness.inference.request import Stop, Usage

BACK = 32
"""Characters before the cursor that may have been typed since."""


@dataclass(frozen=True, slots=True)
class Written:
    """A model's text; `stop` is None when it was left off because it was enough.

    `steps` are its tokens where their probabilities are known: how long the text was with each, and the log probability.
    """

    text: str
    stop: Stop | None
    steps: tuple[tuple[int, float], ...] = ()

    def past(self, size: int) -> "Written":
        """What is left when the first `size` characters have been typed."""
        steps = tuple((at - size, logprob) for at, logprob in self.steps if at > size)
        return Written(self.text[size:], self.stop, steps)


class Results:
    """The last `KEPT` texts."""

    KEPT = 250

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, Written] = OrderedDict()

    def keep(self, prefix: str, about: tuple[object, ...], written: Written, usage: Usage) -> None:
        """Add it, unless a short prompt or too little time made it what it is: then the next may be better."""
        if not usage.rung and written.stop not in ("deadline", "cancelled"):
            self.add(prefix, about, written)

    def add(self, prefix: str, about: tuple[object, ...], written: Written) -> None:
        """`prefix` is the text before the cursor; `about` all else that decides the answer, suffix included."""
        key = _key(_hash(about), prefix)
        self._known[key] = written
        self._known.move_to_end(key)
        while len(self._known) > self.KEPT:
            self._known.popitem(last=False)

    def find(self, prefix: str, about: tuple[object, ...]) -> Written | None:
        """What was written here, or a few characters ago on this line, if those are what was typed since."""
        base = _hash(about)
        line = len(prefix) - (prefix.rfind("\n") + 1)
        for back in range(min(line, BACK) + 1):
            at = len(prefix) - back
            key = _key(base, prefix[:at])
            known = self._known.get(key)
            if known and (not back or (known.text.startswith(prefix[at:]) and known.text[back:].strip())):
                self._known.move_to_end(key)
                return known.past(back)
        return None


def _hash(about: tuple[object, ...]) -> "blake2b":
    return blake2b(repr(about).encode("utf-8", "surrogatepass"), digest_size=16)


def _key(base: "blake2b", prefix: str) -> bytes:
    digest = base.copy()
    digest.update(prefix.encode("utf-8", "surrogatepass"))
    return digest.digest()
