"""One llama.cpp model that turns a text into a vector, and its context. Beside `llama`, the only file that knows `llama_cpp`.

Everything here belongs to one thread. llama.cpp's log goes where `llama` has sent it, or nowhere. A text is one batch of its
own: batched together, texts share one attention matrix and take longer than one after the other.
"""

# the binding is generated ctypes code, mostly untyped; what leaves this file is typed
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false

import ctypes
import math
import os
from collections.abc import Sequence
from pathlib import Path

import llama_cpp as lib

from lsp_harness.errors import EngineError, EngineRefused, ModelError
from lsp_harness.inference.embedding_recipe import POOLINGS

MOST_TOKENS = 512
"""llama.cpp ends the process when an encoder's text is longer than its batch: context and batch have this one size."""
CHARACTERS_A_TOKEN = 64
"""Text is cut to so many characters for each token it may have before it is tokenized, as whole files may come."""


def _silent(level: int, text: bytes, data: object) -> None: ...


SILENT = lib.llama_log_callback(_silent)
"""llama.cpp keeps the pointer for good, so it must not belong to any one model."""


class Encoder:
    """A loaded embedding model. `limit` is how many tokens of a text it can take, `dimensions` the vector's length. In a process
    that has no log it is `silent`."""

    def __init__(self, path: Path, *, threads: int, pooling: str = "auto", silent: bool = False) -> None:
        if pooling not in POOLINGS:
            raise ModelError(f"index.embedding_pooling must be one of {', '.join(POOLINGS)}, not {pooling!r}")
        if silent:
            lib.llama_log_set(SILENT, ctypes.c_void_p(0))
        wanted = lib.llama_model_default_params()
        # special layouts of 8-bit weights are for AMX, and machines that advertise it falsely die of them
        wanted.use_extra_bufts = False
        # small enough for the CPU, and a GPU belongs to the model that people wait for
        wanted.n_gpu_layers = 0
        self._model = lib.llama_model_load_from_file(os.fsencode(path), wanted)
        if not self._model:
            raise ModelError(f"llama.cpp cannot load {path.name}: the file is damaged, or its architecture is unknown")
        self._vocab = lib.llama_model_get_vocab(self._model)
        size = min(MOST_TOKENS, int(lib.llama_model_n_ctx_train(self._model)))
        params = lib.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = size
        params.n_threads = params.n_threads_batch = threads
        params.embeddings = True
        # `auto` is "unspecified" there
        name = "UNSPECIFIED" if pooling == "auto" else pooling.upper()
        params.pooling_type = getattr(lib, f"LLAMA_POOLING_TYPE_{name}")
        params.no_perf = True
        self._context = lib.llama_init_from_model(self._model, params)
        if not self._context:
            lib.llama_model_free(self._model)
            raise ModelError(f"llama.cpp cannot allocate a context of {size} tokens for {path.name}")
        self._batch = lib.llama_batch_init(size, 0, 1)
        if lib.llama_pooling_type(self._context) in (lib.LLAMA_POOLING_TYPE_NONE, lib.LLAMA_POOLING_TYPE_RANK):
            self.close()
            raise ModelError(f"{path.name} is not an embedding model: set index.embedding_model to an embedding model")
        frame = self._tokens("", framed=True)
        head = 1 if frame and frame[0] == lib.llama_vocab_bos(self._vocab) else 0
        self._head, self._tail = frame[:head], frame[head:]
        self.limit = size - len(frame)
        self.dimensions = int(lib.llama_model_n_embd_out(self._model))

    def close(self) -> None:
        lib.llama_batch_free(self._batch)
        lib.llama_free(self._context)
        lib.llama_model_free(self._model)

    def tokenize(self, text: str, most: int) -> list[int]:
        """The first `most` tokens of the text, between the marks the model wants around it."""
        tokens = self._tokens(text[: most * CHARACTERS_A_TOKEN], framed=False)
        return [*self._head, *tokens[: min(most, self.limit)], *self._tail]

    def encode(self, tokens: Sequence[int]) -> list[float]:
        """The vector of a text, of length 1."""
        if not tokens:
            raise EngineRefused("an empty text has no vector in this model")
        memory = lib.llama_get_memory(self._context)
        if memory:
            lib.llama_memory_clear(memory, True)
        batch = self._batch
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i] = token
            batch.pos[i] = i
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = 0
            batch.logits[i] = 1
        code = lib.llama_decode(self._context, batch)
        pointer = lib.llama_get_embeddings_seq(self._context, 0) if code == 0 else None
        if not pointer:
            raise EngineError(f"llama.cpp could not embed the text (code {code})")
        vector: list[float] = pointer[: self.dimensions]
        length = math.hypot(*vector)
        if not 0 < length < math.inf:
            raise EngineError("the embedding model returned a vector of zeros; its file may be damaged")
        return [value / length for value in vector]

    def _tokens(self, text: str, *, framed: bool) -> list[int]:
        data = text.encode("utf-8", "replace")
        size = len(data) + 8
        room = (lib.llama_token * size)()
        count = lib.llama_tokenize(self._vocab, data, len(data), room, size, framed, False)
        if count < 0:
            raise EngineRefused("the text cannot be tokenized")
        return list(room[:count])
