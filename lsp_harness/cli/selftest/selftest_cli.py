"""Runs the checks one after another, each in a home of its own."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.cli.selftest.ability_checks import CHECKS, check_real_model
from lsp_harness.cli.selftest.scripted_home import SelftestFailed, scripted_home
from lsp_harness.errors import HarnessError

CHECK_S = 120.0
"""The longest time of a check."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check. `seen` is what it saw, or why it failed."""

    name: str
    passed: bool
    seen: str


async def run_checks(*, with_model: bool = False) -> AsyncIterator[CheckResult]:
    """Run the checks, and yield each result at its end.

    Args:
        with_model: Whether the model of the settings is asked as well.
    """
    folder = Path.cwd()
    for name, check in CHECKS.items():
        with scripted_home() as home:
            yield await _run(name, lambda check=check, home=home: check(home))
    if with_model:
        yield await _run("real-model", lambda: check_real_model(folder))


async def _run(name: str, check: Callable[[], Awaitable[str]]) -> CheckResult:
    try:
        async with asyncio.timeout(CHECK_S):
            return CheckResult(name, True, await check())
    except TimeoutError:
        return CheckResult(name, False, f"it did not end within {CHECK_S:g} seconds")
    except SelftestFailed as error:
        return CheckResult(name, False, str(error))
    except HarnessError as error:
        return CheckResult(name, False, error.message)
    except Exception as error:  # noqa: BLE001 - a broken ability may raise anything, and the other checks still run
        return CheckResult(name, False, f"{type(error).__name__}: {error}")
