"""The download of a model while an editor waits, in a process that can be ended at any byte and continues later."""

import json
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from lsp_harness.errors import PullFailed
from lsp_harness.inference.models.catalogue import card
from lsp_harness.inference.models.pull_report import MIB
from lsp_harness.kernel.results import Progress, Report
from lsp_harness.process.line_output import stream_lines

PULL_COMMAND = (sys.executable, "-P", "-m", "lsp_harness", "model", "pull", "--events")


async def download_model(name: str, report: Report, command: Sequence[str] = PULL_COMMAND) -> dict[str, Any]:
    """Download a model.

    Args:
        name: The model, as the catalogue names it.
        report: Receives the progress.
        command: The command line of the process, to which the name is added.

    Returns:
        The `name` and the `path` of the model's file.

    Raises:
        UnknownModel: The catalogue has no such model.
        PullFailed: The download failed.
    """
    model = card(name)
    result: dict[str, Any] = {}
    step = "connecting"
    async with aclosing(stream_lines([*command, model.name])) as lines:
        while line := await _next_line(lines, name):
            try:
                event: dict[str, Any] = json.loads(line)
            except ValueError:
                # the end of the process cut the line off; the missing result is reported below
                continue
            if "error" in event:
                raise PullFailed(event["error"])
            if "path" in event:
                result = {"name": event["name"], "path": event["path"]}
            elif "done" in event:
                total = int(event["total"])
                size = f" of {total / MIB:.0f}" if total else ""
                percentage = min(99, 100 * int(event["done"]) // total) if total else None
                report(Progress(f"{step}: {event['done'] / MIB:.0f}{size} MiB", percentage))
            else:
                step = str(event.get("step") or event.get("note"))
                report(Progress(step))
    if not result:
        raise PullFailed(f"the download of {name} ended without a result; see the log of the server")
    return result


async def _next_line(lines: AsyncGenerator[str], name: str) -> str:
    """Return the next line of the process. Empty at its end."""
    try:
        return await anext(lines, "")
    except TimeoutError:
        raise PullFailed(
            f"the download of {name} made no progress and was stopped; try again, and it continues where it stopped"
        ) from None
