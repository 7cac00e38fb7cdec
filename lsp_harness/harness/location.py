"""Where the code is that a task is about, for whoever asks: a command line with an index of its own, or a front end that stays.

What may be asked, who chooses, and what is said where nothing is found is the same for both.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_harness.coding.task_location import RANKINGS, TaskPlace, TaskPlaces, TextReader, choose_place, find_task_places
from lsp_harness.config.schema import Config
from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import ConfigError, FileError, NoAnswer, UsageError
from lsp_harness.files.folders import find_folder
from lsp_harness.files.private_files import PrivateFiles
from lsp_harness.harness import edit_verbs
from lsp_harness.harness.symbol_queries import open_texts
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.inference.client import Engine
from lsp_harness.session.results import Report
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span
from lsp_harness.text.uri import local_path

if TYPE_CHECKING:
    from lsp_harness.harness.harness import Harness
    from lsp_harness.harness.indexes.folder_index import Folder

Engines = Callable[[], AbstractAsyncContextManager[Engine]]
"""Makes the engine that is asked where a model is to choose."""


@dataclass(frozen=True, slots=True)
class Located:
    """What was found in the folder `root`, and the `texts` it was found in, by their paths there."""

    root: Path
    sought: TaskPlaces
    texts: Mapping[str, Document]

    def document(self, one: TaskPlace) -> Document:
        return self.texts[one.path]

    def span(self, one: TaskPlace) -> Span:
        """Its whole lines."""
        document = self.texts[one.path]
        return Span(document.line_starts[one.first - 1], document.line_span(one.last - 1)[1])


def check(config: Config, task: str, otherwise: str) -> None:
    """Before anything is looked up; `otherwise` is what to do where there is no index. Raises UsageError, ConfigError."""
    if not task.strip():
        raise UsageError('describe the task in words, for example: "add input validation to parse_config"')
    if not config.index.enabled:
        raise UsageError(f"this folder is not indexed, because the setting index.enabled is false; {otherwise}")
    if config.locate.ranking not in RANKINGS:
        raise ConfigError(f"locate.ranking must be one of {', '.join(RANKINGS)}, not {config.locate.ranking!r}")


def texts_of(root: Path, opened: Mapping[str, Document] | None = None, roots: Sequence[Path] = ()) -> TextReader:
    """The texts of a folder, those that are `opened` as they are, all others as they are on disk; none that is kept from the model by the
    rules of the folders that are open, `roots`."""
    from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES

    kept = PrivateFiles(roots or [root])

    def text(path: str) -> Document | None:
        file = root / path
        try:
            if kept.reason(file.as_uri()):
                return None
            return (opened or {}).get(path) or Document.from_text(file.as_uri(), read_file(file, MAX_TEXT_BYTES))
        except (OSError, FileError):
            return None

    return text


async def sought(
    config: Config,
    known: IndexQuery,
    root: Path,
    task: str,
    texts: TextReader,
    engine: Engines,
    near: Sequence[bytes] = (),
    beside: str = "",
) -> TaskPlaces | None:
    """What an index that is `known` says, and a model where the settings want its choice; None where nothing is found. `near` and
    `beside` are as for `seek`."""
    found = await find_task_places(known, root.as_uri(), task, texts, near, current_path=beside)
    if found is None or config.locate.ranking == "index":
        return found
    async with engine() as asked:
        return await choose_place(asked, task, found, config.context.task_budget)


async def locate(harness: "Harness", task: str, uri: str = "") -> Located:
    """In the folder that `uri`, a file or folder, is in; where it is in none, or nothing is said, in the only one. Raises UsageError,
    ConfigError, NoAnswer."""
    if not harness.workspace.is_trusted:
        raise UsageError("this workspace is not trusted, so there are only completions; trust it in the editor")
    check(harness.config, task, "select the lines to change")
    folder, beside = _folder(harness, uri)
    opened = {one.path: one.document for one in open_texts(harness) if one.root == folder.root}
    read, texts = texts_of(folder.root, opened, harness.workspace.roots), dict[str, Document]()

    def text(path: str) -> Document | None:
        # what is done with a place is done in the text that it was found in
        if path not in texts and (document := read(path)):
            texts[path] = document
        return texts.get(path)

    found = await sought(
        *(
            harness.config,
            harness.services.indexes.query,
            folder.root,
            task,
            text,
            lambda: nullcontext(harness.services.engine),
        ),
        await _near(harness, folder, task),
        beside,
    )
    if found is None:
        if not await folder.query.is_complete(folder.root.as_uri()):
            raise NoAnswer(f"the index of {folder.root.name} is still being made; ask again in a moment")
        raise NoAnswer(f"no code in {folder.root.name} fits this task; name a function in it")
    return Located(folder.root, found, {one.path: texts[one.path] for one in found.candidates})


async def instruct(
    harness: "Harness", instruction: str, uri: str, report: Report, failing: str = ""
) -> tuple[edit_verbs.Written, Located]:
    """The edit of what an instruction is about, wherever that is, and what that is; `failing` is as for `verbs.instruct`.
    Raises what `locate` raises, StaleDocument and EngineError."""
    found = await locate(harness, instruction, uri)
    best = found.sought.best
    snapshot = harness.workspace.snapshot(found.document(best))
    return await edit_verbs.instruct(harness, snapshot, found.span(best), instruction, report, failing), found


def _folder(harness: "Harness", uri: str) -> "tuple[Folder, str]":
    """The folder that is meant, and the path of the file there that somebody is in."""
    if not harness.workspace.roots:
        raise UsageError("no folder is open; open the folder with the code")
    place = find_folder(local_path(uri), harness.workspace.roots)
    beside = place.path.as_posix() if place else ""
    if place is None and harness.workspace.roots[1:]:
        raise UsageError("several folders are open; send the URI of the folder, or of a file in it")
    root = place.folder if place else harness.workspace.roots[0]
    for folder in harness.services.indexes.folders:
        if folder.root == root:
            return folder, beside
    raise UsageError(f"{root} has no index; the log of the server says why")


async def _near(harness: "Harness", folder: "Folder", task: str) -> Sequence[bytes]:
    """The texts whose vectors are most like the task's, where there are some and our engine runs: none is started for it."""
    if not harness.services.engines.own(harness.config) or harness.services.engines.state()["engine"] not in (
        "ready",
        "busy",
    ):
        return ()
    return await harness.services.indexes.near(folder.root.as_uri(), task)
