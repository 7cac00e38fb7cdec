"""`lsp-harness model`: which models there are; downloading, inspecting and deleting one.

Results go to stdout, as tables or with `--json` for programs; progress goes to stderr.
"""

from typing import Annotated, Any

import cyclopts
from cyclopts import Parameter

from lsp_harness.cli.console import AsJson, as_json, as_line, console, say
from lsp_harness.config.schema import Model
from lsp_harness.errors import HarnessError
from lsp_harness.inference.models import model_files
from lsp_harness.inference.models.catalogue import ModelCard, card, cards

app = cyclopts.App(name="model", help="Download, list, inspect and delete models.")

Spec = Annotated[str, Parameter(help="A name, or the path of a GGUF file.")]
Name = Annotated[str, Parameter(help="A name from `lsp-harness model list`.")]
DEFAULT = Model().path
TEMPLATE_LINES = 5
"""Enough of a chat template to tell which family it is of."""


@app.command(name="list")
def list_(*, json: AsJson = False) -> None:
    """List the models of the catalogue, and which of them are on this machine."""
    if json:
        return as_json([_row(known) for known in cards()])
    from rich.table import Table

    table = Table("name", "kind", "title", "size", "licence", "state", box=None)
    for known in cards():
        table.add_row(
            known.name, known.kind, known.title, _size(known.bytes), known.license, model_files.model_state(known)
        )
    return console().print(table)


@app.command
def pull(
    name: Name = DEFAULT,
    *,
    sha256: Annotated[
        str, Parameter(help="The SHA-256 that the file must have, for a model whose SHA-256 is not in the catalogue.")
    ] = "",
    verify: Annotated[
        bool, Parameter(negative="", help="Check the SHA-256 again even if it was right before.")
    ] = False,
    quiet: Annotated[bool, Parameter(negative="", help="Do not show progress.")] = False,
    events: Annotated[
        bool, Parameter(negative="", help="Print progress and result as JSON lines on standard output.")
    ] = False,
    json: AsJson = False,
) -> int:
    """Download a model. An unfinished download is continued."""
    from lsp_harness.inference.models.pull import pull as fetch
    from lsp_harness.inference.models.pull_report import EventReport, stderr_report

    try:
        model = card(name)
        if events:
            done = fetch(model, sha256=sha256, verify=verify, report=EventReport(as_line))
        else:
            with stderr_report(quiet=quiet) as report:
                done = fetch(model, sha256=sha256, verify=verify, report=report)
    except HarnessError as error:
        if not events:
            raise
        as_line({"error": error.message})
        return error.exit_code
    result = {
        "name": model.name,
        "path": str(done.path),
        "sha256": done.sha256,
        "source": done.source or None,
        "seconds": round(done.seconds, 1),
    }
    if events:
        as_line(result)
    elif json:
        as_json(result)
    else:
        how = f"downloaded from {done.source} in {done.seconds:.0f} s" if done.source else "already downloaded"
        say(f"{model.name} ({model.license}): {how}, {done.path}")
    return 0


@app.command
def path(name: Spec = DEFAULT, *, json: AsJson = False) -> None:
    """Print the path of a model's file."""
    found = str(model_files.resolve_model(name))
    return as_json({"name": name, "path": found}) if json else say(found)


@app.command
def info(name: Spec = DEFAULT, *, json: AsJson = False) -> None:
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
        return as_json(facts)
    from rich.table import Table
    from rich.text import Text

    facts["bytes"] = _size(header.bytes)
    facts["pooling"] = header.pooling or "none"
    facts["chat_template"] = "\n".join(facts["chat_template"]) or "none"
    tokens = [f"{role} {t.text} = {t.id}{'' if t.is_named else ' (by its text)'}" for role, t in header.fim.items()]
    facts["fim"] = "\n".join(tokens) or "none"
    table = Table(box=None, show_header=False)
    for key, value in facts.items():
        # Text, not markup: templates and token names are full of brackets.
        table.add_row("size" if key == "bytes" else key.replace("_", " "), Text(str(value)))
    return console().print(table)


@app.command
def rm(name: Name, *, json: AsJson = False) -> None:
    """Delete a model's file, and the rest of an unfinished download."""
    model = card(name)
    freed = model_files.remove_model(model)
    result = {"name": model.name, "path": str(model_files.model_path(model)), "freed": freed}
    return as_json(result) if json else say(f"{model.name} is deleted; this freed {freed / (1 << 20):.0f} MiB")


def _row(model: ModelCard) -> dict[str, Any]:
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


def _size(count: int) -> str:
    return f"{count / (1 << 20):.0f} MiB" if count else "?"
