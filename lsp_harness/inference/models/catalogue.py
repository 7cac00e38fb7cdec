"""The catalogue of models, read from `catalogue.toml`.

The import is cheap, because the language server needs it at start.

A card says what a model file must be and where it can be downloaded. It does not contain token texts: the header of the
file does, and a second copy could differ from it.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

from lsp_harness.disk.file_reading import read_text
from lsp_harness.errors import UnknownModel
from lsp_harness.inference.models.converted import ConvertedModel, PublishedFile, Repository, Wheel
from lsp_harness.inference.models.model_sources import Hub, LocalFile, ModelSource, Url, Wheels

Kind = Literal["completion", "embedding"]
Ability = Literal["fim", "instructions", "apply", "next-edit"]
"""The tasks of models: to fill holes, to follow words, to merge a snippet into a file, and to propose the next
change."""
MeasuredAbility = Literal["words", "holes", "tools"]
"""The abilities that fixed prompts measure: to choose the right one of a few words, to fill holes, and to answer
questions with tools."""
FREE_LICENSES = ("Apache-2.0", "MIT")
"""Licences under which a model may be proposed to anybody."""


@dataclass(frozen=True, slots=True)
class FimRecipe:
    """The order of a fill-in-the-middle prompt for a model, and the texts that end the answer."""

    order: Literal["suffix-first", "prefix-suffix-middle"] = "prefix-suffix-middle"
    stops: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelCard:
    """One model file of the catalogue. `bytes` is 0 and `sha256` is empty if they are not known.

    A model of kind `embedding` makes vectors and generates no text, so its `fim` and its `abilities` are empty.

    Attributes:
        about_bytes: The expected size of a file whose size nobody has checked.
        parameters: Millions of parameters, or 0 if the number is not known.
        active: Millions of parameters that work for each token: fewer than all in a mixture of experts.
        abilities: What the model was trained for.
        measured: What fixed prompts have shown that it can do (`lsp-harness model measure`), or None if nobody has
            measured the file.
    """

    name: str
    title: str
    file: str
    bytes: int
    sha256: str
    license: str
    context: int
    fim: FimRecipe
    sources: tuple[ModelSource, ...]
    note: str = ""
    kind: Kind = "completion"
    about_bytes: int = 0
    parameters: int = 0
    active: int = 0
    abilities: tuple[Ability, ...] = ()
    measured: tuple[MeasuredAbility, ...] | None = None

    @property
    def expected_bytes(self) -> int:
        """Return the size of the file as far as it is known, or 0."""
        return self.bytes or self.about_bytes

    @property
    def is_general(self) -> bool:
        """Return whether the model can do what the server asks of its only model, and anybody may use it."""
        return {"fim", "instructions"} <= {*self.abilities} and self.license in FREE_LICENSES


VERSION_SUFFIX = re.compile(r"-v[\d.]+$")

_KINDS: Mapping[str, Callable[..., ModelSource]] = {"hub": Hub, "wheels": Wheels, "url": Url, "file": LocalFile}


@cache
def cards() -> tuple[ModelCard, ...]:
    """Return all models of the catalogue, in its order."""
    text = read_text(Path(__file__).with_name("catalogue.toml"))
    return tuple(_read_card(row) for row in tomllib.loads(text)["model"])


def card(name: str) -> ModelCard:
    """Return the model with this name, which may lack the version at its end. Raise UnknownModel if there is none."""
    for model in cards():
        if name in (model.name, VERSION_SUFFIX.sub("", model.name)):
            return model
    raise UnknownModel(f"there is no model “{name}”; the catalogue has {', '.join(c.name for c in cards())}")


def _read_card(row: dict[str, Any]) -> ModelCard:
    return ModelCard(
        name=row["name"],
        title=row["title"],
        file=row["file"],
        bytes=row.get("bytes", 0),
        sha256=row.get("sha256", ""),
        license=row["license"],
        context=row["context"],
        fim=FimRecipe(row["fim"]["order"], tuple(row["fim"]["stops"])) if "fim" in row else FimRecipe(),
        sources=tuple(source for entry in row["sources"] for source in _read_sources(entry)),
        note=row.get("note", ""),
        kind=row.get("kind", "completion"),
        about_bytes=row.get("about_bytes", 0),
        parameters=row.get("parameters", 0),
        active=row.get("active", row.get("parameters", 0)),
        abilities=tuple(row.get("abilities", ())),
        measured=tuple(row["measured"]) if "measured" in row else None,
    )


def _read_sources(row: dict[str, Any]) -> Iterator[ModelSource]:
    if row["kind"] == "converted":
        yield from _conversion_sources(row)
        return
    # lists become tuples, so that cards can be hashed
    settings = {k: tuple(cast("list[str]", v)) if isinstance(v, list) else v for k, v in row.items() if k != "kind"}
    yield _KINDS[row["kind"]](**settings)


def _conversion_sources(row: dict[str, Any]) -> Iterator[ModelSource]:
    """Yield a source for each carrier of the same published files."""
    pieces = tuple(PublishedFile(**piece) for piece in row["pieces"])
    for carrier in row["carriers"]:
        source = Repository(**carrier) if "repo" in carrier else Wheel(**carrier)
        yield ConvertedModel(source, pieces, row["name"], row["license"])
