"""`lsp-harness locate`: the code that a task is about."""

import asyncio
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.compose import make_engine
from lsp_harness.cli.indexed import Folder, fresh, placed
from lsp_harness.cli.nearest import nearest
from lsp_harness.cli.say import AsJson, as_json, say
from lsp_harness.config.load import load
from lsp_harness.context.elsewhere import Here
from lsp_harness.errors import ConfigError, NoAnswer, UsageError
from lsp_harness.files.kept import Kept
from lsp_harness.pipeline.seek import RANKINGS, Sought, narrowed, seek
from lsp_harness.store.database import Reader
from lsp_harness.text.document import Document


def locate(
    task: str,
    folder: Folder = Path(),
    *,
    explain: Annotated[
        bool, Parameter(negative="", help="Show the other candidates too, and by what each was found.")
    ] = False,
    json: AsJson = False,
) -> int:
    """Find the code that a task is about: the lines of the declaration that is to be changed.

    Parameters
    ----------
    task
        What is to be done, in words: "add input validation to parse_config".
    """
    found = asyncio.run(sought(task, folder, explain=explain))
    if json:
        as_json({"chosen": found.chosen, "by": found.by, "candidates": [asdict(one) for one in found.candidates]})
    elif explain:
        for number, one in enumerate(found.candidates):
            mark = "*" if number == found.chosen else " "
            say(f"{mark} {one.place}: {one.symbol or 'text'}  [{', '.join(one.reasons)}]")
        say(f"chosen by the {found.by}")
    else:
        say(f"{found.best.place}: {found.best.symbol or 'text'}")
    return 0


async def sought(task: str, folder: Path, *, explain: bool = False) -> Sought:
    """What is found in a folder, whose index is made if there is none; `explain` says why not by meaning. Raises UsageError,
    NoAnswer."""
    where = placed(folder)
    if not task.strip():
        raise UsageError('say what is to be done: lsp-harness locate "add input validation to parse_config"')
    config, _ = load(where.root)
    if not config.index.enabled:
        raise UsageError("index.enabled is off: nothing is known of this folder; name the place, FILE:LINE")
    if config.locate.ranking not in RANKINGS:
        raise ConfigError(f"locate.ranking must be one of {', '.join(RANKINGS)}, not {config.locate.ranking!r}")
    await fresh(where)
    kept = Kept([where.root])

    def text(path: str) -> Document | None:
        file = where.root / path
        try:
            return None if kept.why(file.as_uri()) else Document.of(file.as_uri(), file.read_bytes())
        except OSError:
            return None

    with closing(Reader(where.database)) as reader:
        near = await nearest(where, task, explain=explain)
        found = await seek(Here(reader), where.root.as_uri(), task, text, near)
    if found is None:
        raise NoAnswer(f"nothing in {where.root} has to do with that; name a function, or the place: FILE:LINE")
    if config.locate.ranking == "index":
        return found
    engine = make_engine(config)
    try:
        return await narrowed(engine, task, found, config.context.task_budget)
    finally:
        await engine.aclose()
