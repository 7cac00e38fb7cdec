"""The settings of a session: the files of settings, then the options."""

from dataclasses import replace
from pathlib import Path

from lsp_harness.chat.chat_model import Model
from lsp_harness.config.load import SETTING_SOURCES, load
from lsp_harness.config.schema import Config, EngineSettings
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.errors import UsageError
from lsp_harness.inference.engine_choice import describe_model, make_engine
from lsp_harness.inference.providers import provider_names, provider_target
from lsp_harness.sessions.session_options import SessionOptions

SCRIPT_PREFIX = "scripted:"


def read_session_settings(options: SessionOptions) -> Config:
    """Return the settings of a session. Mistakes in files are warnings.

    Raises:
        UsageError: The options name no usable provider.
    """
    sources = () if options.bare else options.setting_sources
    config, problems = load(options.root, sources=SETTING_SOURCES if sources is None else sources)
    for problem in problems:
        warn_once(problem.sentence)
    return choose_model(config, options.provider or "", options.model or "")


def choose_model(config: Config, provider: str, model: str) -> Config:
    """Return the settings with another provider or model.

    Args:
        config: The settings.
        provider: A name of a provider, an address, `scripted:FILE`, "local", or empty.
        model: A GGUF file, a name of the catalogue, `provider/model`, the name of a model of the provider, or empty.

    Raises:
        UsageError: There is no such provider, or it needs a model.
        ApiKeyMissing: There is neither a model nor the key of the provider.
    """
    if provider.startswith(SCRIPT_PREFIX):
        script = Path(provider.removeprefix(SCRIPT_PREFIX)).expanduser()
        return replace(config, engine=replace(config.engine, script=str(script.absolute()), url="", model=""))
    prefix = model.partition("/")[0]
    if not provider and model and prefix in provider_names() and "/" in model:
        return replace(config, engine=replace(config.engine, url="", model=model, script=""))
    if provider in ("", "local"):
        if provider == "local":
            config = replace(config, engine=replace(config.engine, url="", model="", script=""))
        return _with_local_model(config, model) if model else config
    if "://" in provider or provider.startswith("/"):
        return replace(config, engine=replace(config.engine, url=provider, model=model, script=""))
    if provider not in provider_names():
        raise UsageError(
            f"there is no provider {provider!r}; write local, an address, scripted:FILE, or one of "
            f"{', '.join(provider_names())}"
        )
    if not model:
        # a key that is missing is the greater obstacle, and says so
        provider_target(provider, config.engine)
        raise UsageError(f"the provider {provider} needs a model: --model NAME")
    name = model if model.startswith(f"{provider}/") else f"{provider}/{model}"
    return replace(config, engine=replace(config.engine, url="", model=name, script=""))


def create_model(config: Config, provider: str, model: str) -> Model:
    """Return a model that can answer. Its engine is closed by the caller. The arguments are those of `choose_model`.

    Raises:
        UsageError: There is no such provider.
        ModelError: There is no such model.
    """
    choice = choose_model(config, provider, model)
    # the name first: it is an error if there is no such model
    name = describe_model(choice)
    return Model(name, make_engine(choice))


def _with_local_model(config: Config, model: str) -> Config:
    if config.engine.url:
        # the server of the settings has several models
        return replace(config, engine=replace(config.engine, model=model))
    engine = EngineSettings() if config.engine.model or config.engine.script else config.engine
    return replace(config, engine=engine, model=replace(config.model, path=model))
