"""`lsp-harness selftest`: nine checks that use sessions for real, one after another, each in a home of its own."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.console import JsonOption, print_json, say
from lsp_harness.cli.selftest.ability_checks import CHECKS, check_real_model
from lsp_harness.cli.selftest.scripted_home import SelftestFailed, scripted_home
from lsp_harness.errors import HarnessError

CHECK_S = 120.0
"""The longest time of a check."""


@dataclass(frozen=True, slots=True)
class AbilityResult:
    """The result of the check of an ability. `seen` is what it saw, or why it failed."""

    name: str
    passed: bool
    seen: str


async def run_checks(*, with_model: bool = False) -> AsyncIterator[AbilityResult]:
    """Run the checks, and yield each result at its end.

    Args:
        with_model: Whether the model of the settings is asked as well.
    """
    folder = Path.cwd()
    for name, check in CHECKS.items():
        with scripted_home() as home:
            yield await _run_check(name, lambda check=check, home=home: check(home))
    if with_model:
        yield await _run_check("real-model", lambda: check_real_model(folder))


async def _run_check(name: str, check: Callable[[], Awaitable[str]]) -> AbilityResult:
    try:
        async with asyncio.timeout(CHECK_S):
            return AbilityResult(name, True, await check())
    except TimeoutError:
        return AbilityResult(name, False, f"it did not end within {CHECK_S:g} seconds")
    except SelftestFailed as error:
        return AbilityResult(name, False, str(error))
    except HarnessError as error:
        return AbilityResult(name, False, error.message)
    except Exception as error:  # noqa: BLE001 - a broken ability may raise anything, and the other checks still run
        return AbilityResult(name, False, f"{type(error).__name__}: {error}")


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


async def _run(*, with_model: bool, shows: bool) -> list[AbilityResult]:
    results: list[AbilityResult] = []
    async for result in run_checks(with_model=with_model):
        results.append(result)
        if shows:
            say(f"{'✓' if result.passed else '✗'} {result.name}: {result.seen}")
    return results
