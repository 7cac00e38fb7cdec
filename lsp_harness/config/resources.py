"""Where the files that ship beside the code are: queries and grammars.

In a checkout they live in the repository's `grammars/` folder, so that an edit counts at once; in a wheel hatch puts
that folder inside the package. This is the only place that knows both.
"""

from pathlib import Path

PACKAGE_FOLDER = Path(__file__).resolve().parent.parent


def resource_path(*parts: str) -> Path:
    """The path of a shipped file or folder, e.g. `resource("queries", "python")`. It may not exist."""
    packaged = PACKAGE_FOLDER / "grammars"
    # Never the other way round: what lies beside an installed package (site-packages/grammars) is not ours.
    root = packaged if packaged.is_dir() else PACKAGE_FOLDER.parent / "grammars"
    return root.joinpath(*parts)


def grammar_folder() -> Path:
    """The GBNF files that constrain what a model may write."""
    return resource_path("gbnf")
