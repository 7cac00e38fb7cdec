"""Paths in the input of a tool call, and which of them a tool may read or change.

A path is relative to a workspace folder. It is resolved through all links before it is compared with the folders, so
that neither `..` nor a link leads out of them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from lsp_harness.chat.tools.tool_environment import ToolEnvironment
from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import FileMissing, UsageError
from lsp_harness.files.folders import find_folder, resolve_links
from lsp_harness.files.ignore_files import IgnoreFiles
from lsp_harness.files.walk import SkippedFile, walk
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
from lsp_harness.text.document import Document

OWN_FOLDERS = frozenset({".git", ".hg", ".svn", ".jj"})
"""Folders of version control. Programs read settings from there, and run what these say."""
MAX_COMPARED_FILES = 5_000
"""Most files whose names are compared with that of a missing one."""
MAX_OFFERED_FILES = 3
MIN_SIMILARITY = 0.6


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file that a tool call names.

    Attributes:
        path: The absolute path, without links.
        root: The workspace folder that contains it.
        name: The path relative to the folder, as messages show it.
    """

    path: Path
    root: Path
    name: str


class WorkspacePaths:
    """The paths of the workspace folders, without the files that no model may see.

    Args:
        environment: What the tool needs from the session: its folders, gate, texts and tasks.
        tool: The tool that uses the paths. The rules of the session may forbid it some files.
    """

    def __init__(self, environment: ToolEnvironment, tool: str) -> None:
        self._roots = environment.roots
        self._private_files = environment.private_files
        self._can_read = environment.can_read
        self._editor_texts = environment.editor_texts
        self._tool = tool

    @property
    def roots(self) -> list[Path]:
        """The folders, without links."""
        return list(dict.fromkeys(resolve_links(root) for root in self._roots))

    def resolve(self, name: str) -> Path:
        """Return the absolute path that a name means, without links. It may be outside of the folders or missing."""
        written = name.strip().removeprefix("@")
        candidates = [resolve_links(root / written) for root in self.roots]
        existing = [path for path in candidates if _is_file(path)]
        return (existing or candidates or [Path(written)])[0]

    def action_paths(self, name: object) -> tuple[Path, ...]:
        """Return the path that the permission gate decides about; none if the name is not valid."""
        return (self.resolve(name),) if isinstance(name, str) and name and "\0" not in name else ()

    def search_paths(self, name: object) -> tuple[Path, ...]:
        """Return the path that the permission gate decides about, or all folders if no path was given."""
        return self.action_paths(name) or tuple(self.roots)

    def locate(self, name: str) -> NamedFile:
        """Return the file that a name means. It need not exist.

        Raises:
            UsageError: It is outside of the folders, or no model may see it.
        """
        if not name.strip() or "\0" in name:
            raise UsageError("the path is empty or has a NUL character; give a path like src/app.py")
        path = self.resolve(name)
        place = find_folder(path, self.roots)
        if place is None or not path.is_relative_to(place.folder):
            raise UsageError(f"{name} is outside of the workspace; only files in it can be used")
        relative = path.relative_to(place.folder).as_posix()
        reason = self._private_files.reason(path.as_uri(), name)
        if not OWN_FOLDERS.isdisjoint(Path(relative).parts):
            reason = "a file of the version control"
        if reason:
            raise UsageError(f"{relative} must not be read or changed here: it is {reason}")
        return NamedFile(path, place.folder, relative)

    @property
    def unsaved(self) -> Mapping[Path, Document]:
        """The unsaved texts of the editor, by their paths."""
        return self._editor_texts.unsaved() if self._editor_texts else {}

    def exists(self, file: NamedFile) -> bool:
        """Return whether there is a file, or an unsaved text for it."""
        return file.path.exists() or file.path in self.unsaved

    def can_read(self, file: NamedFile) -> bool:
        """Return whether the rules of the session allow the tool to read a file that the call did not name."""
        return self._can_read(file.path, self._tool)

    def read_document(self, file: NamedFile) -> Document:
        """Return the text of a file, as it is in the editor if it is not saved there.

        Raises:
            UsageError: The file is binary, or a folder.
            FileError: It does not exist or is too large.
        """
        if unsaved := self.unsaved.get(file.path):
            return unsaved
        if file.path.is_dir():
            raise UsageError(f"{file.name} is a folder; name a file in it{self._offer_files(file.path)}")
        try:
            data = read_file(file.path, MAX_TEXT_BYTES)
        except FileMissing as error:
            raise FileMissing(f"there is no file {file.name}{self._offer_similar(file)}") from error
        document = Document.from_text(file.path.as_uri(), data)
        if document.is_binary:
            raise UsageError(f"{file.name} is a binary file; only texts can be used")
        return document

    def _offer_files(self, folder: Path) -> str:
        """Return the first files of a folder that a model may see, for a message. Empty if there are none."""
        files = (file.name for file in islice(self.list_files(), MAX_COMPARED_FILES) if file.path.parent == folder)
        listed = ", ".join(islice(files, MAX_OFFERED_FILES))
        return f", such as {listed}" if listed else ""

    def _offer_similar(self, file: NamedFile) -> str:
        """Return the files that are called like a missing one, for a message. Empty if there are none."""
        names = [other.name for other in islice(self.list_files(), MAX_COMPARED_FILES)]
        base = file.path.name
        same = [name for name in names if name.rpartition("/")[2] == base]
        near = same or get_close_matches(file.name, names, MAX_OFFERED_FILES, MIN_SIMILARITY)
        return f"; the most similar are: {', '.join(near[:MAX_OFFERED_FILES])}" if near else ""

    def list_files(self) -> Iterator[NamedFile]:
        """Yield the files of all folders that a model may see, folder by folder. Ask `can_read` about each one."""
        roots = self.roots
        ignores = IgnoreFiles(roots)
        for root in roots:
            for entry in walk(root, ignores):
                if not isinstance(entry, SkippedFile):
                    yield NamedFile(root / entry.path, root, entry.path)


def _is_file(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
