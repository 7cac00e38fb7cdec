"""`lsp-harness model`: list, download, inspect and delete models.

Results go to standard output, as tables or as JSON. Progress goes to standard error.
"""

from dataclasses import asdict, replace
from typing import Annotated, Any

import cyclopts
from cyclopts import Parameter

from lsp_harness.cli.console import JsonOption, console, print_json, print_json_line, say
from lsp_harness.cli.folder_settings import read_settings
from lsp_harness.config.schema import ModelSettings
from lsp_harness.errors import HarnessError, UsageError
from lsp_harness.inference.engine_choice import describe_model, make_engine
from lsp_harness.inference.models import model_files
from lsp_harness.inference.models.catalogue import ModelCard, card, cards
from lsp_harness.inference.models.measured_abilities import MeasuredAbilities, can_be_measured

app = cyclopts.App(name="model", help="Download, list, inspect and delete models.")

Spec = Annotated[str, Parameter(help="A name from `lsp-harness model list`, or the path of a GGUF file.")]
Name = Annotated[str, Parameter(help="A name from `lsp-harness model list`.")]
DEFAULT = ModelSettings().path
WIDE_COLUMNS = 110
"""Columns of a terminal in which the titles of models have room."""
TEMPLATE_LINES = 5
"""Number of lines of a chat template that are shown. They are enough to recognize the family of the model."""


@app.command(name="list")
def list_(*, json: JsonOption = False) -> None:
    """List the models of the catalogue, and which of them are on this machine."""
    if json:
        return print_json([_model_json(model) for model in cards()])
    from rich.table import Table

    table = Table(box=None)
    # a name that is cut or broken cannot be copied
    table.add_column("name", no_wrap=True, min_width=max(len(model.name) for model in cards()))
    # a title says little more than the name
    is_wide = console().width >= WIDE_COLUMNS
    for column in ("kind", *(("title",) if is_wide else ()), "size", "licence", "state"):
        table.add_column(column)
    for model in cards():
        size = _format_size(model.bytes) if model.bytes else f"~{_format_size(model.about_bytes)}"
        state = model_files.model_state(model)
        title = (model.title,) if is_wide else ()
        table.add_row(model.name, model.kind, *title, size, model.license, state)
    return console().print(table)


@app.command
def pull(
    name: Name = DEFAULT,
    *,
    sha256: Annotated[
        str,
        Parameter(
            help="The SHA-256 that the file must have. Without one here and in the catalogue, the first download is "
            "pinned."
        ),
    ] = "",
    verify: Annotated[
        bool, Parameter(negative="", help="Check the SHA-256 of a file that was already checked.")
    ] = False,
    quiet: Annotated[bool, Parameter(negative="", help="Do not show progress.")] = False,
    events: Annotated[
        bool, Parameter(negative="", help="Print progress and result as JSON lines on standard output.")
    ] = False,
    json: JsonOption = False,
) -> int:
    """Download a model. An unfinished download is continued."""
    from lsp_harness.inference.models.pull import pull as fetch
    from lsp_harness.inference.models.pull_report import EventReport, stderr_report

    try:
        model = card(name)
        if events:
            result = fetch(model, sha256=sha256, verify=verify, report=EventReport(print_json_line))
        else:
            with stderr_report(quiet=quiet) as report:
                result = fetch(model, sha256=sha256, verify=verify, report=report)
    except HarnessError as error:
        if not events:
            raise
        print_json_line({"error": error.message})
        return error.exit_code
    row = {
        "name": model.name,
        "path": str(result.path),
        "sha256": result.sha256,
        "source": result.source or None,
        "seconds": round(result.seconds, 1),
        "pinned": result.is_pinned,
    }
    if events:
        print_json_line(row)
    elif json:
        print_json(row)
    else:
        origin = f"downloaded from {result.source} in {result.seconds:.0f} s" if result.source else "already downloaded"
        say(f"{model.name} ({model.license}): {origin}, {result.path}")
        if result.is_pinned:
            say(
                f"nobody has checked this file: its SHA-256 {result.sha256} is pinned, and later downloads must be the "
                "same; compare it with the one at its publisher"
            )
    return 0


