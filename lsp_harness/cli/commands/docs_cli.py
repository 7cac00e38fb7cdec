"""`lsp-harness docs`: the signature and documentation of a name in an installed package."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.console import AsJson, as_json, say
from lsp_harness.cli.folder_settings import settings
from lsp_harness.errors import UsageError
from lsp_harness.knowledge.doc_fragment import AbsentName, DocFragment
from lsp_harness.knowledge.installed_packages import InstalledPackages, package_languages
from lsp_harness.languages.language_table import shipped_languages

KNOWN = (
    *package_languages(),
    *(language.id for language in shipped_languages() if language.packages.language and not language.dialect_of),
)


def docs(
    name: str,
    folder: Annotated[Path, Parameter(help="The folder of the project. The default is the current folder.")] = Path(),
    /,
    *,
    language: Annotated[
        str,
        Parameter(
            help=f"The language of the package: {', '.join(KNOWN)}. By default the first one that has such a package."
        ),
    ] = "",
    json: AsJson = False,
) -> int:
    """Show the signature and documentation of a name in an installed package.

    Parameters
    ----------
    name
        The name as code writes it: requests.get, lodash.debounce, serde_json::from_str, github.com/owner/name.Func.
    """
    if language and language not in KNOWN:
        raise UsageError(f"--language must be one of {', '.join(KNOWN)}, not {language!r}")
    if not folder.is_dir():
        raise UsageError(f"there is no folder {str(folder)!r}")
    root = folder.resolve()
    config = settings(root)
    found = _found(
        InstalledPackages(python=config.knowledge.python), root, [language] if language else package_languages(), name
    )
    if json:
        as_json({**asdict(found), "called": found.usage})
    else:
        _show(found)
    return 0


def _found(
    installed: InstalledPackages, root: Path, languages: "list[str] | tuple[str, ...]", name: str
) -> DocFragment:
    """Raises UsageError that says what there is instead, or where was looked."""
    absent: list[AbsentName] = []
    looked: list[str] = []
    for language in languages:
        known = installed.look_up(root, language, name)
        if isinstance(known, DocFragment):
            return known
        if known:
            absent.append(known)
        elif release := installed.find_release(root, language, name):
            raise UsageError(f"{release} is installed, but its files do not say what {name} is")
        looked += installed.searched_places(root, language)
    if absent:
        one = absent[0]
        nearest = ", ".join(near.name for near in one.nearest)
        raise UsageError(
            f"{one.release} has no {one.name}" + (f"; the most similar names are: {nearest}" if nearest else "")
        )
    places = ", ".join(dict.fromkeys(looked)) or "no place, because no go.mod requires it"
    raise UsageError(f"{root} has no installed package with {name}; searched in {places}")


def _show(found: DocFragment) -> None:
    several = f"  (the first of {found.overloads} signatures)" if found.overloads > 1 else ""
    say(f"{found.release}: {found.signature or found.name or found.module}{several}")
    if found.constructor:
        say(f"  {found.constructor}")
    if found.documentation:
        say(f"  {found.documentation}")
    if found.file:
        say(f"  {found.file}")
