"""Advice about the model: can this machine afford a larger one?"""

from typing import Any

from lsp_harness.cli.doctor.doctor_row import Row
from lsp_harness.config.schema import Completion
from lsp_harness.inference.models.catalogue import ModelCard, cards
from lsp_harness.inference.pace import Pace


def advise_model(props: dict[str, Any], settings: Completion) -> Row | None:
    """Return whether the next larger model of the catalogue would be fast enough here.

    It is fast enough if it can evaluate the code of a file that nothing has prepared (the prompt without code of other
    files) within `completion.patience_ms`.

    Args:
        props: The properties of a running engine. They contain its measured speed.
        settings: The settings of completion.

    Returns:
        None if the speed is not known, or if the catalogue has no larger model of this kind.
    """
    present = next((card for card in cards() if card.name == props.get("model_alias")), None)
    curve: object = props.get("curve")
    if present is None or not isinstance(curve, dict) or "prompt_per_second" not in curve:
        return None
    larger = _find_next_larger(present)
    if larger is None or not settings.patience_ms:
        return None
    expected = Pace.from_props(props).prompt_per_second * present.bytes / larger.bytes
    needed = 1000 * (settings.prefix_tokens + settings.suffix_tokens + settings.outline_tokens) / settings.patience_ms
    speeds = f"about {expected:,.0f} prompt tokens a second, and {needed:,.0f} are needed"
    if expected < needed:
        return Row(
            "ok", "model size", f"{larger.name} would be too slow here: {speeds} for a file that was just opened"
        )
    advice = f"this machine can use {larger.name}, which is right more often: {speeds}"
    command = f'lsp-harness model pull {larger.name}, then set model.path = "{larger.name}"'
    return Row("note", "model size", f"{advice}; {command}")


def _find_next_larger(present: ModelCard) -> ModelCard | None:
    """Return the next larger model of the same family whose file can be checked."""
    family = present.name.split("-", 1)[0]
    larger = (
        card for card in cards() if card.sha256 and card.bytes > present.bytes and card.name.startswith(f"{family}-")
    )
    return min(larger, key=lambda card: card.bytes, default=None)
