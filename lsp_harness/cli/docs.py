"""`lsp-harness docs`: what an installed package says of one of its names."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.say import AsJson, as_json, say
from lsp_harness.cli.settings import settings
from lsp_harness.errors import UsageError
from lsp_harness.knowledge.fragment import Absent, DocFragment
from lsp_harness.knowledge.installed import LANGUAGES, Installed

KNOWN = (*LANGUAGES, "javascript")


def docs(
    name: str,
    folder: Annotated[Path, Parameter(help="The workspace folder; here by default.")] = Path(),
    /,
    *,
    language: Annotated[
        str, Parameter(help=f"Whose package it is: {', '.join(KNOWN)}; by default the first in which there is one.")
    ] = "",
    json: AsJson = False,
) -> int:
    """Show the signature and first words of a name of an installed package.

    Parameters
    ----------
    name
        As it is imported and used: requests.get, lodash.debounce, serde_json::from_str, github.com/owner/name.Func.
    """
    if language and language not in KNOWN:
        raise UsageError(f"no packages are known of {language!r}, but of {', '.join(KNOWN)}")
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder")
    root = folder.resolve()
    config = settings(root)
    found = _found(Installed(python=config.knowledge.python), root, [language] if language else LANGUAGES, name)
    if json:
        as_json({**asdict(found), "called": found.called})
    else:
        _show(found)
    return 0


def _found(installed: Installed, root: Path, languages: "list[str] | tuple[str, ...]", name: str) -> DocFragment:
    """Raises UsageError that says what there is instead, or where was looked."""
    absent: list[Absent] = []
    looked: list[str] = []
    for language in languages:
        known = installed.named(root, language, name)
        if isinstance(known, DocFragment):
            return known
        if known:
            absent.append(known)
        elif release := installed.release(root, language, name):
            raise UsageError(f"{release} is installed, but {name} cannot be read off its files")
        looked += installed.looked(root, language)
    if absent:
        one = absent[0]
        nearest = ", ".join(near.name for near in one.nearest)
        raise UsageError(f"{one.release} has no {one.name}" + (f"; the nearest: {nearest}" if nearest else ""))
    places = ", ".join(dict.fromkeys(looked)) or "nowhere: there is no go.mod that requires it"
    raise UsageError(f"no package that {name} may be of is installed for {root}; looked in {places}")


def _show(found: DocFragment) -> None:
    several = f"  (the first of {found.overloads} signatures)" if found.overloads > 1 else ""
    say(f"{found.release}: {found.signature or found.name or found.module}{several}")
    if found.constructor:
        say(f"  {found.constructor}")
    if found.documentation:
        say(f"  {found.documentation}")
    if found.file:
        say(f"  {found.file}")
