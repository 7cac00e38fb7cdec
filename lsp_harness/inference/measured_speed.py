"""The speeds of models on this machine, which engines measure at their first load and write into a file.

The key of an entry names the processor, the library, the model, the form of its weights, the number of threads, the
number of layers on a graphics card and the size of the context.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsp_harness.config import paths
from lsp_harness.disk.file_reading import read_text
from lsp_harness.errors import ConfigError, FileError


@dataclass(frozen=True, slots=True)
class MeasuredSpeed:
    """A measured speed: tokens of a prompt that are read per second, and tokens that are generated per second."""

    prompt_per_second: float
    generated_per_second: float


def compute_prompt_speed(step_ms: Mapping[int, float]) -> float:
    """Return how many tokens of a prompt are read per second, in steps of the best size.

    Args:
        step_ms: Milliseconds of a step by its number of tokens.
    """
    return max(size * 1000 / ms for size, ms in step_ms.items())


def speed_file() -> Path:
    """Return the file with the measurements of all engines. Raise ConfigError if there is no folder for it."""
    return paths.cache_folder() / "machine.json"


def make_speed_key(
    processor: str, library: str, model: str, *, weights: str, threads: int, gpu_layers: int, context: int
) -> str:
    """Return the key of a measurement.

    Args:
        processor: The name of the processor.
        library: The identity of the library of llama.cpp.
        model: The fingerprint of the file of the model.
        weights: The form of the weights in memory.
        threads: The number of threads.
        gpu_layers: The number of layers on a graphics card.
        context: The size of the context in tokens.
    """
    return f"{processor}/{library}/{model}/{weights}/{threads}/{gpu_layers}/{context}"


def find_speed(library: str, model: str) -> MeasuredSpeed | None:
    """Return the last measured speed of a model with a library, or None if it was never measured.

    Args:
        library: The identity of the library of llama.cpp.
        model: The fingerprint of the file of the model.
    """
    try:
        stored: Any = json.loads(read_text(speed_file()))
        fitting = [entry for key, entry in stored.items() if f"/{library}/{model}/" in key]
        steps = {int(size): float(ms) for size, ms in fitting[-1]["step_ms"].items()}
        return MeasuredSpeed(compute_prompt_speed(steps), 1000 / steps[1])
    except (ConfigError, FileError, ValueError, LookupError, AttributeError, TypeError, ZeroDivisionError):
        return None
