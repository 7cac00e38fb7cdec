"""Where a remote model is and which key opens it: `[engine] url`, or a model string `provider/model`.

A key comes from the environment only. It is held by the endpoint that sends it and is printed nowhere.
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
    """A service by name. `url_env` and `key_env` are environment names, the first that is set counts."""

    name: str
    url: str
    url_env: tuple[str, ...] = ()
    key_env: tuple[str, ...] = ()
    needs_key: bool = False
    dialect: Dialect = "openai"
    fim: str = "auto"
    limit_field: str = "max_tokens"
    """What a chat request calls the most tokens to generate."""


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
    # Ollama puts every prompt through the model's own template, so only the template can place the suffix
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
"""Of their API; the only one so far."""
PROVIDER_NAMES: tuple[str, ...] = tuple(provider.name for provider in PROVIDERS)
UNNAMED_PROVIDER = Provider("", "", dialect="auto")
"""A server without a name."""


@dataclass(frozen=True, slots=True)
class Target:
    """One server to ask. Exactly one of `base` (no trailing slash, no `/v1`) and `socket` is set."""

    base: str = ""
    socket: str = ""
    model: str = ""
    dialect: Dialect = "auto"
    provider: Provider = UNNAMED_PROVIDER
    fim: str = "auto"
    key_name: str = ""
    """The environment variable the key comes from; empty without a key."""
    key: str = field(default="", repr=False)

    @property
    def name(self) -> str:
        """For people."""
        return self.base or f"unix:{self.socket}"

    @property
    def headers(self) -> dict[str, str]:
        """What every request carries: the key, where the dialect wants it."""
        if self.dialect == "anthropic":
            return {"anthropic-version": ANTHROPIC_VERSION} | ({"x-api-key": self.key} if self.key else {})
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}


def is_remote(settings: Engine) -> bool:
    """Whether the settings name a server of somebody else's instead of our own engine."""
    return bool(settings.url or settings.model)


def targets(settings: Engine, env: Mapping[str, str] = os.environ) -> list[Target]:
    """The servers the settings name, in their order. Raises ConfigError, or ApiKeyMissing; touches no network."""
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
        known = ", ".join(PROVIDER_NAMES)
        raise ConfigError(
            f"engine.model {settings.model!r} needs engine.url as well, or the form provider/model with one of {known}"
        )
    return [provider_target(name, settings, model=model, env=env)]


def provider_target(
    name: str, settings: Engine, *, url: str = "", model: str = "", env: Mapping[str, str] = os.environ
) -> Target:
    """The service called `name`, at `url` or where it usually is. Raises as `targets` does."""
    provider = next((known for known in PROVIDERS if known.name == name), None)
    if provider is None:
        raise ConfigError(f"there is no provider {name!r}; known are {', '.join(PROVIDER_NAMES)}")
    source = "the address" if url else next((name for name in provider.url_env if env.get(name)), "")
    dialect: Dialect = "auto" if settings.dialect not in DIALECTS else settings.dialect
    place = url or env.get(source) or provider.url
    return _target(place, model, dialect, provider, settings, env, source)


def _provider_of_host(place: str) -> Provider:
    host = urlsplit(place).hostname
    hosted = (known for known in PROVIDERS if known.needs_key)
    return next((known for known in hosted if host and urlsplit(known.url).hostname == host), UNNAMED_PROVIDER)


def _target(
    place: str,
    model: str,
    dialect: Dialect,
    provider: Provider,
    settings: Engine,
    env: Mapping[str, str],
    source: str = "engine.url",
) -> Target:
    """`source` is where `place` was found, for people."""
    # a key that was set for servers in general must not win over the one that was set for this service
    general = settings.api_key_env
    names = (*provider.key_env, general) if general == Engine().api_key_env else (general, *provider.key_env)
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
        good = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        good, parts = False, urlsplit("")
    if not good or parts.query or parts.fragment:
        # a query may hold a key
        shown = place.partition("?")[0].partition("#")[0]
        raise ConfigError(f"{source} {shown!r} must be http://host:port, https://host, or a Unix socket path")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix('/v1')}"
