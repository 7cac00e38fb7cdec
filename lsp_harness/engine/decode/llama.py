"""One llama.cpp model and its context.

Everything here belongs to one thread. It uses the low-level binding, because the `Llama` class of the binding knows
only one sequence and evaluates again from the first difference.
"""

import ctypes
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lsp_harness.engine.decode.chat_template import ChatTemplate
from lsp_harness.engine.decode.thread_count import ThreadCount, decode_batch
from lsp_harness.engine.decode.vocabulary import Vocabulary
from lsp_harness.engine.native.declarations import FLASH_ATTENTION_DISABLED, AbortCallback, LogCallback, Token
from lsp_harness.engine.native.loaded_library import lib
from lsp_harness.errors import EngineRefused, ModelError

Logits = np.ndarray[Any, np.dtype[np.float32]]
"""The score of each token of the vocabulary."""

State = np.ndarray[Any, np.dtype[np.uint8]]
"""The cells of a sequence as llama.cpp packs them."""

PARTIAL_STATE = 1
"""llama.cpp's flag for the part of a state that cannot be cut: LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY."""
STATE_HEADER_BYTES = 8
"""Bytes at the beginning of a state that are not in its file: a magic number and the sequence number."""
ALL_LAYERS = 0x7FFFFFFF


class Aborted(Exception):
    """The abort callback stopped a decode. The sequences are as before the decode."""


class TokenRow(NamedTuple):
    """Tokens of one sequence to evaluate from position `start` on. The last `outputs` of them get logits."""

    seq: int
    start: int
    tokens: Sequence[int]
    outputs: int = 1


