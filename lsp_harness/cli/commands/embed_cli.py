"""`lsp-harness index embed`: make the missing vectors of an index now."""

import asyncio
from dataclasses import asdict
from pathlib import Path

from lsp_harness.cli.console import JsonOption, print_json, say
from lsp_harness.cli.project_folder import Folder, project_at
from lsp_harness.text.wording import format_count


def embed(folder: Folder = Path(), *, json: JsonOption = False) -> int:
    """Let search use meaning as well: make a vector of each text in the index that has none.

    This needs no engine. If it is interrupted, the vectors made so far are kept.
    """
    from lsp_harness.project.vectors import build_vectors

    build = asyncio.run(build_vectors(project_at(folder)))
    if json:
        print_json(asdict(build))
    else:
        made, texts = format_count(build.made, "vector"), format_count(build.texts, "text")
        say(f"{made} made with {build.model}; all {texts} have one")
    return 0
