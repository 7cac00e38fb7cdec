"""`lsp-harness selftest`: nine checks that use sessions for real."""

import asyncio
from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.console import JsonOption, print_json, say
from lsp_harness.cli.selftest.selftest_run import CheckResult, run_checks


def selftest(
    *,
    model: Annotated[
        bool, Parameter(negative="", help="Ask the model of the settings, too. The nine checks need no model.")
    ] = False,
    json: JsonOption = False,
) -> int:
    """Try the nine basic abilities of sessions, and show what happened.

    Every check runs sessions, commands and files in a temporary home, which is removed afterwards. The exit status is 1
    if a check failed.
    """
    results = asyncio.run(_run(with_model=model, shows=not json))
    if json:
        print_json([asdict(result) for result in results])
    failed = sum(not result.passed for result in results)
    if failed and not json:
        say(f"{failed} of {len(results)} checks failed")
    return 1 if failed else 0


async def _run(*, with_model: bool, shows: bool) -> list[CheckResult]:
    results: list[CheckResult] = []
    async for result in run_checks(with_model=with_model):
        results.append(result)
        if shows:
            say(f"{'✓' if result.passed else '✗'} {result.name}: {result.seen}")
    return results
