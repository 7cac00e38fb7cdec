"""Requests to an embedding model, and how they are read from JSON.

There are two forms: that of llama-server with the field `content`, and that of OpenAI with `input`. A request may also
contain the fields `max_tokens` and `priority`, which neither form has.
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
"""The length with which sentence encoders are trained.

More tokens do not improve the search for code and take longer.
"""
MAX_TOKENS = 510
MAX_TEXTS = 2048


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """Texts to embed, each cut after `max_tokens` tokens. The special tokens that the model adds do not count."""

    texts: tuple[str, ...]
    max_tokens: int = DEFAULT_TOKENS
    priority: Priority = "background"


def read_request(body: Json, field: str) -> EmbeddingRequest:
    """Return the request whose texts are in `field`. Raise EngineRefused."""
    value = body.get(field)
    texts = cast("list[Any]", value) if isinstance(value, list) else [value]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise EngineRefused(f"`{field}` must be a text or a list of texts")
    if len(texts) > MAX_TEXTS:
        raise EngineRefused(f"`{field}` has {len(texts)} texts; send at most {MAX_TEXTS} at once")
    if body.get("embd_normalize", 2) != 2:
        raise EngineRefused("`embd_normalize` must be 2: vectors have the Euclidean length 1")
    max_tokens = dialect.read_int(body, "max_tokens", DEFAULT_TOKENS, 1, MAX_TOKENS)
    return EmbeddingRequest(tuple(cast("list[str]", texts)), max_tokens, dialect.read_priority(body, "background"))


def wants_base64(body: Json) -> bool:
    """Return whether `encoding_format` is base64. Raise EngineRefused."""
    encoding = body.get("encoding_format", "float")
    if encoding not in ("float", "base64"):
        raise EngineRefused("`encoding_format` must be `float` or `base64`")
    return encoding == "base64"


def encode_vector(vector: Sequence[float]) -> str:
    """Return a vector as base64 of little-endian float32."""
    values = array("f", vector)
    if sys.byteorder == "big":
        values.byteswap()
    return base64.b64encode(values.tobytes()).decode()
