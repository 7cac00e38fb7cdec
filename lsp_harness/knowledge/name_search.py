"""The documentation of a name as people write it, in whatever package of a project it is."""

from collections.abc import Sequence
from pathlib import Path

from lsp_harness.errors import UsageError
from lsp_harness.knowledge.doc_fragment import AbsentName, DocFragment
from lsp_harness.knowledge.installed_packages import InstalledPackages

MAX_PLACES = 5
"""Most searched places that a message lists."""


def search_name(installed: InstalledPackages, root: Path, languages: Sequence[str], name: str) -> DocFragment:
    """Return the documentation of a name in an installed package, or in a package of the project itself.

    Args:
        installed: The installed packages.
        root: The folder of the project.
        languages: The ids of the languages to try, in this order.
        name: The name as code writes it: `requests.get`.

    Raises:
        UsageError: There is no such name. The message has the most similar names, or the searched places.
    """
    absent: list[AbsentName] = []
    places: list[str] = []
    for language in languages:
        result = installed.look_up(root, language, name)
        if not isinstance(result, DocFragment) and (own := installed.look_up_own(root, language, name)):
            # the project itself comes before the absence of the name in an older installed copy
            result = own if isinstance(own, DocFragment) or result is None else result
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
    listed = list(dict.fromkeys(places))
    more = f" and {len(listed) - MAX_PLACES} more places" if listed[MAX_PLACES:] else ""
    searched = ", ".join(listed[:MAX_PLACES]) or "no place, because no go.mod requires it"
    raise UsageError(f"{root} has no installed package with {name}; searched in {searched}{more}")
