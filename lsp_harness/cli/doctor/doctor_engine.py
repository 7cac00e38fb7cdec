"""Checks of `doctor`: the running engines, and whether they may work in advance."""

from collections.abc import Iterator

from lsp_harness.cli.doctor.doctor_row import Row
from lsp_harness.cli.doctor.engine_report import limits
from lsp_harness.cli.doctor.model_advice import advise_model
from lsp_harness.config.schema import Config
from lsp_harness.errors import HarnessError
from lsp_harness.inference.running_engines import RunningEngine, list_engines
from lsp_harness.inference.target import is_remote
from lsp_harness.process.machine_load import MachineLoad


def check_engines(config: Config) -> Iterator[Row]:
    """Report each running engine, or why none runs."""
    try:
        engines = list_engines()
    except HarnessError as error:
        yield Row("bad", "engine", error.message)
        return
    if not engines and is_remote(config.engine):
        yield Row("ok", "engine", "not used: the settings name a remote server")
    elif not engines:
        yield Row("ok", "engine", "not running; the first request starts it")
    for engine in engines:
        yield from _check_engine(engine, config)


def check_background(config: Config) -> Iterator[Row]:
    """Report whether work that no user waits for runs now."""
    when = config.background.when
    if when == "yield" and not is_remote(config.engine) and (reason := MachineLoad().measure()):
        yield Row("ok", "background", f"work in advance waits now: {reason}")
    else:
        state = "is off" if when == "never" else "may run now"
        yield Row("ok", "background", f"work in advance {state} (background.when is {when})")


def _check_engine(engine: RunningEngine, config: Config) -> Iterator[Row]:
    if engine.silence:
        yield Row("bad", "engine", f"process {engine.pid}: {engine.silence}; lsp-harness engine stop ends it")
        return
    props = engine.props
    model = props.get("model_alias")
    yield Row("ok", "engine", f"{model} in process {engine.pid}, {engine.rss_bytes >> 20} MiB")
    if props.get("weights_repacked") is False:
        says = "llama.cpp crashes with this processor's AMX instructions, so they are off and prompts are slower"
        yield Row("note", "processor", says)
    if port_error := props.get("tcp_error"):
        yield Row("note", "port", str(port_error))
    if limitations := limits(props):
        yield Row("note", "model", f"{model} {limitations}")
    if advice := advise_model(props, config.completion):
        yield advice
