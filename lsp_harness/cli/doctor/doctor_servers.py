"""What `doctor` says of servers that somebody else runs: whether they answer, what they are, what they lack."""

import asyncio
from ipaddress import ip_address
from urllib.parse import urlsplit

from lsp_harness.config.schema import Engine
from lsp_harness.errors import EngineError, HarnessError
from lsp_harness.inference.backends.endpoint import Endpoint, RetryableError, SilenceLimits, protocol_errors
from lsp_harness.inference.backends.server_supply import Server
from lsp_harness.inference.providers import targets
from lsp_harness.inference.target import Target

Row = tuple[str, str, str]
"""State (`ok`, `note`, `bad`), what was looked at, and what is to be said of it."""
SECONDS = 10.0
"""A check waits no longer for a server."""


def servers(settings: Engine) -> list[Row]:
    """Rows for each server of the settings. No key is shown, only the name of the variable it comes from."""
    try:
        named = targets(settings)
    except HarnessError as error:
        return [("bad", "server", error.message)]
    return asyncio.run(_all(named))


async def _all(named: list[Target]) -> list[Row]:
    found = await asyncio.gather(*(_one(target) for target in named))
    rows = [row for answered, _ in found for row in answered]
    models = sorted({model for _, model in found if model})
    if len(models) > 1:
        rows.append(
            (
                "note",
                "servers",
                f"they serve different models ({', '.join(models)}), but several servers must serve the same one",
            )
        )
    return rows


async def _one(target: Target) -> tuple[list[Row], str]:
    server = Server(Endpoint(target, SilenceLimits(SECONDS, SECONDS)))
    try:
        backend = await server.backend()
        with protocol_errors(target.name):
            props, features = await backend.props(), backend.features()
    except EngineError as error:
        return [("bad", "server", error.message)], ""
    except RetryableError as setback:
        return [("bad", "server", setback.error.message)], ""
    finally:
        await server.endpoint.aclose()
    key = f"key from {target.key_name}" if target.key else "no key"
    rows = [("ok", "server", f"{target.name}: {backend.kind}, {props.model or 'an unnamed model'}, {key}")]
    lacking = [name for name, has in features.items() if has is False]
    if lacking:
        rows.append(("note", "missing", f"{', '.join(lacking)} (docs/team.md says what is done instead)"))
    partly = [f"{name}: {has}" for name, has in features.items() if isinstance(has, str)]
    if partly:
        rows.append(("note", "limited", "; ".join(partly)))
    if target.key and not private(target):
        rows.append(
            (
                "note",
                "key",
                f"{target.name} does not use https, so others on the network can read the key and your code",
            )
        )
    return rows, props.model


def private(target: Target) -> bool:
    """Whether nobody on the way can read what is sent."""
    parts = urlsplit(target.base)
    if target.socket or parts.scheme == "https" or parts.hostname == "localhost":
        return True
    try:
        return ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False