@app.command
def path(name: Spec = DEFAULT, *, json: JsonOption = False) -> None:
    """Print the path of a model's file."""
    file = str(model_files.resolve_model(name))
    return print_json({"name": name, "path": file}) if json else say(file)


@app.command
def info(name: Spec = DEFAULT, *, json: JsonOption = False) -> None:
    """Show the properties of a model file."""
    from lsp_harness.inference.models.gguf import read_header

    file = model_files.resolve_model(name)
    header = read_header(file)
    facts: dict[str, Any] = {
        "path": str(file),
        "bytes": header.bytes,
        "architecture": header.architecture,
        "context_length": header.context_length,
        "embedding_length": header.embedding_length,
        "layers": header.layers,
        "vocabulary": header.vocabulary,
        "tensors": header.tensors,
        "pooling": header.pooling or None,
        "chat_template": header.chat_template.splitlines()[:TEMPLATE_LINES],
        "fim": {role: {"text": t.text, "id": t.id, "named": t.is_named} for role, t in header.fim.items()},
    }
    if json:
        return print_json(facts)
    from rich.table import Table
    from rich.text import Text

    facts["bytes"] = _format_size(header.bytes)
    facts["pooling"] = header.pooling or "none"
    facts["chat_template"] = "\n".join(facts["chat_template"]) or "none"
    tokens = [f"{role} {t.text} = {t.id}{'' if t.is_named else ' (by its text)'}" for role, t in header.fim.items()]
    facts["fim"] = "\n".join(tokens) or "none"
    table = Table(box=None, show_header=False)
    for key, value in facts.items():
        # brackets in templates and token names are no markup
        table.add_row("size" if key == "bytes" else key.replace("_", " "), Text(str(value)))
    return console().print(table)


@app.command
def measure(name: Spec = "", *, json: JsonOption = False) -> None:
    """Measure what a model on this machine can do: choose a word, fill a hole, and answer with tools.

    A session does this once with a model that nobody has measured, and takes the driver `chat` only for a model that
    answers with tools. The default is the model of the settings.
    """
    import asyncio

    from lsp_harness.chat.chat_model import Model
    from lsp_harness.sessions.ability_measurement import measure_abilities
    from lsp_harness.sessions.session_opening import ask_about_folder

    config = read_settings()
    if name:
        config = replace(config, model=replace(config.model, path=name))
    if not can_be_measured(config):
        raise UsageError("the settings name a server or a script, and only models on this machine are measured")

    async def run() -> MeasuredAbilities:
        engine = make_engine(config)
        model = Model(describe_model(config), engine)
        try:
            return await measure_abilities(config, model, ask_about_folder(model))
        finally:
            await engine.aclose()

    abilities = asyncio.run(run())
    return print_json(asdict(abilities)) if json else say(f"{config.model.path} {abilities.sentence}")


@app.command
def rm(name: Name, *, json: JsonOption = False) -> None:
    """Delete a model's file, and the rest of an unfinished download."""
    model = card(name)
    freed = model_files.remove_model(model)
    result = {"name": model.name, "path": str(model_files.model_path(model)), "freed": freed}
    return print_json(result) if json else say(f"{model.name} is deleted; this freed {freed / (1 << 20):.0f} MiB")


def _model_json(model: ModelCard) -> dict[str, Any]:
    return {
        "name": model.name,
        "kind": model.kind,
        "title": model.title,
        "bytes": model.bytes or None,
        "license": model.license,
        "state": model_files.model_state(model),
        "path": str(model_files.model_path(model)),
        "note": model.note,
    }


def _format_size(count: int) -> str:
    return f"{count / (1 << 20):.0f} MiB" if count else "?"
