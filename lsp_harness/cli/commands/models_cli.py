"""`lsp-harness models`: the models of a remote server, from which the user chooses one for the settings."""

import asyncio
from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.console import JsonOption, console, print_json, say
from lsp_harness.cli.folder_settings import read_settings
from lsp_harness.config.schema import EngineSettings
from lsp_harness.errors import ConfigError
from lsp_harness.inference.providers import provider_names, provider_target, targets
from lsp_harness.inference.target import Target, is_remote


def models(
    *,
    provider: Annotated[
        str, Parameter(help=f"One of {', '.join(provider_names())}. The default is the server in the settings.")
    ] = "",
    base_url: Annotated[str, Parameter(help="The address of the provider. The default is its usual address.")] = "",
    json: JsonOption = False,
) -> int:
    """List the models of a remote server.

    `lsp-harness model list` shows the models for this machine.
    """
    from lsp_harness.inference.backends.served_models import list_served_models

    engine_settings = read_settings().engine
    servers = _find_targets(provider, base_url, engine_settings)
    served_models = asyncio.run(list_served_models(servers, engine_settings))
    if json:
        print_json([asdict(model) for model in served_models])
    elif not served_models:
        say(f"{servers[0].name} does not list any model")
    else:
        from rich.table import Table
        from rich.text import Text

        table = Table("model", "owner", "fill-in-the-middle", box=None)
        for model in served_models:
            table.add_row(Text(model.name), Text(model.owner), model.infill or "not known")
        console().print(table)
    return 0


def _find_targets(provider: str, base_url: str, settings: EngineSettings) -> list[Target]:
    if provider:
        # settings of another server, above all its key, must not be sent to this server
        is_configured = not is_remote(settings) or (not settings.url and settings.model.startswith(f"{provider}/"))
        return [provider_target(provider, settings if is_configured else EngineSettings(api_key_env=""), url=base_url)]
    if base_url:
        raise ConfigError(f"--base-url needs --provider as well: one of {', '.join(provider_names())}")
    if not is_remote(settings):
        raise ConfigError(
            f"the settings name no remote server; choose one with --provider: {', '.join(provider_names())}; "
            "lsp-harness model list shows the models for this machine"
        )
    return targets(settings)
