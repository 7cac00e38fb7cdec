"""`lsp-harness search` and `locate`: code found by words, by a symbol, by a place in a file or by a task."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli import file_place
from lsp_harness.cli.composition import read_user_file
from lsp_harness.cli.console import JsonOption, print_json, require_positive, say, warn
from lsp_harness.cli.file_place import check_folder
from lsp_harness.cli.project_folder import Folder, load_project_at
from lsp_harness.errors import UsageError
from lsp_harness.inference.engine_choice import make_engine
from lsp_harness.project.project_search import (
    FileOffset,
    FoundCode,
    ProjectQuery,
    SymbolQuery,
    locate_in_project,
    search_code,
    search_files,
)
from lsp_harness.text.document import Document

MAX_LINE_CHARS = 100
"""Most characters of a line of code that is shown."""


@Parameter(name="*")
@dataclass(frozen=True)
class SearchOptions:
    """The options of `lsp-harness search`."""

    at: Annotated[
        str,
        Parameter(
            help="Find code that is related to this place: FILE:LINE or FILE:LINE:COL. Lines and columns count from 1."
        ),
    ] = ""
    symbol: Annotated[
        str, Parameter(help="Find this symbol, the code that it uses, and the code that uses it: NAME or FILE:NAME.")
    ] = ""
    files: Annotated[
        bool,
        Parameter(
            negative="",
            help="Find files instead of declarations. The text may be long, such as a bug report, and may contain file "
            "names.",
        ),
    ] = False
    limit: Annotated[int, Parameter(help="The largest number of results.", validator=require_positive)] = 10
    near: Annotated[
        str,
        Parameter(
            help="A file, relative to the folder. Among equally good results, files that import it or that it imports "
            "come first."
        ),
    ] = ""
    explain: Annotated[
        bool,
        Parameter(
            negative="",
            help="Show how each result was found, its rank, and the first line of its documentation.",
        ),
    ] = False


def search(
    query: Annotated[str, Parameter(help="What to find: words of a name, or words that say what the code does.")] = "",
    folder: Folder = Path(),
    *,
    options: Annotated[SearchOptions | None, Parameter(name="*")] = None,
    json: JsonOption = False,
) -> int:
    """Find code by words, by a symbol or by a place in a file.

    The exit status is 1 if nothing was found.
    """
    options = options or SearchOptions()
    if options.at or options.symbol:
        # the option says what to find, so that the argument can only be the folder
        folder, query = Path(query or folder), ""
    if [bool(query), bool(options.at), bool(options.symbol)].count(True) != 1:
        raise UsageError('a search needs one of: lsp-harness search "WORDS", --at FILE:LINE or --symbol NAME')
    if options.files and not query:
        raise UsageError('--files needs words: lsp-harness search --files "WORDS"')
    if not options.symbol:
        file_place.check_folder(folder, "search" if query else "search --at", query or options.at)
    project = load_project_at(folder)
    target = query or (_read_place(options.at) if options.at else SymbolQuery(options.symbol))
    request = ProjectQuery(target, options.limit, options.near, options.explain)
    if options.files:
        return _print_files(asyncio.run(search_files(project, request)), json=json)
    return _print_hits(asyncio.run(search_code(project, request)), explains=options.explain, json=json)


def _print_hits(hits: Sequence[FoundCode], *, explains: bool, json: bool) -> int:
    """Print each result with the line that fits best, and return the exit status."""
    if json:
        print_json([asdict(one.hit) | {"doc": one.doc, "match": one.line, "text": one.text} for one in hits])
        return 0 if hits else 1
    for one in hits:
        hit = one.hit
        line = f"{hit.path}:{hit.line + 1}: {hit.symbol}" if hit.symbol else f"{hit.path}:{one.line}:"
        if explains:
            line += f"  [{', '.join(hit.reasons)}]" + (f"  {one.doc}" if one.doc else "")
        say(line)
        if one.text:
            say(f"  {one.line}: {shorten(one.text)}")
    return 0 if hits else _report_nothing()


def _report_nothing() -> int:
    """Say on standard error that nothing was found, and return the exit status."""
    warn("nothing was found; try other words, or fewer of them")
    return 1


def shorten(text: str) -> str:
    """Return a line of code in one row of a usual terminal."""
    return text if len(text) <= MAX_LINE_CHARS else f"{text[: MAX_LINE_CHARS - 1]}…"


def _print_files(files: Sequence[tuple[str, float]], *, json: bool) -> int:
    if json:
        print_json([{"path": path, "score": score} for path, score in files])
    else:
        for path, _ in files:
            say(path)
        return 0 if files else _report_nothing()
    return 0 if files else 1


def _read_place(text: str) -> FileOffset:
    """Return the place that the option `--at` names. Raise UsageError if there is no such place."""
    file, numbers = file_place.parse_place(text, 2)
    if not numbers:
        raise UsageError(f"the place {text} has no line; write: lsp-harness search --at {text}:LINE or {text}:LINE:COL")
    document = Document.from_text(file.absolute().as_uri(), read_user_file(file))
    line, column = [*numbers, 1][:2]
    return FileOffset(file, file_place.byte_offset(document, line, column), text)


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
    result = asyncio.run(locate_in_project(load_project_at(folder), task, make_engine, explains=explain))
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
