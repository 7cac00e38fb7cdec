"""`lsp-harness docs`: the signature and documentation of a name in an installed package."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.console import JsonOption, print_json, say
from lsp_harness.cli.folder_settings import read_settings
from lsp_harness.errors import UsageError
from lsp_harness.knowledge.doc_fragment import AbsentName, DocFragment
from lsp_harness.knowledge.installed_packages import InstalledPackages, package_languages
from lsp_harness.languages.language_table import shipped_languages

LANGUAGE_NAMES = (
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
            help=f"The language of the package: {', '.join(LANGUAGE_NAMES)}. By default, all are tried in this order."
        ),
    ] = "",
    json: JsonOption = False,
) -> int:
    """Show the signature and documentation of a name in an installed package.

    Parameters
    ----------
    name
        The name as code writes it: requests.get, lodash.debounce, serde_json::from_str, github.com/owner/name.Func.
    """
    if language and language not in LANGUAGE_NAMES:
        raise UsageError(f"--language must be one of {', '.join(LANGUAGE_NAMES)}, not {language!r}")
    if not folder.is_dir():
        raise UsageError(f"there is no folder {str(folder)!r}")
    root = folder.resolve()
    config = read_settings(root)
    fragment = _look_up(
        InstalledPackages(python=config.knowledge.python), root, [language] if language else package_languages(), name
    )
    if json:
        print_json({**asdict(fragment), "called": fragment.usage})
    else:
        _print_fragment(fragment)
    return 0


def _look_up(installed: InstalledPackages, root: Path, languages: Sequence[str], name: str) -> DocFragment:
    """Return the documentation. Raise UsageError with the most similar names, or with the searched folders."""
    absent: list[AbsentName] = []
    places: list[str] = []
    for language in languages:
        result = installed.look_up(root, language, name)
        if isinstance(result, DocFragment):
            return result
        if result:
            absent.append(result)
        elif release := installed.find_release(root, language, name):
            raise UsageError(f"{release} is installed, but its files do not say what {name} is")
        places += installed.searched_places(root, language)
    if absent:
        first = absent[0]
        similar = ", ".join(fragment.name for fragment in first.nearest)
        hint = f"; the most similar names are: {similar}" if similar else ""
        raise UsageError(f"{first.release} has no {first.name}{hint}")
    searched = ", ".join(dict.fromkeys(places)) or "no place, because no go.mod requires it"
    raise UsageError(f"{root} has no installed package with {name}; searched in {searched}")


def _print_fragment(fragment: DocFragment) -> None:
    several = f"  (the first of {fragment.overloads} signatures)" if fragment.overloads > 1 else ""
    say(f"{fragment.release}: {fragment.signature or fragment.name or fragment.module}{several}")
    if fragment.constructor:
        say(f"  {fragment.constructor}")
    if fragment.documentation:
        say(f"  {fragment.documentation}")
    if fragment.file:
        say(f"  {fragment.file}")
