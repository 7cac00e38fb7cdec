"""A probe of the memory of a model: which operations on its cells it supports."""

from time import perf_counter
from typing import Any

import numpy as np

from lsp_harness.engine.decode.llama import Llama, State, TokenRow
from lsp_harness.engine.native.loaded_library import lib

MAX_STATE_DIFFERENCE = 0.02
"""Two states are equal but for rounding if they differ by less than this share."""


def probe_memory(llama: Llama) -> dict[str, Any]:
    """Return what kind of memory the model has, in the fields of `/props`.

    A model whose memory cannot be truncated (`cuts`) continues a prompt from checkpoints of `checkpoint_bytes` each.
    """
    llama.decode([TokenRow(0, 0, [0, 0], 0)])
    can_truncate = llama.truncate(0, 1)
    checkpoint = {} if can_truncate else {"checkpoint_bytes": len(llama.read_checkpoint(0))}
    llama.truncate(0, 0)
    return {
        "cuts": can_truncate,
        "window": int(lib.llama_model_n_swa(llama.model)),
        "recurrent": bool(lib.llama_model_is_recurrent(llama.model) or lib.llama_model_is_hybrid(llama.model)),
        **checkpoint,
    }


def measure_move_ms(llama: Llama) -> float | None:
    """Measure how long `Llama.move_cells` takes.

    With some scalings of positions (YaRN, longrope) llama.cpp scales the keys of every cell again at each move. It also
    claims that it can move the cells of models that do not rotate their keys, at all or in some layers. Therefore the
    result of a move is checked: the same token has the same keys at every position, but for the rotation.

    Returns:
        The milliseconds, or None if the cells cannot be moved or if a move changes other cells.
    """
    if not lib.llama_memory_can_shift(llama.memory):
        return None
    llama.decode([TokenRow(0, 0, [0, 0, 0, 0], 0)])
    before = llama.read_state(0)
    times_ms: list[float] = []
    moved = before[:0]
    for _ in range(2):
        start_s = perf_counter()
        if not llama.load_state(1, before):
            return None
        llama.move_cells(1, [(1, 2, 2)])
        times_ms.append((perf_counter() - start_s) * 1000)
        moved = llama.read_state(1)
        llama.truncate(1, 0)
    is_unchanged = np.array_equal(before, llama.read_state(0))
    lib.llama_memory_seq_rm(llama.memory, 0, 0, 2)
    expected = llama.read_state(0)
    llama.truncate(0, 0)
    return min(times_ms) if is_unchanged and _are_close(moved, expected) else None


def _are_close(state: State, other: State) -> bool:
    """Return whether two states are equal but for rounding.

    All bytes are read as half-precision numbers. The others are the same in both states or have little weight.
    """
    a, b = (np.nan_to_num(s.view(np.float16).astype(float), posinf=0, neginf=0) for s in (state, other))
    return a.shape == b.shape and float(np.linalg.norm(a - b)) <= MAX_STATE_DIFFERENCE * float(np.linalg.norm(b))
