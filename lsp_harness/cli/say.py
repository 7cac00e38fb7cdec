"""What commands print: text or tables for people, one JSON value for programs."""

import json
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

if TYPE_CHECKING:
    from rich.console import Console

AsJson = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON.")]


def console() -> "Console":
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True)


def say(text: str = "") -> None:
    console().print(text, markup=False)


def as_json(value: Any) -> None:
    console().print(json.dumps(value, indent=2, ensure_ascii=False), markup=False)
