"""Checks of `doctor`: the running engines, whether they may work in advance, and whether a larger model would do."""

from collections.abc import Iterator
from typing import Any

from lsp_harness.cli.doctor.doctor_row import DoctorRow
from lsp_harness.cli.doctor.engine_report import list_limits
from lsp_harness.config.schema import Completion, Config
from lsp_harness.errors import HarnessError
from lsp_harness.inference.models.catalogue import ModelCard, cards
from lsp_harness.inference.pace import Pace
from lsp_harness.inference.running_engines import RunningEngine, list_engines
from lsp_harness.inference.target import is_remote
from lsp_harness.process.machine_load import MachineLoad


def check_engines(config: Config) -> Iterator[DoctorRow]:
    """Report each running engine, or why none runs."""
    try:
        engines = list_engines()
    except HarnessError as error:
        yield DoctorRow("bad", "engine", error.message)
        return
    if not engines and is_remote(config.engine):
        yield DoctorRow("ok", "engine", "not used: the settings name a remote server")
    elif not engines:
        yield DoctorRow("ok", "engine", "not running; the first request starts it")
    for engine in engines:
        yield from _check_engine(engine, config)


def check_background(config: Config) -> Iterator[DoctorRow]:
    """Report whether work that no user waits for runs now."""
    when = config.background.when
    if when == "yield" and not is_remote(config.engine) and (reason := MachineLoad().measure()):
        yield DoctorRow("ok", "background", f"work in advance waits now: {reason}")
    else:
        state = "is off" if when == "never" else "may run now"
        yield DoctorRow("ok", "background", f"work in advance {state} (background.when is {when})")


def _check_engine(engine: RunningEngine, config: Config) -> Iterator[DoctorRow]:
    if engine.silence:
        yield DoctorRow("bad", "engine", f"process {engine.pid}: {engine.silence}; lsp-harness engine stop ends it")
        return
    props = engine.props
    model = props.get("model_alias")
    yield DoctorRow("ok", "engine", f"{model} in process {engine.pid}, {engine.rss_bytes >> 20} MiB")
    if props.get("weights_repacked") is False:
        says = "llama.cpp crashes with this processor's AMX instructions, so they are off and prompts are slower"
        yield DoctorRow("note", "processor", says)
    if port_error := props.get("tcp_error"):
        yield DoctorRow("note", "port", str(port_error))
    if limitations := list_limits(props):
        yield DoctorRow("note", "model", f"{model} {limitations}")
    if advice := advise_model(props, config.completion):
        yield advice


def advise_model(props: dict[str, Any], settings: Completion) -> DoctorRow | None:
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
        return DoctorRow(
            "ok", "model size", f"{larger.name} would be too slow here: {speeds} for a file that was just opened"
        )
    advice = f"this machine can use {larger.name}, which is right more often: {speeds}"
    command = f'lsp-harness model pull {larger.name}, then set model.path = "{larger.name}"'
    return DoctorRow("note", "model size", f"{advice}; {command}")


def _find_next_larger(present: ModelCard) -> ModelCard | None:
    """Return the next larger model of the same family whose file can be checked."""
    family = present.name.split("-", 1)[0]
    larger = (
        card for card in cards() if card.sha256 and card.bytes > present.bytes and card.name.startswith(f"{family}-")
    )
    return min(larger, key=lambda card: card.bytes, default=None)
