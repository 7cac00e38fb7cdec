"""A llama.cpp model that turns a text into a vector, and its context.

Everything here belongs to one thread. llama.cpp's log goes where `decode.llama` has sent it, or nowhere. Each text is a
batch of its own: texts in one batch share an attention matrix and take longer than one after the other.
"""

import math
import os
from collections.abc import Sequence
from pathlib import Path

from lsp_harness.engine.decode.thread_count import ThreadCount, decode_batch
from lsp_harness.engine.native.declarations import POOLINGS as POOLING_NUMBERS
from lsp_harness.engine.native.declarations import Token
from lsp_harness.engine.native.loaded_library import SILENT_LOG, lib
from lsp_harness.errors import EngineError, EngineRefused, ModelError
from lsp_harness.inference.embedding_recipe import POOLINGS
from lsp_harness.inference.libraries.library_choice import find_library

MAX_TOKENS = 512
"""Size of context and batch. llama.cpp ends the process if the text of an encoder is longer than its batch."""
CHARS_PER_TOKEN = 64
"""Before a text is tokenized, it is cut to this many characters for each token, because it may be a whole file."""


def use_library(setting: str) -> None:
    """Load the library of llama.cpp for all encoders of this process.

    Args:
        setting: The setting `engine.library`.

    Raises:
        LibraryError: The library is missing or cannot be loaded, or this process has loaded another one.
    """
    lib.load(find_library(setting))


class Encoder:
    """A loaded embedding model.

    Args:
        path: The model file (GGUF).
        threads: Number of threads.
        pooling: How the vectors of the tokens are combined: `auto` (as the file says), `mean`, `cls` or `last`.
        silent: Whether llama.cpp writes no log.

    Raises:
        ModelError: The file is no embedding model, or llama.cpp cannot load it.
    """

    def __init__(self, path: Path, *, threads: int, pooling: str = "auto", silent: bool = False) -> None:
        if pooling not in POOLINGS:
            raise ModelError(f"index.embedding_pooling must be one of {', '.join(POOLINGS)}, not {pooling!r}")
        if silent:
            lib.llama_log_set(SILENT_LOG, None)
        model_params = lib.llama_model_default_params()
        # Special layouts of 8-bit weights use AMX. On machines that advertise AMX falsely they kill the process.
        model_params.use_extra_bufts = False
        # The model is small enough for the CPU. The GPU is for the language model, because users wait for it.
        model_params.n_gpu_layers = 0
        self._model = lib.llama_model_load_from_file(os.fsencode(path), model_params)
        if not self._model:
            raise ModelError(f"llama.cpp cannot load {path.name}: the file is damaged, or its architecture is unknown")
        self._vocab = lib.llama_model_get_vocab(self._model)
        size = min(MAX_TOKENS, int(lib.llama_model_n_ctx_train(self._model)))
        params = lib.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = size
        params.n_threads = params.n_threads_batch = threads
        params.embeddings = True
        params.pooling_type = POOLING_NUMBERS[pooling]
        params.no_perf = True
        self._context = lib.llama_init_from_model(self._model, params)
        if not self._context:
            lib.llama_model_free(self._model)
            raise ModelError(f"llama.cpp cannot allocate a context of {size} tokens for {path.name}")
        self._thread_count = ThreadCount(threads)
        self._batch = lib.llama_batch_init(size, 0, 1)
        if lib.llama_pooling_type(self._context) in (POOLING_NUMBERS["none"], POOLING_NUMBERS["rank"]):
            self.close()
            raise ModelError(f"{path.name} is not an embedding model: set index.embedding_model to an embedding model")
        frame = self._tokenize("", add_special=True)
        start_count = 1 if frame and frame[0] == lib.llama_vocab_bos(self._vocab) else 0
        self._start_tokens, self._end_tokens = frame[:start_count], frame[start_count:]
        self.max_text_tokens = size - len(frame)
        """Number of tokens of a text that fit."""
        self.dimensions = int(lib.llama_model_n_embd_out(self._model))
        """Length of a vector."""

    def close(self) -> None:
        """Free the model and its context."""
        lib.llama_batch_free(self._batch)
        lib.llama_free(self._context)
        lib.llama_model_free(self._model)

    def tokenize(self, text: str, max_tokens: int) -> list[int]:
        """Return the first `max_tokens` tokens of the text, between the marks that the model needs around a text."""
        tokens = self._tokenize(text[: max_tokens * CHARS_PER_TOKEN], add_special=False)
        return [*self._start_tokens, *tokens[: min(max_tokens, self.max_text_tokens)], *self._end_tokens]

    def encode(self, tokens: Sequence[int]) -> list[float]:
        """Return the vector of a text, scaled to length 1.

        Raises:
            EngineRefused: The text has no tokens.
            EngineError: llama.cpp could not embed the text.
        """
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
        code = decode_batch(self._context, batch, self._thread_count)
        pointer = lib.llama_get_embeddings_seq(self._context, 0) if code == 0 else None
        if not pointer:
            raise EngineError(f"llama.cpp could not embed the text (code {code})")
        vector: list[float] = pointer[: self.dimensions]
        length = math.hypot(*vector)
        if not 0 < length < math.inf:
            raise EngineError("the embedding model returned a vector of zeros; its file may be damaged")
        return [value / length for value in vector]

    def _tokenize(self, text: str, *, add_special: bool) -> list[int]:
        data = text.encode("utf-8", "replace")
        capacity = len(data) + 8
        buffer = (Token * capacity)()
        count = lib.llama_tokenize(self._vocab, data, len(data), buffer, capacity, add_special, False)
        if count < 0:
            raise EngineRefused("the text cannot be tokenized")
        return list(buffer[:count])
