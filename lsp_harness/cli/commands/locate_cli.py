"""`lsp-harness locate`: the lines of code that a task would change."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.console import JsonOption, print_json, say
from lsp_harness.cli.file_place import check_folder
from lsp_harness.cli.project_folder import Folder, project_at
from lsp_harness.inference.engine_choice import make_engine
from lsp_harness.project.project_search import locate_in_project

MAX_OTHERS = 3
"""Most other places that are shown if it is not sure which one is meant."""


def locate(
    task: str,
    folder: Folder = Path(),
    *,
    explain: Annotated[bool, Parameter(negative="", help="Show all candidates, and how each was found.")] = False,
    json: JsonOption = False,
) -> int:
    """Find the lines of code that a task would change.

    Parameters
    ----------
    task
        The task in words: "add input validation to parse_config". A name of the folder in it, FILE, or FILE:LINE is
        taken at its word.
    """
    check_folder(folder, "locate", task)
    result = asyncio.run(locate_in_project(project_at(folder), task, make_engine, explains=explain))
    if json:
        candidates = [asdict(candidate) for candidate in result.candidates]
        print_json({"chosen": result.choice, "by": result.chooser, "doubt": result.doubt, "candidates": candidates})
    elif explain:
        for number, candidate in enumerate(result.candidates):
            mark = "*" if number == result.choice else " "
            say(f"{mark} {candidate.place}: {candidate.symbol or 'text'}  [{', '.join(candidate.reasons)}]")
        say(f"chosen by the {result.chooser}")
        if result.doubt:
            say(f"not sure: {result.doubt}")
    else:
        say(f"{result.best.place}: {result.best.symbol or 'text'}")
        others = [candidate for candidate in result.candidates if candidate is not result.best][:MAX_OTHERS]
        if result.doubt:
            say(f"not sure: {result.doubt}{'; it may also be:' if others else ''}")
            for candidate in others:
                say(f"  {candidate.place}: {candidate.symbol or 'text'}")
    return 0
