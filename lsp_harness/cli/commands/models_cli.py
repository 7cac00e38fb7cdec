"""`lsp-harness models`: the models of a remote server, to choose one before it goes into the settings."""

import asyncio
from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.console import AsJson, as_json, console, say
from lsp_harness.cli.folder_settings import settings
from lsp_harness.config.schema import Engine
from lsp_harness.errors import ConfigError
from lsp_harness.inference.providers import provider_names, provider_target, targets
from lsp_harness.inference.target import Target, is_remote


def models(
    *,
    provider: Annotated[
        str, Parameter(help=f"One of {', '.join(provider_names())}. The default is the server in the settings.")
    ] = "",
    base_url: Annotated[str, Parameter(help="The address of the provider, if it is not the usual one.")] = "",
    json: AsJson = False,
) -> int:
    """List the models of a remote server.

    `lsp-harness model list` shows the models for this machine.
    """
    from lsp_harness.inference.backends.served_models import list_served_models

    chosen = settings().engine
    replicas = _targets(provider, base_url, chosen)
    found = asyncio.run(list_served_models(replicas, chosen))
    if json:
        as_json([asdict(model) for model in found])
    elif not found:
        say(f"{replicas[0].name} does not list any model")
    else:
        from rich.table import Table
        from rich.text import Text

        table = Table("model", "owner", "fill-in-the-middle", box=None)
        for model in found:
            table.add_row(Text(model.name), Text(model.owner), model.infill or "not known")
        console().print(table)
    return 0


def _targets(provider: str, base_url: str, settings: Engine) -> list[Target]:
    if provider:
        # what is set for another server, its key above all, is none of this one's business
        own = not is_remote(settings) or (not settings.url and settings.model.startswith(f"{provider}/"))
        return [provider_target(provider, settings if own else Engine(api_key_env=""), url=base_url)]
    if base_url:
        raise ConfigError(f"--base-url needs --provider as well: one of {', '.join(provider_names())}")
    if not is_remote(settings):
        raise ConfigError(
            f"the settings name no remote server; choose one with --provider: {', '.join(provider_names())}"
        )
    return targets(settings)
