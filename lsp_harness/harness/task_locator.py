"""The code that a task is about. The command line and the language server find it in the same way."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_harness.coding.location.task_location import (
    RANKINGS,
    LocatedTask,
    LocationRequest,
    TaskPlace,
    TaskPlaces,
    choose_place,
    find_task_places,
)
from lsp_harness.config.schema import Config
from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import ConfigError, FileError, NoAnswer, UsageError
from lsp_harness.files.folders import find_folder
from lsp_harness.files.private_files import PrivateFiles
from lsp_harness.harness.edits.edit_verbs import EditVerbs
from lsp_harness.harness.edits.turns import UNTRUSTED, Turns
from lsp_harness.harness.services import Services
from lsp_harness.kernel.results import Report
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
from lsp_harness.text.document import Document
from lsp_harness.text.uri import local_path

if TYPE_CHECKING:
    from lsp_harness.harness.edits.proposals import DocumentEdit


def check_request(config: Config, request: LocationRequest) -> None:
    """Check what can be checked before there is an index.

    Raises:
        UsageError: There is no task, or the settings switch the index off.
        ConfigError: The settings name an unknown ranking.
    """
    if not request.task.strip():
        raise UsageError('the task is empty; describe it in words, for example: "add input validation to parse_config"')
    if not config.index.enabled:
        raise UsageError(
            f"this folder is not indexed, because the setting index.enabled is false; {request.alternative}"
        )
    if config.locate.ranking not in RANKINGS:
        raise ConfigError(f"locate.ranking must be one of {', '.join(RANKINGS)}, not {config.locate.ranking!r}")


class TaskLocator:
    """Finds the code that a task is about, and edits it.

    Args:
        services: The settings, documents, engine and checks that all parts of the harness share.
        turns: Begins a turn for each edit.
    """

    def __init__(self, services: Services, turns: Turns) -> None:
        self._services = services
        self._edits = EditVerbs(services, turns)

    async def locate(self, request: LocationRequest) -> LocatedTask:
        """Return the code that a task is about.

        The index of the workspace folder of `request.uri` is searched, or that of the only folder. If the settings say
        so, the model chooses among the candidates.

        Raises:
            UsageError: The request is not complete, or the folder has no index.
            ConfigError: The settings name an unknown ranking.
            NoAnswer: The index has no code that fits.
        """
        services, config, index = self._services, self._services.config, self._services.index
        if not services.workspace.is_trusted:
            raise UsageError(UNTRUSTED)
        check_request(config, request)
        root, current_path = self._find_folder(request.uri)
        uri, texts = root.as_uri(), _FolderTexts(services, root)
        similar = await index.find_similar_at_once(uri, request.task)
        ranking = await find_task_places(index.query, uri, request.task, texts.read, similar, current_path=current_path)
        if ranking is None:
            if not await index.query.is_complete(uri):
                raise NoAnswer(f"the index of {root.name} is still being made; ask again in a moment")
            raise NoAnswer(f"no code in {root.name} fits this task; name a function in it, or {request.alternative}")
        if config.locate.ranking == "model" and ranking.doubt:
            ranking = await choose_place(services.engines.current, request.task, ranking, config.context.task_budget)
        return LocatedTask(root, ranking, texts.texts, texts.read)

    def open_folder(self, uri: str = "") -> tuple[Path, Callable[[str], Document | None]]:
        """Return the workspace folder that is meant, and a function that returns the texts that a model may see.

        Args:
            uri: The URI of the folder or of a file in it. Empty for the only folder.

        Raises:
            UsageError: No folder is open, several are, the folder has no index, or the user does not trust it.
        """
        if not self._services.workspace.is_trusted:
            raise UsageError(UNTRUSTED)
        root, _ = self._find_folder(uri)
        return root, _FolderTexts(self._services, root).read

    def reopen(self, request: LocationRequest, place: TaskPlace, text_hash: str) -> LocatedTask | None:
        """Return a place that was found earlier, or None if its text is another one now."""
        root, _ = self._find_folder(request.uri)
        texts = _FolderTexts(self._services, root)
        document = texts.read(place.path)
        if document is None or document.hash != text_hash:
            return None
        return LocatedTask(root, TaskPlaces((place,)), texts.texts, texts.read)

    async def instruct(
        self, request: LocationRequest, report: Report, printed: str = ""
    ) -> "tuple[DocumentEdit, LocatedTask]":
        """Edit the code that an instruction is about.

        Args:
            request: The instruction as the task.
            report: Receives the progress.
            printed: The output of a tool about this code. It may be empty.

        Returns:
            The edit, and the code.

        Raises:
            HarnessError: See `locate` and `EditVerbs.instruct`.
        """
        located = await self.locate(request)
        best = located.ranking.best
        snapshot = self._services.workspace.snapshot(located.document(best))
        edit = await self._edits.instruct(snapshot, located.span(best), request.task, report, printed)
        return edit, located

    def _find_folder(self, uri: str) -> tuple[Path, str]:
        """Return the workspace folder that is meant, and the path in it of the file that the user is in."""
        services, roots = self._services, self._services.workspace.roots
        if not roots:
            raise UsageError("no folder is open; open the folder with the code")
        place = find_folder(local_path(uri), roots)
        current_path = place.path.as_posix() if place else ""
        if place is None and roots[1:]:
            raise UsageError("several folders are open; send the URI of the folder, or of a file in it")
        root = place.folder if place else roots[0]
        is_indexed = services.index.ready.query or any(
            folder.root == root for folder in services.index.folder_indexes.folders
        )
        if not is_indexed:
            raise UsageError(f"{root} has no index; the log of the server says why")
        return root, current_path


class _FolderTexts:
    """The texts of one workspace folder that a model may see: open texts as they are, others as they are on disk.

    Attributes:
        texts: The texts that were read, by path. An edit works on the text in which its place was found.
    """

    def __init__(self, services: Services, root: Path) -> None:
        self._root = root
        # not the rules of the workspace: texts are read in a thread of the index
        self._private_files = PrivateFiles(list(services.workspace.roots))
        self._open = {snapshot.path: snapshot.document for snapshot in services.open_files() if snapshot.root == root}
        self.texts: dict[str, Document] = {}

    def read(self, path: str) -> Document | None:
        """Return the text at a path of the folder. None if there is none, or no model may see it."""
        if path not in self.texts and (document := self._read(path)):
            self.texts[path] = document
        return self.texts.get(path)

    def _read(self, path: str) -> Document | None:
        file = self._root / path
        try:
            if self._private_files.reason(file.as_uri()):
                return None
            return self._open.get(path) or Document.from_text(file.as_uri(), read_file(file, MAX_TEXT_BYTES))
        except (OSError, FileError):
            return None
