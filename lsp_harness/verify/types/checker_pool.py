"""The checkers of one client that run all the time: one process for each checker, project and environment."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from lsp_harness.text.document import Document
from lsp_harness.verify.types.checker_session import CheckerSession
from lsp_harness.verify.types.checkers import TYPE_CHECKERS
from lsp_harness.verify.types.type_checker import TypeChecker
from lsp_harness.workspace.folder_stamps import ChangedFile


class _Key(NamedTuple):
    """The key of a session: a checker, a workspace folder, the project in it, and the environment of that."""

    checker: str
    root: Path
    folder: Path
    environment: str


class CheckerPool:
    """The sessions of type checkers, which suggestions and edits share. They start when they are first prepared.

    Args:
        read_python: Returns the Python environment of the settings.
        list_open_texts: Returns the present texts of the open documents.
        checkers: The type checkers.
        may_run_code: Returns whether code of a folder may run without a sandbox. If not, only checkers that run none of
            it are started.
    """

    def __init__(
        self,
        read_python: Callable[[], str] = str,
        list_open_texts: Callable[[], Iterable[Document]] = tuple,
        checkers: Sequence[TypeChecker] = TYPE_CHECKERS,
        may_run_code: Callable[[Path], bool] = lambda root: True,
    ) -> None:
        self._read_python = read_python
        self._list_open_texts = list_open_texts
        self._may_run_code = may_run_code
        self._checkers = {checker.name: checker for checker in checkers}
        self._sessions: dict[_Key, CheckerSession] = {}

    def find(self, name: str, root: Path, file: Path | None = None) -> CheckerSession | None:
        """Return the session of a checker for the project of a file, or None without such a checker.

        It is not started.

        Args:
            name: The name of the checker.
            root: The workspace folder.
            file: The file. None for the workspace folder itself.
        """
        checker = self._checkers.get(name)
        if checker is None:
            return None
        key = self._find_key(checker, root, file)
        if key not in self._sessions:
            session = self._sessions[key] = CheckerSession(
                checker,
                root,
                lambda: key.environment,
                self._list_open_texts,
                may_run_code=partial(self._may_run_code, root),
            )
            session.folder = key.folder
        return self._sessions[key]

    def _find_key(self, checker: TypeChecker, root: Path, file: Path | None) -> "_Key":
        first = file or root / "file"
        environment = checker.find_environment(root, first, self._read_python())
        return _Key(checker.name, root, checker.find_folder(root, first), environment)

    def read_python(self) -> str:
        """Return the Python environment of the settings, or an empty text."""
        return self._read_python()

    def is_warm(self, name: str, root: Path, file: Path | None = None) -> bool:
        """Return whether a checker runs for the project of a file and is ready. The arguments are those of `find`."""
        checker = self._checkers.get(name)
        session = self._sessions.get(self._find_key(checker, root, file)) if checker else None
        return session is not None and session.state == "ready"

    def state(self) -> list[dict[str, str]]:
        """Return the checkers that were wanted so far, with their state and why they do not run."""
        return [
            {"checker": key.checker, "folder": str(key.folder), "state": session.state, "reason": session.reason}
            for key, session in self._sessions.items()
        ]

    def record_file_changes(self, changes: Sequence[ChangedFile]) -> None:
        """Tell all checkers which files were created, changed or deleted on disk."""
        for session in self._sessions.values():
            session.record_file_changes(changes)

    def forget_document(self, uri: str) -> None:
        """Tell all checkers that a document was closed."""
        for session in self._sessions.values():
            session.forget_document(uri)

    async def aclose(self) -> None:
        """End all checkers."""
        sessions = [*self._sessions.values()]
        self._sessions.clear()
        await asyncio.gather(*(session.aclose() for session in sessions))
