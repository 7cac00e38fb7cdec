"""`lsp-harness docs`: the signature and documentation of a name in an installed package."""

from dataclasses import asdict
from pathlib import Path
from textwrap import indent
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.console import JsonOption, print_json, say
from lsp_harness.cli.folder_settings import read_settings
from lsp_harness.errors import UsageError
from lsp_harness.knowledge.doc_fragment import DocFragment
from lsp_harness.knowledge.installed_packages import InstalledPackages, package_languages
from lsp_harness.knowledge.name_search import search_name
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
    """Show the signature and documentation of a name in a package.

    The package is installed, or it is one of the project itself.

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
    fragment = search_name(
        InstalledPackages(python=config.knowledge.python), root, [language] if language else package_languages(), name
    )
    if json:
        print_json({**asdict(fragment), "called": fragment.usage})
    else:
        _print_fragment(fragment)
    return 0


def _print_fragment(fragment: DocFragment) -> None:
    several = f"  (the first of {fragment.overloads} signatures)" if fragment.overloads > 1 else ""
    say(f"{fragment.release}: {fragment.signature or fragment.name or fragment.module}{several}")
    if fragment.constructor:
        say(f"  {fragment.constructor}")
    if fragment.documentation:
        say(f"  {fragment.documentation}")
    if fragment.details:
        say(f"\n{indent(fragment.details, '  ')}\n")
    if fragment.file:
        say(f"  {fragment.file}")
