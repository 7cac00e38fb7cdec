"""What is asked of an embedding model, and how it is read from JSON.

Two forms are spoken: llama-server's, with `content`, and OpenAI's, with `input`. Beyond both, a request may say
`max_tokens` and `priority`.
"""

import base64
import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from lsp_harness.errors import EngineRefused
from lsp_harness.inference import dialect
from lsp_harness.inference.request import Priority

Json = dict[str, Any]
DEFAULT_TOKENS = 128
"""What sentence encoders are trained with; more makes code search no better and takes longer in proportion."""
MAX_TOKENS = 510
MAX_TEXTS = 2048


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """Texts to embed, each cut after `max_tokens` tokens; the model's own marks around a text are not counted."""

    texts: tuple[str, ...]
    max_tokens: int = DEFAULT_TOKENS
    priority: Priority = "background"


def read_request(body: Json, field: str) -> EmbeddingRequest:
    """The request whose texts are in `field`. Raises EngineRefused."""
    given = body.get(field)
    texts = cast("list[Any]", given) if isinstance(given, list) else [given]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise EngineRefused(f"`{field}` must be a text or a list of texts")
    if len(texts) > MAX_TEXTS:
        raise EngineRefused(f"`{field}` has {len(texts)} texts; send at most {MAX_TEXTS} at once")
    if body.get("embd_normalize", 2) != 2:
        raise EngineRefused("`embd_normalize` must be 2: vectors have the Euclidean length 1")
    most = dialect.read_int(body, "max_tokens", DEFAULT_TOKENS, 1, MAX_TOKENS)
    return EmbeddingRequest(tuple(cast("list[str]", texts)), most, dialect.read_priority(body, "background"))


def wants_base64(body: Json) -> bool:
    """Whether `encoding_format` asks for base64. Raises EngineRefused."""
    encoding = body.get("encoding_format", "float")
    if encoding not in ("float", "base64"):
        raise EngineRefused("`encoding_format` must be `float` or `base64`")
    return encoding == "base64"


def encode_vector(vector: Sequence[float]) -> str:
    """Base64 of little-endian float32."""
    values = array("f", vector)
    if sys.byteorder == "big":
        values.byteswap()
    return base64.b64encode(values.tobytes()).decode()
