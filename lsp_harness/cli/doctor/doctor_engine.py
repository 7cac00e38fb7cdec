"""Checks of `doctor`: the running engines, whether they may work in advance, and whether a larger model would do."""

from collections.abc import Iterator
from typing import Any, cast

from lsp_harness.cli.doctor.doctor_row import DoctorRow
from lsp_harness.cli.doctor.engine_report import list_limits
from lsp_harness.config.schema import Completion, Config
from lsp_harness.errors import HarnessError
from lsp_harness.inference.models.catalogue import cards
from lsp_harness.inference.models.model_choice import MachineSpeed, ModelProposal, propose_model
from lsp_harness.inference.pace import Pace
from lsp_harness.inference.running_engines import RunningEngine, list_engines
from lsp_harness.inference.target import is_remote
from lsp_harness.process.machine_load import MachineLoad
from lsp_harness.process.machine_memory import count_memory_bytes


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
    if proposal := find_proposal(props, config.completion):
        yield describe_proposal(proposal)


def find_proposal(props: dict[str, Any], settings: Completion) -> ModelProposal | None:
    """Return the model of the catalogue that fits this machine.

    Args:
        props: The properties of a running engine. They contain its measured speed.
        settings: The settings of completion.

    Returns:
        None if the speed is not known, if the model is none of the catalogue, or if the user has no limit of time.
    """
    present = next((card for card in cards() if card.name == props.get("model_alias")), None)
    curve: object = props.get("curve")
    if present is None or not isinstance(curve, dict) or "prompt_per_second" not in curve:
        return None
    pace = Pace.from_props(props)
    device, device_bytes = _read_device(props)
    speed = MachineSpeed(
        present, pace.prompt_per_second, pace.generated_per_second, count_memory_bytes(), device, device_bytes
    )
    return propose_model(speed, settings, cards())


def describe_proposal(proposal: ModelProposal) -> DoctorRow:
    """Return a proposal in words, with the command that follows it."""
    if not proposal.is_larger:
        return DoctorRow("ok", "model size", proposal.reason)
    says = f"this machine can use a larger model: {proposal.reason}; lsp-harness setup --model {proposal.model.name}"
    return DoctorRow("note", "model size", says)


def _read_device(props: dict[str, Any]) -> tuple[str, int]:
    """Return the name and the memory of the first graphics card of an engine, or an empty text and 0."""
    library: object = props.get("library")
    devices: object = cast("dict[str, Any]", library).get("device_memory") if isinstance(library, dict) else None
    for name, size in cast("dict[str, int]", devices).items() if isinstance(devices, dict) else ():
        return name, size
    return "", 0
