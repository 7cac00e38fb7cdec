"""The abilities of models that were measured, each once: to choose a word, to fill a hole, and to call tools.

The catalogue has those of its own models. A file of the cache has those of other model files, by their fingerprints.
"""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

from lsp_harness.config import paths
from lsp_harness.config.schema import Config
from lsp_harness.disk.file_reading import read_text
from lsp_harness.errors import ConfigError, FileError, ModelError
from lsp_harness.inference.models.catalogue import MeasuredAbility, cards
from lsp_harness.inference.models.model_files import fingerprint, resolve_model
from lsp_harness.inference.target import is_remote


@dataclass(frozen=True, slots=True)
class MeasuredAbilities:
    """The abilities of a model that a few fixed prompts have shown.

    Attributes:
        words: Whether it chooses the right one of a few words, as the driver `code` asks it to.
        holes: Whether it fills a hole in code.
        tools: Whether it answers simple questions with tools, as the driver `chat` asks it to.
    """

    words: bool
    holes: bool
    tools: bool

    @property
    def sentence(self) -> str:
        """The abilities in words for people, without a subject: “completes, fixes, …; does not chat”."""
        can = [*["completes"] * self.holes, "fixes", "edits one function at a time", *["chats with tools"] * self.tools]
        cannot = [
            *["complete"] * (not self.holes),
            *["understand every prompt"] * (not self.words),
            *["chat"] * (not self.tools),
        ]
        return ", ".join(can) + (f"; does not {' and does not '.join(cannot)}" if cannot else "")


def find_abilities(config: Config) -> MeasuredAbilities | None:
    """Return the measured abilities of the model of the settings.

    Returns:
        The abilities, or None for a server, for a script, and for a local model that was never measured.

    Raises:
        ModelError: There is no such model.
    """
    if not can_be_measured(config):
        return None
    name = _read_fingerprint(config)
    # what was measured on this machine comes first
    with suppress(ConfigError, FileError, ValueError, KeyError, TypeError):
        return MeasuredAbilities(**json.loads(read_text(_abilities_file()))[name])
    for model in cards():
        # the fingerprint of a file of the catalogue is the beginning of its hash
        if model.measured is not None and model.sha256.startswith(name):
            return MeasuredAbilities(**{ability: ability in model.measured for ability in get_args(MeasuredAbility)})
    return None


def can_be_measured(config: Config) -> bool:
    """Return whether the model of the settings is a file on this machine. Servers and scripts are not measured."""
    return not (config.engine.script or is_remote(config.engine))


def keep_abilities(config: Config, abilities: MeasuredAbilities) -> None:
    """Write the abilities of the model of the settings. If that is not possible, they are measured again.

    Raises:
        ModelError: There is no such model.
    """
    name = _read_fingerprint(config)
    try:
        file = _abilities_file()
    except ConfigError:
        return
    paths.keep_entry(file, name, asdict(abilities), "what the model can do")


def _abilities_file() -> Path:
    return paths.cache_folder() / "abilities.json"


def _read_fingerprint(config: Config) -> str:
    model = resolve_model(config.model.path)
    try:
        return fingerprint(model)
    except OSError as error:
        raise ModelError(f"{model} cannot be read: {error.strerror or error}") from error
