"""The servers that settings name, by `engine.url` or by an `engine.model` of the form `provider/model`.

A key is only read from the environment. It is never printed.
"""

import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from lsp_harness.config.schema import EngineSettings
from lsp_harness.errors import ApiKeyMissing, ConfigError
from lsp_harness.inference.backends import backend_kinds
from lsp_harness.inference.backends.backend_kinds import dialects, kind_of, providers
from lsp_harness.inference.target import AUTOMATIC, UNNAMED_PROVIDER, Provider, Target, bearer_headers


def provider_names() -> list[str]:
    """Return the names of all services, as `engine.model` uses them."""
    return [provider.name for provider in providers()]


def targets(settings: EngineSettings, env: Mapping[str, str] = os.environ) -> list[Target]:
    """Return the servers that the settings name, in their order. No network is used.

    Raises:
        ConfigError: A setting is not valid.
        ApiKeyMissing: A server needs a key that is not set.
    """
    dialect = settings.dialect
    if dialect not in dialects():
        raise ConfigError(f"engine.dialect must be one of {', '.join(dialects())}, not {dialect!r}")
    if settings.url:
        places = [place.strip() for place in settings.url.split(",") if place.strip()]
        if not places:
            raise ConfigError(f"engine.url {settings.url!r} is not the address of a server")
        return [
            _make_target(place, settings.model, dialect, _provider_of_host(place), settings, env) for place in places
        ]
    name, slash, model = settings.model.partition("/")
    if name not in provider_names() or not slash or not model:
        raise ConfigError(
            f"engine.model {settings.model!r} needs engine.url as well, or the form provider/model with one of "
            f"{', '.join(provider_names())}"
        )
    return [provider_target(name, settings, model=model, env=env)]


def provider_target(
    name: str, settings: EngineSettings, *, url: str = "", model: str = "", env: Mapping[str, str] = os.environ
) -> Target:
    """Return the service `name`, at `url` or its usual address. Raise ConfigError or ApiKeyMissing."""
    provider = next((provider for provider in providers() if provider.name == name), None)
    if provider is None:
        raise ConfigError(f"there is no provider {name!r}; known are {', '.join(provider_names())}")
    source = "the address" if url else next((name for name in provider.url_env if env.get(name)), "")
    dialect = settings.dialect if settings.dialect in dialects() else AUTOMATIC
    place = url or env.get(source) or provider.url
    return _make_target(place, model, dialect, provider, settings, env, source)


def _provider_of_host(place: str) -> Provider:
    host = urlsplit(place).hostname
    hosted = (provider for provider in providers() if provider.needs_key)
    return next((provider for provider in hosted if host and urlsplit(provider.url).hostname == host), UNNAMED_PROVIDER)


def _make_target(
    place: str,
    model: str,
    dialect: str,
    provider: Provider,
    settings: EngineSettings,
    env: Mapping[str, str],
    source: str = "engine.url",
) -> Target:
    """Return the target at the address `place`. `source` names the setting of the address in messages."""
    # the variable of this service goes before the general variable
    setting = settings.api_key_env
    names = (*provider.key_env, setting) if setting == EngineSettings().api_key_env else (setting, *provider.key_env)
    key_name = next((name for name in names if name and env.get(name)), "")
    socket = place.removeprefix("unix:") if place.startswith(("unix:", "/")) else ""
    base = "" if socket else _find_base(place, source)
    if provider.needs_key and not key_name:
        raise ApiKeyMissing(f"{base} needs a key; set {' or '.join(filter(None, names))} in the environment")
    key = env[key_name].strip() if key_name else ""
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f"the key in {key_name} contains a character that no key has; copy the key again")
    kind = kind_of(dialect) or next((kind for kind in backend_kinds.KINDS if provider in kind.providers), None)
    return Target(
        base=base,
        socket=socket,
        model=model,
        dialect=kind.dialect if kind else AUTOMATIC,
        provider=provider,
        fim=provider.fim if settings.fim == AUTOMATIC else settings.fim,
        key_name=key_name,
        key=key,
        make_headers=kind.make_headers if kind else bearer_headers,
    )


def _find_base(place: str, source: str) -> str:
    if "@" in place:
        raise ConfigError(
            f"{source} must not contain a name or password; put the key into an environment variable "
            "(engine.api_key_env)"
        )
    try:
        parts = urlsplit(place)
        is_valid = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        is_valid, parts = False, urlsplit("")
    if not is_valid or parts.query or parts.fragment:
        # a query may contain a key, so it is not shown
        public_part = place.partition("?")[0].partition("#")[0]
        raise ConfigError(f"{source} {public_part!r} must be http://host:port, https://host, or a Unix socket path")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix('/v1')}"
