"""`lsp-harness models`: what a server that somebody else runs has, before it is put into the settings."""

import asyncio
from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.say import AsJson, as_json, console, say
from lsp_harness.cli.settings import settings
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

    chosen = settings().engine
    replicas = _targets(provider, base_url, chosen)
    found = asyncio.run(served(replicas, chosen))
    if json:
        as_json([asdict(model) for model in found])
    elif not found:
        say(f"{replicas[0].name} lists no model")
    else:
        from rich.table import Table
        from rich.text import Text

        table = Table("model", "owner", "fills holes", box=None)
        for model in found:
            table.add_row(Text(model.name), Text(model.owner), model.infill or "not as far as is known")
        console().print(table)
    return 0


def _targets(provider: str, base_url: str, settings: Engine) -> list[Target]:
    if provider:
        # what is set for another server, its key above all, is none of this one's business
        own = not remote(settings) or (not settings.url and settings.model.startswith(f"{provider}/"))
        return [by_name(provider, settings if own else Engine(api_key_env=""), url=base_url)]
    if base_url:
        raise ConfigError(f"--base-url needs a --provider: one of {', '.join(NAMES)}")
    if not remote(settings):
        raise ConfigError(f"the settings name no server; name a --provider: one of {', '.join(NAMES)}")
    return targets(settings)
