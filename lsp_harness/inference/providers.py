"""The address and the key of a remote model, by `engine.url` or by an `engine.model` of the form `provider/model`.

A key is only read from the environment. It is never printed.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from lsp_harness.config.schema import Engine
from lsp_harness.errors import ApiKeyMissing, ConfigError

Dialect = Literal["auto", "llama-server", "openai", "anthropic"]
DIALECTS: tuple[Dialect, ...] = ("auto", "llama-server", "openai", "anthropic")


@dataclass(frozen=True, slots=True)
class Provider:
    """A service. `url_env` and `key_env` are environment variables; the first that is set is used."""

    name: str
    url: str
    url_env: tuple[str, ...] = ()
    key_env: tuple[str, ...] = ()
    needs_key: bool = False
    dialect: Dialect = "openai"
    fim: str = "auto"
    limit_field: str = "max_tokens"
    """Name of the field for the token limit in a chat request."""


PROVIDERS: tuple[Provider, ...] = (
    Provider(
        "openai",
        "https://api.openai.com/v1",
        ("OPENAI_BASE_URL",),
        ("OPENAI_API_KEY",),
        needs_key=True,
        limit_field="max_completion_tokens",
    ),
    Provider(
        "anthropic",
        "https://api.anthropic.com",
        ("ANTHROPIC_BASE_URL",),
        ("ANTHROPIC_API_KEY",),
        needs_key=True,
        dialect="anthropic",
    ),
    Provider("openrouter", "https://openrouter.ai/api/v1", (), ("OPENROUTER_API_KEY",), needs_key=True),
    # Ollama applies the template of the model to every prompt, so only the template can place the suffix
    Provider(
        "ollama",
        "http://127.0.0.1:11434/v1",
        ("LSP_HARNESS_OLLAMA_BASE_URL", "LEHARNESS_OLLAMA_BASE_URL"),
        fim="suffix",
    ),
    Provider("lmstudio", "http://127.0.0.1:1234/v1"),
    Provider("vllm", "http://127.0.0.1:8000/v1", (), ("VLLM_API_KEY",)),
    Provider("llama.cpp", "http://127.0.0.1:8080", (), ("LLAMA_API_KEY",), dialect="llama-server"),
)
ANTHROPIC_VERSION = "2023-06-01"
"""Version of the API of Anthropic."""
PROVIDER_NAMES: tuple[str, ...] = tuple(provider.name for provider in PROVIDERS)
UNNAMED_PROVIDER = Provider("", "", dialect="auto")
"""Provider of a server that is only known by its address."""


@dataclass(frozen=True, slots=True)
class Target:
    """The address, model and key of one server.

    Either `base` (without `/v1` and a slash at the end) or `socket` is set.
    """

    base: str = ""
    socket: str = ""
    model: str = ""
    dialect: Dialect = "auto"
    provider: Provider = UNNAMED_PROVIDER
    fim: str = "auto"
    key_name: str = ""
    """Environment variable of the key; empty without a key."""
    key: str = field(default="", repr=False)

    @property
    def name(self) -> str:
        """Return the address as messages show it."""
        return self.base or f"unix:{self.socket}"

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers of every request, with the key in the form of the dialect."""
        if self.dialect == "anthropic":
            return {"anthropic-version": ANTHROPIC_VERSION} | ({"x-api-key": self.key} if self.key else {})
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}


def is_remote(settings: Engine) -> bool:
    """Return whether the settings name a remote server instead of the local engine."""
    return bool(settings.url or settings.model)


def targets(settings: Engine, env: Mapping[str, str] = os.environ) -> list[Target]:
    """Return the servers that the settings name, in their order. No network is used.

    Raises:
        ConfigError: A setting is not valid.
        ApiKeyMissing: A server needs a key that is not set.
    """
    if settings.dialect not in DIALECTS:
        raise ConfigError(f"engine.dialect must be one of {', '.join(DIALECTS)}, not {settings.dialect!r}")
    dialect = settings.dialect
    if settings.url:
        places = [place.strip() for place in settings.url.split(",") if place.strip()]
        if not places:
            raise ConfigError(f"engine.url {settings.url!r} is not the address of a server")
        return [_target(place, settings.model, dialect, _provider_of_host(place), settings, env) for place in places]
    name, slash, model = settings.model.partition("/")
    if name not in PROVIDER_NAMES or not slash or not model:
        providers = ", ".join(PROVIDER_NAMES)
        raise ConfigError(
            f"engine.model {settings.model!r} needs engine.url as well, or the form provider/model with one of {providers}"
        )
    return [provider_target(name, settings, model=model, env=env)]


def provider_target(
    name: str, settings: Engine, *, url: str = "", model: str = "", env: Mapping[str, str] = os.environ
) -> Target:
    """Return the service `name`, at `url` or its usual address. Raise ConfigError or ApiKeyMissing."""
    provider = next((provider for provider in PROVIDERS if provider.name == name), None)
    if provider is None:
        raise ConfigError(f"there is no provider {name!r}; known are {', '.join(PROVIDER_NAMES)}")
    source = "the address" if url else next((name for name in provider.url_env if env.get(name)), "")
    dialect: Dialect = "auto" if settings.dialect not in DIALECTS else settings.dialect
    place = url or env.get(source) or provider.url
    return _target(place, model, dialect, provider, settings, env, source)


def _provider_of_host(place: str) -> Provider:
    host = urlsplit(place).hostname
    hosted = (provider for provider in PROVIDERS if provider.needs_key)
    return next((provider for provider in hosted if host and urlsplit(provider.url).hostname == host), UNNAMED_PROVIDER)


def _target(
    place: str,
    model: str,
    dialect: Dialect,
    provider: Provider,
    settings: Engine,
    env: Mapping[str, str],
    source: str = "engine.url",
) -> Target:
    """Return the target at the address `place`. `source` names the setting of the address in messages."""
    # the variable of this service goes before the general variable
    setting = settings.api_key_env
    names = (*provider.key_env, setting) if setting == Engine().api_key_env else (setting, *provider.key_env)
    key_name = next((name for name in names if name and env.get(name)), "")
    socket = place.removeprefix("unix:") if place.startswith(("unix:", "/")) else ""
    base = "" if socket else _base(place, source)
    if provider.needs_key and not key_name:
        raise ApiKeyMissing(f"{base} needs a key; set {' or '.join(filter(None, names))} in the environment")
    key = env[key_name].strip() if key_name else ""
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f"the key in {key_name} contains a character that no key has; copy the key again")
    return Target(
        base=base,
        socket=socket,
        model=model,
        dialect=provider.dialect if dialect == "auto" else dialect,
        provider=provider,
        fim=provider.fim if settings.fim == "auto" else settings.fim,
        key_name=key_name,
        key=key,
    )


def _base(place: str, source: str) -> str:
    if "@" in place:
        raise ConfigError(
            f"{source} must not contain a name or password; put the key into an environment variable (engine.api_key_env)"
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
