"""Fetching a model while an editor waits: in a process of its own, which can be ended at any byte and goes on later."""

import json
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from lsp_harness.errors import PullFailed
from lsp_harness.inference.models.catalogue import card
from lsp_harness.inference.models.pull_report import MIB
from lsp_harness.process.line_output import stream_lines
from lsp_harness.session.results import Progress, Report

PULL = (sys.executable, "-P", "-m", "lsp_harness", "model", "pull", "--events")


async def pull(name: str, report: Report, argv: Sequence[str] = PULL) -> dict[str, Any]:
    """Name and path of the model's file. Raises UnknownModel, or PullFailed with what went wrong."""
    model = card(name)
    result: dict[str, Any] = {}
    step = "connecting"
    async with aclosing(stream_lines([*argv, model.name])) as said:
        while line := await _next(said, name):
            try:
                event: dict[str, Any] = json.loads(line)
            except ValueError:
                # cut off by the end of the process, which is told below
                continue
            if "error" in event:
                raise PullFailed(event["error"])
            if "path" in event:
                result = {"name": event["name"], "path": event["path"]}
            elif "done" in event:
                total = int(event["total"])
                of = f" of {total / MIB:.0f}" if total else ""
                percentage = min(99, 100 * int(event["done"]) // total) if total else None
                report(Progress(f"{step}: {event['done'] / MIB:.0f}{of} MiB", percentage))
            else:
                step = str(event.get("step") or event.get("note"))
                report(Progress(step))
    if not result:
        raise PullFailed(f"the download of {name} ended without a result; see the log of the server")
    return result


async def _next(said: AsyncGenerator[str], name: str) -> str:
    try:
        return await anext(said, "")
    except TimeoutError:
        raise PullFailed(
            f"fetching {name} gave no sign of life and was ended; try again, it goes on where it was"
        ) from None
