"""`lsp-harness session`: a summary of an editing session, read from its log."""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import aclosing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.console import JsonOption, print_json, say, warn
from lsp_harness.config import paths
from lsp_harness.config.load import load
from lsp_harness.errors import HarnessError, UsageError
from lsp_harness.inference.backends.backend import estimate_counts
from lsp_harness.inference.target import is_remote
from lsp_harness.session.log.log_reader import read_log
from lsp_harness.session.projections.summary import BUDGET_TOKENS, Summary, summarize
from lsp_harness.text.wording import format_count


def session(
    id: Annotated[
        str, Parameter(help="The name of the session, or its beginning. The default is the last session.")
    ] = "",
    /,
    *,
    all: Annotated[
        bool,
        Parameter(negative="", help=f"Show the whole summary. By default, it has at most {BUDGET_TOKENS} tokens."),
    ] = False,
    json: JsonOption = False,
) -> int:
    """Show what was done in an editing session.

    The summary lists the requests, the results and the errors that remain, in at most 200 tokens of the model.
    """
    folder = paths.sessions_folder()
    sessions = sorted(file.parent for file in folder.glob("*/events.jsonl"))
    matches = [session for session in sessions if session.name.startswith(id)]
    if not matches:
        raise UsageError(
            f"there is no session {id!r}" if id else "there is no session yet; one begins with the first fix or edit"
        )
    if id and len(matches) > 1:
        raise UsageError(f"{len(matches)} sessions begin with {id!r}; write more of the name")
    name = matches[-1].name
    record = read_log(matches[-1] / "events.jsonl")
    result = summarize(record)
    if record.warning:
        warn(record.warning)
    if json:
        print_json({"id": name, **asdict(result)})
    else:
        lines = result.all_lines if all else asyncio.run(_shorten(result))
        say("\n".join([f"{name}, {format_count(result.turns, 'turn')}", *lines]))
        if lines != result.all_lines:
            say("(--all shows more)")
    return 0


async def _shorten(result: Summary) -> list[str]:
    return (await result.text(BUDGET_TOKENS, count_tokens)).splitlines()


async def count_tokens(texts: Sequence[str]) -> list[int]:
    """Return the number of tokens of each text. If no engine has the model loaded, the numbers are estimates."""
    from lsp_harness.inference.client import EngineClient
    from lsp_harness.inference.models.model_files import resolve_model
    from lsp_harness.inference.running_engines import HEALTH_TIMEOUT_S, is_listening, query_health
    from lsp_harness.inference.supervisor import engine_address

    config = load(Path.cwd())[0]
    # counting is no reason to start an engine, or to send a summary to a remote server
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
