"""`lsp-harness runtime`: the agents of other makers on this machine."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict

import cyclopts

from lsp_harness.cli.console import JsonOption, console, make_encodable_mark, print_json
from lsp_harness.runtime.adapter import Probe
from lsp_harness.runtime.adapters.adapter_registry import BUILT_IN, AdapterRegistry

app = cyclopts.App(name="runtime", help="Look at the agents of other makers on this machine.")

MARKS = {True: "[green]✓[/]", False: "[yellow]![/]"}


@app.command
def doctor(*, json: JsonOption = False) -> int:
    """Show which agents are installed, in which versions, and whether they are logged in.

    Their own status commands say it. No prompt is sent, and nothing is asked over the network. Exits 1 if no agent of
    another maker can be used.
    """
    probes = asyncio.run(_probe_all())
    if json:
        print_json([{"type": name, **asdict(probe)} for name, probe in probes])
    else:
        _print(probes)
    return 0 if any(probe.program and probe.auth in ("ok", "unknown") for _, probe in probes) else 1


async def _probe_all() -> list[tuple[str, Probe]]:
    registry = AdapterRegistry()
    probes = await asyncio.gather(*(registry.require(name).probe() for name in BUILT_IN))
    return list(zip(BUILT_IN, probes, strict=True))


def _print(probes: Sequence[tuple[str, Probe]]) -> None:
    from rich.table import Table

    table = Table("", "agent", "version", "login", "what to do", box=None)
    for name, probe in probes:
        is_usable = bool(probe.program) and probe.auth != "missing"
        version = probe.version or ("unknown" if probe.program else "not installed")
        login = probe.auth if probe.program else ""
        table.add_row(make_encodable_mark(MARKS[is_usable]), name, version, login, probe.hint.replace("[", "\\["))
    console().print(table)
