"""One llama.cpp model and its context.

Everything here belongs to one thread. It uses the low-level binding, because the binding's `Llama` class knows one
sequence and re-evaluates from the first difference. Tokens are ints, pieces are bytes.
"""

# the binding is generated ctypes code, mostly untyped; what leaves this file is typed
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportIndexIssue=false

import ctypes
import os
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import llama_cpp as lib
import numpy as np

from lsp_harness.engine.decode.chat_template import Messages, compiled
from lsp_harness.errors import EngineRefused, ModelError

Logits = np.ndarray[Any, np.dtype[np.float32]]
"""One row: the score of each token of the vocabulary."""

Tokens = np.ndarray[Any, np.dtype[np.int32]]

State = np.ndarray[Any, np.dtype[np.uint8]]
"""The bytes of a sequence's cells, as llama.cpp packs them."""

STATE_HEAD = 8
"""Bytes before it that are not in a file: a magic number and the sequence's."""


class Aborted(Exception):
    """The abort callback stopped a decode; its sequences are cut back to where it began."""


class Row(NamedTuple):
    """Tokens of one sequence to evaluate from position `at`; the last `outputs` of them get logits."""

    seq: int
    at: int
    tokens: Sequence[int]
    outputs: int = 1


class Llama:
    """A loaded model. `n_ctx` cells are shared by up to `n_seq` sequences."""

    def __init__(
        self,
        path: Path,
        *,
        n_ctx: int,
        n_seq: int,
        n_batch: int,
        threads: int,
        n_gpu_layers: int,
        decode_threads: int,
        repack: bool = True,
    ) -> None:
        lib.llama_log_set(LOG, ctypes.c_void_p(0))
        lib.llama_backend_init()
        wanted = lib.llama_model_default_params()
        wanted.n_gpu_layers = n_gpu_layers if n_gpu_layers >= 0 else 0x7FFFFFFF
        wanted.use_extra_bufts = repack
        self.model = lib.llama_model_load_from_file(os.fsencode(path), wanted)
        if not self.model:
            raise ModelError(f"llama.cpp cannot load {path.name}: the file is damaged, or its architecture is unknown")
        self.vocab = lib.llama_model_get_vocab(self.model)
        params = lib.llama_context_default_params()
        params.n_ctx = n_ctx
        params.n_batch = params.n_ubatch = n_batch
        params.n_seq_max = n_seq
        params.kv_unified = True
        params.n_threads = decode_threads
        params.n_threads_batch = threads
        params.no_perf = True
        self.fused = bool(lib.llama_supports_gpu_offload())
        """Attention by llama.cpp's fused kernel, which passes over cells of other sequences. Without it they cost."""
        if not self.fused:
            # on a CPU that kernel makes a step over eight long sequences two and a half times as long
            params.flash_attn_type = lib.LLAMA_FLASH_ATTN_TYPE_DISABLED
        self.should_abort: Callable[[], bool] = lambda: False
        self._abort = lib.ggml_abort_callback(self._aborting)
        params.abort_callback = self._abort
        self.ctx = lib.llama_init_from_model(self.model, params)
        if not self.ctx:
            raise ModelError(f"llama.cpp cannot allocate a context of {n_ctx} tokens; lower model.context_length")
        self.memory = lib.llama_get_memory(self.ctx)
        self.batch = lib.llama_batch_init(n_batch, 0, 1)
        self.n_batch = n_batch
        self.n_ctx = int(lib.llama_n_ctx(self.ctx))
        self.n_seq = n_seq
        self.n_vocab = int(lib.llama_vocab_n_tokens(self.vocab))
        self.n_ctx_train = int(lib.llama_model_n_ctx_train(self.model))
        self.opening = _opening(self.vocab)
        """What every prompt of this model begins with: the token for the beginning of a text, where it knows one."""
        self.fim = {
            name: int(getattr(lib, f"llama_vocab_fim_{name}")(self.vocab))
            for name in ("pre", "suf", "mid", "pad", "rep", "sep")
        }
        self.ids = np.arange(self.n_vocab, dtype=np.int32)
        # one blank has tens of thousands of tokens that begin with it
        self.spelled = lru_cache(32)(self._spelled)
        self._template: Callable[[Messages], str] | None = None
        self.tokens_generated = 0

    def _aborting(self, _: object) -> bool:
        return self.should_abort()

    def close(self) -> None:
        lib.llama_batch_free(self.batch)
        lib.llama_free(self.ctx)
        lib.llama_model_free(self.model)

    # -- text
    def tokenize(self, text: str, *, special: bool = False) -> list[int]:
        """Tokens of `text`, nothing added; `special` lets `<|…|>` in it mean what they say."""
        data = text.encode("utf-8", "replace")
        size = len(data) + 8
        room = (lib.llama_token * size)()
        count = lib.llama_tokenize(self.vocab, data, len(data), room, size, False, special)
        if count < 0:
            raise EngineRefused("the text cannot be tokenized")
        return list(room[:count])

    def piece(self, token: int, *, special: bool = False) -> bytes:
        room = ctypes.create_string_buffer(64)
        count = lib.llama_token_to_piece(self.vocab, token, room, len(room), 0, special)
        if count < 0:
            room = ctypes.create_string_buffer(-count)
            count = lib.llama_token_to_piece(self.vocab, token, room, len(room), 0, special)
        return room.raw[:count]

    def ends(self, token: int) -> bool:
        """End of generation: end of text, end of turn, FIM padding and separators, and any other mark that is no text."""
        return bool(lib.llama_vocab_is_eog(self.vocab, token) or lib.llama_vocab_is_control(self.vocab, token))

    @cached_property
    def marks(self) -> Tokens:
        """Tokens that end an answer without being an end (see `ends`)."""
        vocab = self.vocab
        marks = (t for t in range(self.n_vocab) if lib.llama_vocab_is_control(vocab, t))
        return np.asarray([t for t in marks if not lib.llama_vocab_is_eog(vocab, t)], np.int32)

    def metadata(self, key: str) -> str:
        room = ctypes.create_string_buffer(65536)
        count = lib.llama_model_meta_val_str(self.model, key.encode(), room, len(room))
        return room.value.decode("utf-8", "replace") if count >= 0 else ""

    def chat(self, messages: Sequence[tuple[str, str]]) -> str:
        """The prompt of a conversation of (role, content), by the model's own template."""
        source = lib.llama_model_chat_template(self.model, None)
        if not source:
            raise EngineRefused("this model has no chat template; choose an instruct model")
        if self._template is None:
            bos, eos = (self._named(getattr(lib, f"llama_vocab_{end}")(self.vocab)) for end in ("bos", "eos"))
            own = compiled(source.decode("utf-8", "replace"), bos=bos, eos=eos)
            self._template = own or (lambda messages: self._known(source, messages))
        try:
            return self._template(messages)
        except EngineRefused as refused:
            try:
                return self._known(source, messages)
            except EngineRefused:
                raise refused from None

    def _named(self, token: int) -> str:
        return self.piece(token, special=True).decode("utf-8", "replace") if token >= 0 else ""

    def _known(self, template: bytes, messages: Messages) -> str:
        """By llama.cpp's own form of a template that it recognises."""
        turns = (lib.llama_chat_message * len(messages))(
            *((r.encode("utf-8", "replace"), c.encode("utf-8", "replace")) for r, c in messages)
        )
        room = ctypes.create_string_buffer(4096)
        count = lib.llama_chat_apply_template(template, turns, len(messages), True, room, len(room))
        if count > len(room):
            room = ctypes.create_string_buffer(count)
            count = lib.llama_chat_apply_template(template, turns, len(messages), True, room, len(room))
        if count < 0:
            raise EngineRefused("llama.cpp does not know this model's chat template")
        return room.raw[:count].decode("utf-8", "replace")

    @cached_property
    def pieces(self) -> list[tuple[bytes, int]]:
        """What all tokens say, in order."""
        return sorted((p, t) for t in range(self.n_vocab) if (p := self.piece(t)))

    def most(self, lead: bytes, name: bytes) -> list[int]:
        """The token that spells `lead` and the most of `name`, but nothing else; there may be several, or none."""
        sizes = range(len(name), 0, -1)
        return next((found for size in sizes if (found := self._exactly(lead + name[:size]))), [])

    def _spelled(self, start: bytes) -> Tokens:
        """Tokens that agree with text `start`: those that begin with it and those it begins with.

        Of blanks a tokenizer leaves at most one to the word behind them. So of those that `start` begins with only the
        longest are taken then: a model that would rather see the line elsewhere spells them one by one, which costs a
        step each and is no text it was trained on.
        """
        least = 1
        if start.isspace():
            longest = next((size for size in range(len(start), 1, -1) if self._exactly(start[:size])), 1)
            least = max(1, min(longest, len(start) - 1))
        found = [token for size in range(least, len(start)) for token in self._exactly(start[:size])]
        at = bisect_left(self.pieces, (start, -1))
        while at < len(self.pieces) and self.pieces[at][0].startswith(start):
            found.append(self.pieces[at][1])
            at += 1
        return np.asarray(found, np.int32)

    def _exactly(self, text: bytes) -> list[int]:
        """Tokens that are this text; there may be several."""
        at, found = bisect_left(self.pieces, (text, -1)), list[int]()
        while at < len(self.pieces) and self.pieces[at][0] == text:
            found.append(self.pieces[at][1])
            at += 1
        return found

    # -- evaluation
    def decode(self, rows: Sequence[Row]) -> None:
        """Evaluate the tokens of several sequences in one batch of at most `n_batch` tokens.

        Afterwards `logits(i)` belongs to the i-th token of the batch, where its row asked for it. On failure nothing
        of the batch stays in the memory. Raises Aborted when `should_abort` said so.
        """
        batch = self.batch
        at = 0
        for row in rows:
            quiet = len(row.tokens) - row.outputs
            for i, token in enumerate(row.tokens):
                batch.token[at] = token
                batch.pos[at] = row.at + i
                batch.n_seq_id[at] = 1
                batch.seq_id[at][0] = row.seq
                batch.logits[at] = i >= quiet
                at += 1
        batch.n_tokens = at
        code = lib.llama_decode(self.ctx, batch)
        if code == 0:
            return
        for row in rows:
            self.cut(row.seq, row.at)
        if code == 2:
            raise Aborted
        if code == 1:
            raise EngineRefused("the prompt does not fit into the KV cache; raise model.context_length")
        raise EngineRefused(f"llama.cpp could not evaluate the prompt (code {code})")

    def logits(self, index: int) -> Logits:
        """What the `index`-th token of the last batch predicts; overwritten by the next batch."""
        return np.ctypeslib.as_array(lib.llama_get_logits_ith(self.ctx, index), shape=(self.n_vocab,))

    # -- sequences
    def cut(self, seq: int, length: int) -> bool:
        """Keep the first `length` positions. False where this kind of memory cannot be cut."""
        return bool(lib.llama_memory_seq_rm(self.memory, seq, length, -1))

    def copy(self, source: int, target: int, length: int, start: int = 0) -> None:
        """Let `target` share the cells of `source` from position `start` up to `length`; metadata only."""
        lib.llama_memory_seq_cp(self.memory, source, target, start, length)

    def move(self, seq: int, runs: Sequence[tuple[int, int, int]]) -> None:
        """Of a sequence that shares no cells keep these runs, each (position, new position, tokens) and in order.

        llama.cpp moves them before the next batch, all at once; were that interrupted, it would move some twice. So the
        next batch is here, of one token, and cannot be aborted.
        """
        end = 0
        for position, _, size in runs:
            lib.llama_memory_seq_rm(self.memory, seq, end, position)
            end = position + size
        lib.llama_memory_seq_rm(self.memory, seq, end, -1)
        # lest one be moved onto another that has yet to go: those that go up from the last one on, those that go down after
        up = [run for run in reversed(runs) if run[1] > run[0]]
        for position, target, size in (*up, *(run for run in runs if run[1] < run[0])):
            lib.llama_memory_seq_add(self.memory, seq, position, position + size, target - position)
        end = runs[-1][1] + runs[-1][2]
        should_abort, self.should_abort = self.should_abort, lambda: False
        try:
            self.decode([Row(seq, end, [0], 0)])
        finally:
            self.should_abort = should_abort
        self.cut(seq, end)

    def move_ms(self) -> float | None:
        """What `move` takes; None where this model's cells cannot be moved, or not without harm to all others.

        Under some scalings of positions (YaRN, longrope) llama.cpp scales the keys of every cell again each time. And
        it believes of models without rotated keys, at all or in some layers, that it can move them. So it is tried:
        the same token at every position has the same keys but for the position.
        """
        if not lib.llama_memory_can_shift(self.memory):
            return None
        self.decode([Row(0, 0, [0, 0, 0, 0], 0)])
        before = self.state(0)
        times: list[float] = []
        moved = before[:0]
        for _ in range(2):
            began = perf_counter()
            if not self.put(1, before):
                return None
            self.move(1, [(1, 2, 2)])
            times.append((perf_counter() - began) * 1000)
            moved = self.state(1)
            self.cut(1, 0)
        unharmed = np.array_equal(before, self.state(0))
        lib.llama_memory_seq_rm(self.memory, 0, 0, 2)
        there = self.state(0)
        self.cut(0, 0)
        return min(times) if unharmed and _alike(moved, there) else None

    def traits(self) -> dict[str, Any]:
        """What kind of memory this model has. One that cannot be cut evaluates each prompt from its beginning."""
        self.decode([Row(0, 0, [0, 0], 0)])
        cuts = self.cut(0, 1)
        self.cut(0, 0)
        return {
            "cuts": cuts,
            "window": int(lib.llama_model_n_swa(self.model)),
            "recurrent": bool(lib.llama_model_is_recurrent(self.model) or lib.llama_model_is_hybrid(self.model)),
        }

    def save(self, seq: int, tokens: Sequence[int], file: Path) -> bool:
        """Write a sequence's state, and the tokens it stands for, with llama.cpp's own format."""
        room = (lib.llama_token * len(tokens))(*tokens)
        return bool(lib.llama_state_seq_save_file(self.ctx, os.fsencode(file), seq, room, len(tokens)))

    def restore(self, seq: int, file: Path, most: int) -> list[int]:
        """Read a state back into an empty sequence; its tokens, none when llama.cpp refuses the file."""
        room = (lib.llama_token * most)()
        count = ctypes.c_size_t(0)
        read = lib.llama_state_seq_load_file(self.ctx, os.fsencode(file), seq, room, most, ctypes.byref(count))
        if read:
            return list(room[: count.value])
        self.cut(seq, 0)
        return []

    def state(self, seq: int) -> State:
        """A copy of what a sequence's cells hold."""
        room = np.empty(lib.llama_state_seq_get_size(self.ctx, seq), np.uint8)
        size = lib.llama_state_seq_get_data(self.ctx, _bytes(room), len(room), seq)
        return room[:size]

    def put(self, seq: int, state: State) -> bool:
        """Fill an empty sequence with such a copy; False, and it stays empty, when llama.cpp has no room for it."""
        if lib.llama_state_seq_set_data(self.ctx, _bytes(state), len(state), seq):
            return True
        self.cut(seq, 0)
        return False

    def write(self, tokens: Sequence[int], state: State, file: Path) -> None:
        """The file `save` would make of a sequence that is not in the memory any more."""
        head = np.array([lib.LLAMA_STATE_SEQ_MAGIC, lib.LLAMA_STATE_SEQ_VERSION, len(tokens)], np.uint32)
        with file.open("wb") as out:
            for part in (head, np.asarray(tokens, np.int32), state[STATE_HEAD:]):
                out.write(part.data)


def _opening(vocab: Any) -> tuple[int, ...]:
    bos = int(lib.llama_vocab_bos(vocab))
    return (bos,) if lib.llama_vocab_get_add_bos(vocab) and bos >= 0 else ()


def _alike(one: State, other: State) -> bool:
    """Whether two states hold the same but for rounding. What is not in half precision in them is the same or tiny."""
    a, b = (np.nan_to_num(state.view(np.float16).astype(float), posinf=0, neginf=0) for state in (one, other))
    return a.shape == b.shape and float(np.linalg.norm(a - b)) <= 0.02 * float(np.linalg.norm(b))


def _bytes(room: State) -> Any:
    return room.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))


def _log(level: int, text: bytes, _: object) -> None:
    """Warnings and errors of llama.cpp go to the engine's log; the rest is noise."""
    if level in (3, 4) and text:
        import sys

        sys.stderr.write(text.decode("utf-8", "replace"))


LOG = lib.llama_log_callback(_log)
"""llama.cpp keeps the pointer for good, so it must not belong to any one model."""