class Llama:
    """A loaded model and the memory of its sequences.

    Args:
        path: The model file (GGUF).
        n_ctx: Number of cells, shared by all sequences.
        n_seq: Number of sequences.
        n_batch: Number of tokens of one decode step.
        threads: Number of threads; fewer are used while other programs have cores (see `ThreadCount`).
        n_gpu_layers: Number of layers on the GPU; a negative number means all.
        repack: Whether llama.cpp may use special weight layouts (see `repack_probe`).

    Raises:
        ModelError: llama.cpp cannot load the file or has no memory for the context.
    """

    def __init__(
        self, path: Path, *, n_ctx: int, n_seq: int, n_batch: int, threads: int, n_gpu_layers: int, repack: bool = True
    ) -> None:
        lib.llama_log_set(LOG_CALLBACK, ctypes.c_void_p(0))
        lib.llama_backend_init()
        model_params = lib.llama_model_default_params()
        model_params.n_gpu_layers = n_gpu_layers if n_gpu_layers >= 0 else ALL_LAYERS
        model_params.use_extra_bufts = repack
        self.model = lib.llama_model_load_from_file(os.fsencode(path), model_params)
        if not self.model:
            raise ModelError(f"llama.cpp cannot load {path.name}: the file is damaged, or its architecture is unknown")
        self.vocabulary = Vocabulary(lib.llama_model_get_vocab(self.model))
        self.chat_template = ChatTemplate(self.model, self.vocabulary)
        params = lib.llama_context_default_params()
        params.n_ctx = n_ctx
        params.n_batch = params.n_ubatch = n_batch
        params.n_seq_max = n_seq
        params.kv_unified = True
        params.n_threads = params.n_threads_batch = threads
        params.no_perf = True
        self.has_fused_attention = bool(lib.llama_supports_gpu_offload())
        """Whether attention skips the cells of other sequences. Without it, each cell in use slows every step down."""
        if not self.has_fused_attention:
            # On a CPU the fused kernel makes a step over eight long sequences two and a half times as long.
            params.flash_attn_type = FLASH_ATTENTION_DISABLED
        self.should_abort: Callable[[], bool] = lambda: False
        """llama.cpp calls this between two operations of a decode on a CPU."""
        # The callback must live as long as the context.
        self._abort_callback = AbortCallback(self._on_abort_check)
        params.abort_callback = self._abort_callback
        self.ctx = lib.llama_init_from_model(self.model, params)
        if not self.ctx:
            raise ModelError(f"llama.cpp cannot allocate a context of {n_ctx} tokens; lower model.context_length")
        self._thread_count = ThreadCount(threads)
        self.memory = lib.llama_get_memory(self.ctx)
        self.batch = lib.llama_batch_init(n_batch, 0, 1)
        self.n_batch = n_batch
        self.n_ctx = int(lib.llama_n_ctx(self.ctx))
        self.n_seq = n_seq
        self.n_vocab = self.vocabulary.size
        self.n_ctx_train = int(lib.llama_model_n_ctx_train(self.model))
        self.generated_tokens = 0
        """Number of tokens that were generated since the start, counted by the candidates."""
        self._file_header = self._read_file_header()

    def _read_file_header(self) -> bytes:
        """Return the beginning of a file of `save_state`: a magic number and a version, which belong to the library."""
        with tempfile.TemporaryDirectory(prefix="lsp-harness-") as folder:
            file = Path(folder) / "state"
            self.save_state(0, [], file)
            return file.read_bytes()[:STATE_HEADER_BYTES]

    def _on_abort_check(self, _: object) -> bool:
        return self.should_abort()

    def close(self) -> None:
        """Free the model and its context."""
        lib.llama_batch_free(self.batch)
        lib.llama_free(self.ctx)
        lib.llama_model_free(self.model)

    # -- evaluation
    def decode(self, rows: Sequence[TokenRow]) -> None:
        """Evaluate tokens of several sequences in one batch of at most `n_batch` tokens.

        If this fails, the memory is as before. If it succeeds, `logits` returns the results.

        Raises:
            Aborted: `should_abort` returned True.
            EngineRefused: llama.cpp could not evaluate the tokens.
        """
        batch = self.batch
        index = 0
        for row in rows:
            without_output = len(row.tokens) - row.outputs
            for i, token in enumerate(row.tokens):
                batch.token[index] = token
                batch.pos[index] = row.start + i
                batch.n_seq_id[index] = 1
                batch.seq_id[index][0] = row.seq
                batch.logits[index] = i >= without_output
                index += 1
        batch.n_tokens = index
        code = decode_batch(self.ctx, batch, self._thread_count)
        if code == 0:
            return
        for row in rows:
            self.truncate(row.seq, row.start)
        if code == 2:
            raise Aborted
        if code == 1:
            raise EngineRefused("the prompt does not fit into the KV cache; raise model.context_length")
        raise EngineRefused(f"llama.cpp could not evaluate the prompt (code {code})")

    def logits(self, index: int) -> Logits:
        """Return the logits after the token with this index in the last batch. The next batch overwrites them."""
        return np.ctypeslib.as_array(lib.llama_get_logits_ith(self.ctx, index), shape=(self.n_vocab,))

    # -- sequences
    def truncate(self, seq: int, length: int) -> bool:
        """Keep the first `length` positions. Return False if this kind of memory cannot be truncated."""
        return bool(lib.llama_memory_seq_rm(self.memory, seq, length, -1))

    def copy(self, source: int, target: int, length: int, start: int = 0) -> None:
        """Let `target` share the cells of `source` from position `start` up to `length`. No data is copied."""
        lib.llama_memory_seq_cp(self.memory, source, target, start, length)

    def move_cells(self, seq: int, runs: Sequence[tuple[int, int, int]]) -> None:
        """Move runs of cells to other positions and drop the rest of the sequence.

        llama.cpp moves the cells before the next batch, all at once. If that batch were aborted, it would move some of
        them twice. Therefore this evaluates one more token at once, and that batch cannot be aborted.

        Args:
            seq: A sequence that shares no cells.
            runs: The runs in order, each as (position, new position, number of tokens).
        """
        end = 0
        for position, _, size in runs:
            lib.llama_memory_seq_rm(self.memory, seq, end, position)
            end = position + size
        lib.llama_memory_seq_rm(self.memory, seq, end, -1)
        # A run must not be moved onto another that has not moved yet. So the runs that move up go first, the last one
        # before the others, and then those that move down in their order.
        up = [run for run in reversed(runs) if run[1] > run[0]]
        down = [run for run in runs if run[1] < run[0]]
        for position, target, size in (*up, *down):
            lib.llama_memory_seq_add(self.memory, seq, position, position + size, target - position)
        end = runs[-1][1] + runs[-1][2]
        should_abort, self.should_abort = self.should_abort, lambda: False
        try:
            self.decode([TokenRow(seq, end, [0], 0)])
        finally:
            self.should_abort = should_abort
        self.truncate(seq, end)

    # -- states
    def read_state(self, seq: int) -> State:
        """Return a copy of the cells of a sequence, for the host memory or the disk."""
        buffer = np.empty(lib.llama_state_seq_get_size(self.ctx, seq), np.uint8)
        size = lib.llama_state_seq_get_data(self.ctx, _as_pointer(buffer), len(buffer), seq)
        return buffer[:size]

    def load_state(self, seq: int, state: State) -> bool:
        """Fill an empty sequence with a copy of cells. Return False, and leave it empty, if there is no room."""
        if lib.llama_state_seq_set_data(self.ctx, _as_pointer(state), len(state), seq):
            return True
        self.truncate(seq, 0)
        return False

    def read_checkpoint(self, seq: int) -> State:
        """Return a copy of the state of a sequence that `truncate` cannot roll back, without the cells of attention."""
        buffer = np.empty(lib.llama_state_seq_get_size_ext(self.ctx, seq, PARTIAL_STATE), np.uint8)
        size = lib.llama_state_seq_get_data_ext(self.ctx, _as_pointer(buffer), len(buffer), seq, PARTIAL_STATE)
        return buffer[:size]

    def load_checkpoint(self, seq: int, state: State) -> bool:
        """Put the state of a checkpoint back into a sequence. Then `truncate` can cut at the place of the checkpoint.

        Returns:
            Whether that worked.
        """
        return bool(lib.llama_state_seq_set_data_ext(self.ctx, _as_pointer(state), len(state), seq, PARTIAL_STATE))

    def save_state(self, seq: int, tokens: Sequence[int], file: Path) -> bool:
        """Write the cells of a sequence and its tokens to a file. Return whether that worked."""
        buffer = (Token * len(tokens))(*tokens)
        return bool(lib.llama_state_seq_save_file(self.ctx, os.fsencode(file), seq, buffer, len(tokens)))

    def write_state(self, tokens: Sequence[int], state: State, file: Path) -> None:
        """Write the same file as `save_state` for a sequence that is no longer in the memory."""
        count = np.array([len(tokens)], np.uint32)
        with file.open("wb") as out:
            out.write(self._file_header)
            for part in (count, np.asarray(tokens, np.int32), state[STATE_HEADER_BYTES:]):
                out.write(part.data)

    def restore_state(self, seq: int, file: Path, max_tokens: int) -> list[int]:
        """Read a file into an empty sequence. Return its tokens, or none if llama.cpp refuses the file."""
        buffer = (Token * max_tokens)()
        count = ctypes.c_size_t(0)
        if lib.llama_state_seq_load_file(self.ctx, os.fsencode(file), seq, buffer, max_tokens, ctypes.byref(count)):
            return list(buffer[: count.value])
        self.truncate(seq, 0)
        return []


def _as_pointer(buffer: State) -> Any:
    return buffer.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))


def _log(level: int, text: bytes, _: object) -> None:
    """Write warnings and errors of llama.cpp to the log of the engine."""
    if level in (3, 4) and text:
        sys.stderr.write(text.decode("utf-8", "replace"))


LOG_CALLBACK = LogCallback(_log)
"""llama.cpp keeps the pointer until the process ends, so it must not belong to one model."""
