"""The speed that the engine measured when it loaded the model, from `curve` in `/props`."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, cast


def step_ms(props: Mapping[str, Any], n: int) -> float | None:
    """Return the milliseconds of a decode step over `n` tokens, interpolated; None outside of the measured sizes."""
    curve = cast("Mapping[str, Any]", props.get("curve") or {})
    steps = cast("Mapping[str, float]", curve.get("decode_ms") or {})
    sizes = sorted((int(size), ms) for size, ms in steps.items())
    for (low, before), (high, after) in pairwise(sizes):
        if low <= n <= high:
            return before + (after - before) * (n - low) / (high - low)
    return None


def read_prefill_chunk_tokens(props: Mapping[str, Any]) -> int | None:
    """Return the number of prompt tokens that are evaluated at once while a user waits."""
    curve = cast("Mapping[str, Any]", props.get("curve") or {})
    return cast("int | None", curve.get("chunk"))
