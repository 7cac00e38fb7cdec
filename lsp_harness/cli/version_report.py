"""The answer of `lsp-harness --version`: the version, the library of llama.cpp and the model that an engine would use.

The first line is the version alone, because other programs read it. The lines behind it never fail and start nothing:
a part that is missing, and settings that cannot be read, are said in words.
"""

from pathlib import Path

from lsp_harness.config.load import load
from lsp_harness.config.schema import Config
from lsp_harness.errors import HarnessError, ModelMissing
from lsp_harness.inference.libraries.library_choice import COMPILED, find_library
from lsp_harness.inference.models.model_files import resolve_model
from lsp_harness.inference.target import is_own_engine, is_remote
from lsp_harness.wire.version import VERSION


def describe_version() -> str:
    """Return the lines for a person: the version, and the library and the model of the settings in this folder."""
    return "\n".join([VERSION, *(f"{part}: {says}" for part, says in describe_parts().items())])


def describe_parts() -> dict[str, str]:
    """Return `library` and `model`, each in words. A part that is missing says so."""
    try:
        config, _ = load(Path.cwd())
        return {"library": describe_library(config), "model": describe_model(config)}
    except Exception as error:  # noqa: BLE001 - a version that cannot be asked for helps nobody
        reason = (isinstance(error, OSError) and error.strerror) or " ".join(str(error).split())
        unknown = f"unknown ({reason})"
        return {"library": unknown, "model": unknown}


def describe_library(config: Config) -> str:
    """Return the library that the engine of these settings would load, or why there is none."""
    if not is_own_engine(config):
        return "not needed"
    try:
        library = find_library(config.engine.library)
    except HarnessError as error:
        # the rest of the sentence lists names and commands, which `doctor` shows as well
        return f"missing ({error.message.partition(';')[0]}; see lsp-harness doctor)"
    if library.origin == "folder":
        return library.name
    source = f"llama-cpp-python {library.version}" if library.name == COMPILED else f"llama.cpp {library.version}"
    return f"{library.name} ({source})"


def describe_model(config: Config) -> str:
    """Return the model of these settings, and whether its file is missing."""
    if config.engine.script:
        return "scripted replies"
    if is_remote(config.engine):
        # an address may hold a password
        return f"{config.engine.model or 'the one that it serves'} (of a remote server)"
    try:
        resolve_model(config.model.path)
    except ModelMissing:
        return f"{config.model.path} (missing; run: lsp-harness setup)"
    except HarnessError as error:
        return f"{config.model.path} (missing: {error.message.partition(';')[0]}; see lsp-harness model list)"
    return config.model.path
