"""The models we know by name, read from `catalogue.toml`. Cheap to import: the language server does.

A card says what the file must be and where it may come from. It does not hold token texts: those are in the file's own
header, and a second copy could only disagree with it.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

from lsp_harness.errors import UnknownModel
from lsp_harness.inference.models.sources import Hub, LocalFile, Source, Url, Wheels


@dataclass(frozen=True, slots=True)
class FimRecipe:
    """How to lay out a fill-in-the-middle prompt for this family, and what ends the answer."""

    order: Literal["suffix-first", "prefix-suffix-middle"]
    stops: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelCard:
    """One model file. `bytes` is 0 and `sha256` empty where nobody has checked them."""

    name: str
    title: str
    file: str
    bytes: int
    sha256: str
    license: str
    context: int
    fim: FimRecipe
    sources: tuple[Source, ...]
    note: str = ""


_KINDS: Mapping[str, Callable[..., Source]] = {"hub": Hub, "wheels": Wheels, "url": Url, "file": LocalFile}


@cache
def cards() -> tuple[ModelCard, ...]:
    """Every model of the catalogue, in its order."""
    text = Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8")
    return tuple(_card(row) for row in tomllib.loads(text)["model"])


def card(name: str) -> ModelCard:
    """The model of that name."""
    for known in cards():
        if known.name == name:
            return known
    raise UnknownModel(f"no model is called “{name}”; known are {', '.join(c.name for c in cards())}")


def _card(row: dict[str, Any]) -> ModelCard:
    return ModelCard(
        name=row["name"],
        title=row["title"],
        file=row["file"],
        bytes=row.get("bytes", 0),
        sha256=row.get("sha256", ""),
        license=row["license"],
        context=row["context"],
        fim=FimRecipe(order=row["fim"]["order"], stops=tuple(row["fim"]["stops"])),
        sources=tuple(_source(source) for source in row["sources"]),
        note=row.get("note", ""),
    )


def _source(row: dict[str, Any]) -> Source:
    # Lists become tuples so that a card can be hashed and compared like any value.
    settings = {k: tuple(cast("list[str]", v)) if isinstance(v, list) else v for k, v in row.items() if k != "kind"}
    return _KINDS[row["kind"]](**settings)
