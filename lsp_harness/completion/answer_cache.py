"""A cache of the model's answers, so that an equal request needs no model.

The key covers the text on both sides, the outline, the code of other files, the language, the path and the settings.
The cache keeps the model's own text, so that a cached answer passes the rules and the syntax check of the present
document.
"""

from collections import OrderedDict
from dataclasses import dataclass
from hashlib import blake2b

from lsp_harness.inference.request import Stop, Usage

MAX_ANSWERS = 250
MAX_TYPED_CHARACTERS = 32
"""An answer is also found this many characters after its place, if the user typed what it says."""


@dataclass(frozen=True, slots=True)
class ModelText:
    """The text of one answer of a model, with the probability of each token.

    Attributes:
        text: The text.
        stop: Why the engine ended it, or None if more text could not change what is shown.
        steps: For each token, the length of the text including it and its log probability. Empty if not known.
    """

    text: str
    stop: Stop | None
    steps: tuple[tuple[int, float], ...] = ()

    def without_start(self, size: int) -> "ModelText":
        """Return the rest of the text after its first `size` characters."""
        steps = tuple((end - size, logprob) for end, logprob in self.steps if end > size)
        return ModelText(self.text[size:], self.stop, steps)


class AnswerCache:
    """The last `MAX_ANSWERS` answers of one client."""

    def __init__(self) -> None:
        self._answers: OrderedDict[bytes, ModelText] = OrderedDict()

    def add(self, prefix: str, inputs: tuple[object, ...], answer: ModelText, usage: Usage) -> None:
        """Store an answer, unless a short prompt or a deadline limited it: then a second request may do better.

        Args:
            prefix: The text before the cursor.
            inputs: Everything else that decides the answer, the text behind the cursor included.
            answer: The text of the model.
            usage: What the engine reported of the request.
        """
        if usage.rung or answer.stop in ("deadline", "cancelled"):
            return
        key = _make_key(_hash(inputs), prefix)
        self._answers[key] = answer
        self._answers.move_to_end(key)
        while len(self._answers) > MAX_ANSWERS:
            self._answers.popitem(last=False)

    def find(self, prefix: str, inputs: tuple[object, ...]) -> ModelText | None:
        """Return the answer for this place, or the rest of one whose start the user typed since."""
        base = _hash(inputs)
        line_length = len(prefix) - (prefix.rfind("\n") + 1)
        for typed_size in range(min(line_length, MAX_TYPED_CHARACTERS) + 1):
            place = len(prefix) - typed_size
            key = _make_key(base, prefix[:place])
            answer = self._answers.get(key)
            if answer and (
                not typed_size or (answer.text.startswith(prefix[place:]) and answer.text[typed_size:].strip())
            ):
                self._answers.move_to_end(key)
                return answer.without_start(typed_size)
        return None


def _hash(inputs: tuple[object, ...]) -> "blake2b":
    return blake2b(repr(inputs).encode("utf-8", "surrogatepass"), digest_size=16)


def _make_key(base: "blake2b", prefix: str) -> bytes:
    digest = base.copy()
    digest.update(prefix.encode("utf-8", "surrogatepass"))
    return digest.digest()
