"""The results of checks that an editor shows for one version of a document."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import Literal

from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import FileError
from lsp_harness.files.folders import resolve_links
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span
from lsp_harness.text.uri import local_path
from lsp_harness.verify.finding import Finding, Outcome

MAX_FILE_BYTES = 4 << 20
"""Size of the largest file that is read again. The watches of agents verify no larger one."""


Cause = Literal["accepted", "saved", "agent", "opened"]
"""Why a document is verified: the user accepted a suggestion or a proposal, saved the document or opened it, or an
agent changed its file."""


@dataclass(frozen=True, slots=True)
class PublishedFindings:
    """The results of the checks of an edit that the user accepted or saved, or that an agent wrote to the file.

    Attributes:
        version: The version of the document that they are about.
        outcomes: The checks that have ended. Without a failed one, the findings of earlier versions are gone.
        accepted: The text that the user or an agent changed, in this version.
        verdict: The name of the document that lists the checks (see `verdict_document`).
        cause: Why the document was verified.
        is_complete: Whether all checks have ended.
        outdated_by: The name of a file that changed after the checks, so that they might say something else now. Empty
            while they are about the files as they are.
    """

    version: int
    outcomes: Sequence[Outcome] = ()
    accepted: Span | None = None
    verdict: str = ""
    cause: Cause = "accepted"
    is_complete: bool = False
    outdated_by: str = ""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of all checks."""
        return tuple(finding for _, finding, _ in self.by_check())

    def by_check(self) -> Iterator[tuple[str, Finding, str]]:
        """Yield the name of a check, one of its findings, and the line about it that prompts and the log have, too."""
        for outcome in self.outcomes:
            if outcome.status == "failed":
                lines = chain(outcome.lines, repeat(""))
                yield from ((outcome.check, *pair) for pair in zip(outcome.findings, lines, strict=False))


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
