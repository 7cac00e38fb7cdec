"""`lsp-harness session`: what was done in an editing session, read from its log."""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import aclosing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.console import AsJson, as_json, say, warn
from lsp_harness.config import paths
from lsp_harness.config.load import load
from lsp_harness.errors import HarnessError, UsageError
from lsp_harness.inference.backends.backend import estimate_counts
from lsp_harness.inference.target import is_remote
from lsp_harness.session.log import read_log
from lsp_harness.session.summary import BUDGET_TOKENS, Summary, summarize
from lsp_harness.text.wording import format_count


def session(
    id: Annotated[
        str, Parameter(help="The name of the session, or the beginning of the name. The default is the last session.")
    ] = "",
    /,
    *,
    all: Annotated[
        bool,
        Parameter(negative="", help=f"Show everything in the log, even if it is longer than {BUDGET_TOKENS} tokens."),
    ] = False,
    json: AsJson = False,
) -> int:
    """Show what was done in an editing session.

    It lists what was asked for, the results and the errors that remain, in 200 tokens of the model.
    """
    folder = paths.state_folder() / "sessions"
    known = sorted(file.parent for file in folder.glob("*/events.jsonl"))
    found = [one for one in known if one.name.startswith(id)]
    if not found:
        raise UsageError(
            f"there is no session {id!r}" if id else "there is no session yet; one begins with the first fix or edit"
        )
    if id and len(found) > 1:
        raise UsageError(f"{len(found)} sessions begin with {id!r}; give more of the name")
    record = read_log(found[-1] / "events.jsonl")
    told = summarize(record)
    if record.warning:
        warn(record.warning)
    if json:
        as_json({"id": found[-1].name, **asdict(told)})
    else:
        lines = told.all_lines if all else asyncio.run(_within(told))
        say("\n".join([f"{found[-1].name}, {format_count(told.turns, 'turn')}", *lines]))
        if lines != told.all_lines:
            say("(--all shows more)")
    return 0


async def _within(told: Summary) -> list[str]:
    return (await told.text(BUDGET_TOKENS, count)).splitlines()


async def count(texts: Sequence[str]) -> list[int]:
    """Tokens of each, by the model of the settings where an engine has it loaded and answers, else an estimate."""
    from lsp_harness.inference.client import EngineClient
    from lsp_harness.inference.models.model_files import resolve_model
    from lsp_harness.inference.running_engines import HEALTH_TIMEOUT_S, is_listening, query_health
    from lsp_harness.inference.supervisor import engine_address

    config = load(Path.cwd())[0]
    # none is started for that, and to servers of others nothing is sent
    if is_remote(config.engine) or config.engine.script:
        return estimate_counts(texts)
    try:
        socket = engine_address(resolve_model(config.model.path), config).socket
    except HarnessError:
        return estimate_counts(texts)
    if not is_listening(socket):
        return estimate_counts(texts)
    if await query_health(socket) is not None:
        with suppress(HarnessError, TimeoutError):
            async with asyncio.timeout(HEALTH_TIMEOUT_S), aclosing(EngineClient(config)) as engine:
                return await engine.count(texts)
    sys.stderr.write("tokens are estimated: the engine does not answer (lsp-harness engine status)\n")
    return estimate_counts(texts)
