"""`lsp-harness models`: what a server that somebody else runs has, before it is put into the settings."""

import asyncio
from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.say import AsJson, as_json, console, say
from lsp_harness.config.load import load
from lsp_harness.config.schema import Engine
from lsp_harness.errors import ConfigError
from lsp_harness.inference.providers import NAMES, Target, by_name, remote, targets


def models(
    *,
    provider: Annotated[str, Parameter(help=f"One of {', '.join(NAMES)}; without it the server of the settings.")] = "",
    base_url: Annotated[str, Parameter(help="Where that provider is, if not at its usual address.")] = "",
    json: AsJson = False,
) -> int:
    """List the models of a remote server. (`lsp-harness model list` has those for this machine.)"""
    from lsp_harness.inference.backends.served import served

    settings = load()[0].engine
    target = _target(provider, base_url, settings)
    found = asyncio.run(served(target, settings))
    if json:
        as_json([asdict(model) for model in found])
    elif not found:
        say(f"{target.name} lists no model")
    else:
        from rich.table import Table
        from rich.text import Text

        table = Table("model", "owner", "holes are given", box=None)
        for model in found:
            table.add_row(Text(model.name), Text(model.owner), model.infill or "in no way known here (engine.fim)")
        console().print(table)
    return 0


def _target(provider: str, base_url: str, settings: Engine) -> Target:
    if provider:
        return by_name(provider, settings, url=base_url)
    if base_url:
        raise ConfigError(f"--base-url needs a --provider: one of {', '.join(NAMES)}")
    if not remote(settings):
        raise ConfigError(f"the settings name no server; name a --provider: one of {', '.join(NAMES)}")
    return targets(settings)[0]
