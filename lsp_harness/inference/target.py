"""The address, the key and the model of one server, and the service that it belongs to."""

from collections.abc import Callable
from dataclasses import dataclass, field

from lsp_harness.config.schema import Config, EngineSettings

AUTOMATIC = "auto"
"""Value of `engine.dialect` and `engine.fim` that leaves the choice to lsp-harness."""
Headers = dict[str, str]


def bearer_headers(key: str) -> Headers:
    """Return the headers that carry a key in the usual form. Without a key there are none."""
    return {"Authorization": f"Bearer {key}"} if key else {}


@dataclass(frozen=True, slots=True)
class Provider:
    """A service. `url_env` and `key_env` are environment variables; the first that is set is used.

    Attributes:
        limit_field: Name of the field for the token limit in a chat request.
        reasons: Its models may reason before they answer: the limit counts their reasoning, and they refuse settings of
            sampling.
        joins_schema: One request may have tools and a schema of the answer. Other services force the schema on each
            answer, so that no tool is called.
    """

    name: str
    url: str
    url_env: tuple[str, ...] = ()
    key_env: tuple[str, ...] = ()
    needs_key: bool = False
    fim: str = AUTOMATIC
    limit_field: str = "max_tokens"
    reasons: bool = False
    joins_schema: bool = False


UNNAMED_PROVIDER = Provider("", "")
"""Provider of a server that is only known by its address."""


@dataclass(frozen=True, slots=True)
class Target:
    """The address, model and key of one server.

    Either `base` (without `/v1` and a slash at the end) or `socket` is set.
    """

    base: str = ""
    socket: str = ""
    model: str = ""
    dialect: str = AUTOMATIC
    """Name of the protocol in `engine.dialect`."""
    provider: Provider = UNNAMED_PROVIDER
    fim: str = AUTOMATIC
    key_name: str = ""
    """Environment variable of the key; empty without a key."""
    key: str = field(default="", repr=False)
    make_headers: Callable[[str], Headers] = bearer_headers
    """Returns the headers that carry a key."""

    @property
    def name(self) -> str:
        """Return the address as messages show it."""
        return self.base or f"unix:{self.socket}"

    @property
    def headers(self) -> Headers:
        """Return the headers of every request, with the key in the form of the protocol."""
        return self.make_headers(self.key)


def is_remote(settings: EngineSettings) -> bool:
    """Return whether the settings name a remote server instead of the local engine."""
    return bool(settings.url or settings.model)


def is_own_engine(config: Config) -> bool:
    """Return whether the settings mean an engine of ours with a model, not a remote server and not a script."""
    return not is_remote(config.engine) and not config.engine.script
