"""Checks of `doctor`: whether remote servers answer, which models they serve, and which features they lack."""

import asyncio
from collections.abc import Iterator
from ipaddress import ip_address
from urllib.parse import urlsplit

from lsp_harness.cli.doctor.doctor_row import Row
from lsp_harness.config.schema import Engine
from lsp_harness.errors import EngineError, HarnessError
from lsp_harness.inference.backends.backend import Features
from lsp_harness.inference.backends.endpoint import Endpoint, RetryableError, SilenceLimits, protocol_errors
from lsp_harness.inference.backends.server_supply import ModelServer
from lsp_harness.inference.providers import targets
from lsp_harness.inference.target import Target

SERVER_TIMEOUT_S = 10.0
"""How long `doctor` waits for an answer of a server."""


def check_servers(settings: Engine) -> list[Row]:
    """Check each server of the settings. The rows show the variable that contains a key, and never the key."""
    try:
        servers = targets(settings)
    except HarnessError as error:
        return [Row("bad", "server", error.message)]
    return asyncio.run(_check_all(servers))


def is_private(target: Target) -> bool:
    """Return whether nobody on the network can read what is sent to a server."""
    url = urlsplit(target.base)
    if target.socket or url.scheme == "https" or url.hostname == "localhost":
        return True
    try:
        return ip_address(url.hostname or "").is_loopback
    except ValueError:
        return False


async def _check_all(servers: list[Target]) -> list[Row]:
    results = await asyncio.gather(*(_check_server(target) for target in servers))
    rows = [row for server_rows, _ in results for row in server_rows]
    models = sorted({model for _, model in results if model})
    if len(models) > 1:
        says = f"they serve different models ({', '.join(models)}), but several servers must serve the same one"
        rows.append(Row("note", "servers", says))
    return rows


async def _check_server(target: Target) -> tuple[list[Row], str]:
    """Return the rows of a server and its model, which is empty if the server does not answer."""
    server = ModelServer(Endpoint(target, SilenceLimits(SERVER_TIMEOUT_S, SERVER_TIMEOUT_S)))
    try:
        backend = await server.backend()
        with protocol_errors(target.name):
            props, features = await backend.props(), backend.features()
    except EngineError as error:
        return [Row("bad", "server", error.message)], ""
    except RetryableError as failure:
        return [Row("bad", "server", failure.error.message)], ""
    finally:
        await server.endpoint.aclose()
    key = f"key from {target.key_name}" if target.key else "no key"
    row = Row("ok", "server", f"{target.name}: {backend.kind}, {props.model or 'an unnamed model'}, {key}")
    return [row, *_feature_rows(features), *_key_rows(target)], props.model


def _feature_rows(features: Features) -> Iterator[Row]:
    if missing := [name for name, value in features.items() if value is False]:
        yield Row("note", "missing", f"{', '.join(missing)} (docs/team.md says what is done instead)")
    if limited := [f"{name}: {value}" for name, value in features.items() if isinstance(value, str)]:
        yield Row("note", "limited", "; ".join(limited))


def _key_rows(target: Target) -> Iterator[Row]:
    if target.key and not is_private(target):
        says = f"{target.name} does not use https, so others on the network can read the key and your code"
        yield Row("note", "key", says)
