"""Paths of the files that ship with the code: queries and grammars.

In a checkout they are in the folder `grammars/` of the repository, so an edit takes effect at once. In a wheel, hatch
puts that folder into the package.
"""

from pathlib import Path

PACKAGE_FOLDER = Path(__file__).resolve().parent.parent


def find_resource(*parts: str) -> Path:
    """Return the path of a shipped file or folder, for example `resource_path("queries", "python")`.

    It may not exist.
    """
    packaged = PACKAGE_FOLDER / "grammars"
    # the package comes first, because a folder beside an installed package (site-packages/grammars) is not ours
    root = packaged if packaged.is_dir() else PACKAGE_FOLDER.parent / "grammars"
    return root.joinpath(*parts)


def find_grammar_folder() -> Path:
    """Return the folder of the GBNF grammars, which constrain the answers of a model."""
    return find_resource("gbnf")
