"""The findings about files that agents changed in the folder of the user, for exactly the bytes that were checked."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import FileError
from lsp_harness.files.folders import resolve_links
from lsp_harness.harness.published_findings import PublishedFindings
from lsp_harness.text.document import Document
from lsp_harness.text.uri import local_path

MAX_FILE_BYTES = 4 << 20
"""Size of the largest file that is read again. The watches of agents verify no larger one."""


@dataclass(frozen=True, slots=True)
class FileFindings:
    """The findings about one file.

    Attributes:
        file: The file, without links in its path.
        text: The bytes of the file that were checked.
        published: The findings.
    """

    file: Path
    text: Document
    published: PublishedFindings

    @property
    def is_current(self) -> bool:
        """Return whether the file on disk still has the bytes that were checked."""
        try:
            return read_file(self.file, MAX_FILE_BYTES) == self.text.data
        except FileError:
            return False


class AgentFindings:
    """The findings about files that agents changed, by agent and file.

    Args:
        on_change: Called with a file after its findings have changed.
    """

    def __init__(self, on_change: Callable[[Path], object]) -> None:
        self._on_change = on_change
        self._by_agent: dict[str, dict[Path, FileFindings]] = {}

    def __bool__(self) -> bool:
        """Return whether there is a finding about any file."""
        return bool(self._by_agent)

    def record(self, agent_id: str, found: FileFindings) -> None:
        """Replace the findings about a file. Findings about bytes that are no longer in the file are dropped."""
        if found.published.findings and found.is_current:
            self._by_agent.setdefault(agent_id, {})[found.file] = found
            self._on_change(found.file)
        else:
            self._drop(agent_id, found.file)

    def drop_outdated(self, agent_id: str) -> None:
        """Drop the findings of an agent about files that were changed or removed since."""
        for found in tuple(self._by_agent.get(agent_id, {}).values()):
            if not found.is_current:
                self._drop(agent_id, found.file)

    def has_any(self, agent_id: str) -> bool:
        """Return whether there are findings about files that an agent changed."""
        return agent_id in self._by_agent

    def find_by_file(self, file: Path) -> list[FileFindings]:
        """Return the findings of all agents about a file on disk."""
        return [found for by_file in self._by_agent.values() if (found := by_file.get(file))]

    def find(self, text: Document) -> list[PublishedFindings]:
        """Return the findings about a text of an editor: those about exactly these bytes of its file."""
        file = local_path(text.uri) if self._by_agent else None
        if file is None:
            return []
        return [found.published for found in self.find_by_file(resolve_links(file)) if found.text.hash == text.hash]

    def _drop(self, agent_id: str, file: Path) -> None:
        by_file = self._by_agent.get(agent_id, {})
        if by_file.pop(file, None):
            if not by_file:
                del self._by_agent[agent_id]
            self._on_change(file)
