"""The engine and the name of the model that the settings choose."""

from pathlib import Path

from lsp_harness.config.schema import Config
from lsp_harness.inference.client import Engine
from lsp_harness.inference.models.model_files import resolve_model
from lsp_harness.inference.target import is_remote


def make_engine(config: Config) -> Engine:
    """Return the engine of the settings: scripted replies or a model."""
    if config.engine.script:
        from lsp_harness.inference.scripted_engine import ScriptedEngine

        return ScriptedEngine(Path(config.engine.script))
    from lsp_harness.inference.client import EngineClient

    return EngineClient(config)


def describe_model(config: Config) -> str:
    """Return the name of the model that will answer, after all settings were applied.

    Raises:
        ModelError: The local model does not exist.
    """
    if config.engine.script:
        return f"scripted:{Path(config.engine.script).name}"
    if is_remote(config.engine):
        return config.engine.model or config.engine.url
    return resolve_model(config.model.path).stem
