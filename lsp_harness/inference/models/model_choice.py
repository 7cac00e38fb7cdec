"""The choice of the model for a machine: the largest one of the catalogue that answers within the user's patience.

The speed of one model on this machine is measured, and the speed of another one is computed from it: to read or to
generate a token, the processor reads all active weights, so that the speed is in inverse proportion to their bytes.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from lsp_harness.config.schema import Completion
from lsp_harness.inference.models.catalogue import ModelCard

ANSWER_TOKENS = 16
"""Tokens of an answer in the comparison: a line."""
MEMORY_FACTOR, MEMORY_EXTRA_BYTES = 1.1, 700_000_000
"""Memory of an engine: its file times the factor, and the extra for its cache and its buffers."""
MEMORY_SHARE = 0.5
"""Share of the main memory that an engine may take, because the editor and the compilers need the rest."""
DEVICE_MEMORY_SHARE = 0.9
"""Share of the memory of a graphics card that an engine may take."""


@dataclass(frozen=True, slots=True)
class MachineSpeed:
    """The speed and the memory of a machine, as measured with one model.

    Attributes:
        model: The model whose speed was measured.
        prompt_per_second: Tokens of a prompt that are read per second.
        generated_per_second: Tokens that are generated per second, or 0 if that is not known.
        memory_bytes: The main memory, or 0 if that is not known.
        device: The graphics card on which the engine runs, or an empty text for the processor.
        device_memory_bytes: The memory of the graphics card, or 0 if that is not known.
    """

    model: ModelCard
    prompt_per_second: float
    generated_per_second: float = 0.0
    memory_bytes: int = 0
    device: str = ""
    device_memory_bytes: int = 0


@dataclass(frozen=True, slots=True)
class ModelProposal:
    """The model that fits a machine, and the reason in a sentence.

    Attributes:
        model: The model.
        is_larger: Whether the model is larger than the measured one.
        reason: Why it is this one and no larger one.
        seconds: The expected time of an answer in a file that was just opened.
    """

    model: ModelCard
    is_larger: bool
    reason: str
    seconds: float


def propose_model(speed: MachineSpeed, settings: Completion, models: Iterable[ModelCard]) -> ModelProposal | None:
    """Return the largest model that answers in time and fits into the memory.

    An answer is in time if the code of a file that nothing has prepared (the prompt without code of other files) is
    read, and a line is generated, within `completion.patience_ms`.

    Args:
        speed: What the machine can do.
        settings: The settings of completion.
        models: The models to choose from. Those with a special task or with a licence for some users only are left out.

    Returns:
        None if there is no limit of time, or if the size of the measured model is not known.
    """
    measured = speed.model
    if not settings.patience_ms or not measured.expected_bytes or speed.prompt_per_second <= 0:
        return None
    patience_s = settings.patience_ms / 1000
    general = (model for model in models if model.is_general and model.expected_bytes)
    reason = ""
    best = measured
    for model in sorted(general, key=lambda model: model.parameters):
        if model.parameters <= measured.parameters:
            continue
        if problem := _find_memory_problem(model, speed):
            reason = reason or f"{model.name} {problem}"
            continue
        seconds = _expect_seconds(model, speed, settings)
        if seconds > patience_s:
            reason = reason or (
                f"{model.name} would need about {seconds:.1f} s, and completion.patience_ms allows {patience_s:.1f} s"
            )
            continue
        # a larger one that fits makes the problem of a smaller one uninteresting, as a mixture of experts may
        best, reason = model, ""
    seconds = _expect_seconds(best, speed, settings)
    place = f" on {speed.device}" if speed.device else ""
    says = f"{best.name} needs about {seconds:.1f} s here{place} for a line in a file that was just opened"
    reason = reason or "the catalogue has no larger one for everybody"
    return ModelProposal(best, best is not measured, f"{says}; {reason}", seconds)


def _expect_seconds(model: ModelCard, speed: MachineSpeed, settings: Completion) -> float:
    """Return the time to read the prompt of a new file and to generate a line with a model."""
    slowdown = _active_bytes(model) / _active_bytes(speed.model)
    tokens = settings.prefix_tokens + settings.suffix_tokens + settings.outline_tokens
    seconds = tokens / speed.prompt_per_second
    if speed.generated_per_second > 0:
        seconds += ANSWER_TOKENS / speed.generated_per_second
    return seconds * slowdown


def _active_bytes(model: ModelCard) -> float:
    """Return the bytes of the weights that work for each token."""
    share = model.active / model.parameters if model.parameters else 1.0
    return model.expected_bytes * share


def _find_memory_problem(model: ModelCard, speed: MachineSpeed) -> str:
    """Return why a model does not fit into the memory, or an empty text if it does or if the memory is not known."""
    needed = model.expected_bytes * MEMORY_FACTOR + MEMORY_EXTRA_BYTES
    if speed.device and speed.device_memory_bytes and needed > DEVICE_MEMORY_SHARE * speed.device_memory_bytes:
        total = f"{speed.device_memory_bytes / 1e9:.1f} GB of {speed.device}"
        return f"needs {needed / 1e9:.1f} GB, more than {DEVICE_MEMORY_SHARE:.0%} of the {total}"
    # the weights on a graphics card are not in the main memory
    if not speed.device and speed.memory_bytes and needed > MEMORY_SHARE * speed.memory_bytes:
        return f"needs {needed / 1e9:.1f} GB, more than half of the memory of {speed.memory_bytes / 1e9:.1f} GB"
    return ""
