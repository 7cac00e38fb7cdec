"""Large outputs of a session: each is a file `artifacts/<ulid>` in the folder of the session.

The model sees a stub: the path, the size and the first characters. The rest is read in parts.
"""

import asyncio
import hashlib
import os
import stat
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.disk.file_reading import describe_system_error, open_regular
from lsp_harness.disk.file_writing import NEW_FILE_FLAGS, write_all
from lsp_harness.disk.opening import NO_WAIT, READING, OpenFolder, read_at
from lsp_harness.errors import FileError, FileMissing, UsageError
from lsp_harness.events.tool_events import ArtifactCreated
from lsp_harness.files.secret_stream import SecretStream
from lsp_harness.text.ulid import is_ulid, make_ulid

THRESHOLD_BYTES = 8192
"""Maximum size of an output that is a part of an event. A larger output becomes an artifact."""
STUB_CHARS = 400
"""Number of characters of the output in its stub."""
READ_LIMIT_BYTES = 16_384
"""Default size of a part that is read."""
MAX_READ_BYTES = 1_000_000
FOLDER_NAME = "artifacts"
CHUNK_BYTES = 1_000_000
MAX_UTF_8_BYTES = 4


@dataclass(frozen=True, slots=True)
class ArtifactPart:
    """A part of an artifact.

    Attributes:
        text: The text of the part.
        next_offset: The offset of the next part, or the size of the file at its end.
        size: The size of the file in bytes.
    """

    text: str
    next_offset: int
    size: int

    @property
    def is_end(self) -> bool:
        """True if there is nothing after this part."""
        return self.next_offset >= self.size


class ArtifactStore:
    """The artifacts of one session."""

    def __init__(
        self, session_folder: Path, record: Callable[[ArtifactCreated], object], parents: Iterable[Path] = ()
    ) -> None:
        """Use the folder of a session.

        Args:
            session_folder: The folder of the session.
            record: Appends an event to the log.
            parents: The folders of the sessions that this one continues. Their artifacts can be read too.
        """
        self._folder = session_folder
        self._record = record
        self._parents = tuple(parents)

    def store(self, content: bytes | str, kind: str, call_id: str = "") -> ArtifactCreated:
        """Write an output to a file, without the secrets in it, and record it. Raises FileError."""
        data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
        pieces = (data[n : n + CHUNK_BYTES] for n in range(0, len(data), CHUNK_BYTES))
        return self._record_or_remove(self._write(pieces, kind, call_id))

    async def store_file(self, source: Path, kind: str, call_id: str = "") -> ArtifactCreated:
        """Copy a file of any size into an artifact, without the secrets in it, and record it. Raises FileError."""
        return self._record_or_remove(await asyncio.to_thread(self._copy, source, kind, call_id))

    def shorten(self, output: str, kind: str, call_id: str = "") -> tuple[str, str]:
        """Return what the model sees of an output, and the id of its artifact. The id is empty for a short output."""
        if len(output.encode("utf-8", "surrogateescape")) <= THRESHOLD_BYTES:
            return output, ""
        artifact = self.store(output, kind, call_id)
        return self.stub(artifact, self.read(artifact.artifact_id, 0).text), artifact.artifact_id

    def stub(self, artifact: ArtifactCreated, text: str) -> str:
        """Return what the model sees in place of an artifact. `text` is the output, or its start."""
        return (
            f"{text[:STUB_CHARS]}\n"
            f"[{artifact.bytes:,} bytes, of which the first {min(STUB_CHARS, len(text))} characters are shown. "
            f"The whole output is in {artifact.path}. "
            f'To read more, call read_artifact with artifact_id "{artifact.artifact_id}", offset and limit.]'
        )

    def read(self, artifact_id: str, offset: int = 0, limit: int = READ_LIMIT_BYTES) -> ArtifactPart:
        """Read a part of an artifact of this session or of a parent. See `read_artifact`."""
        return read_artifact(self._folder, artifact_id, offset, limit, parents=self._parents)

    def _copy(self, source: Path, kind: str, call_id: str) -> ArtifactCreated:
        with open_regular(source) as file:
            return self._write(iter(lambda: file.read(CHUNK_BYTES), b""), kind, call_id)

    def _write(self, pieces: Iterator[bytes], kind: str, call_id: str) -> ArtifactCreated:
        artifact_id = make_ulid()
        digest, size = hashlib.sha256(), 0
        folder = self._folder / FOLDER_NAME
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with OpenFolder(folder) as opened, _new_file(artifact_id, opened) as descriptor:
                for piece in _redact_pieces(pieces):
                    write_all(descriptor, piece)
                    digest.update(piece)
                    size += len(piece)
                os.fsync(descriptor)
        except OSError as error:
            raise FileError(f"an output was not saved in {folder}: {describe_system_error(error).lower()}") from error
        return ArtifactCreated(artifact_id, f"{FOLDER_NAME}/{artifact_id}", kind, size, digest.hexdigest(), call_id)

    def _record_or_remove(self, artifact: ArtifactCreated) -> ArtifactCreated:
        # the record comes last: an event never names a file that is not there
        try:
            self._record(artifact)
        except BaseException:
            with suppress(OSError):
                (self._folder / artifact.path).unlink()
            raise
        return artifact


def read_artifact(
    folder: Path, artifact_id: str, offset: int = 0, limit: int = READ_LIMIT_BYTES, *, parents: Iterable[Path] = ()
) -> ArtifactPart:
    """Read a part of an artifact.

    Args:
        folder: The folder of the session.
        artifact_id: The id of the artifact.
        offset: The first byte. It moves to the start of its character.
        limit: Maximum number of bytes.
        parents: The folders of the sessions that this one continues, which are tried next.

    Raises:
        UsageError: The id, the offset or the limit is not valid.
        FileMissing: There is no such artifact.
        FileError: It cannot be read.
    """
    if not is_ulid(artifact_id):
        raise UsageError("the id of an artifact has 26 letters and digits; take it from the output that names it")
    if offset < 0 or limit <= 0:
        raise UsageError("an artifact is read from an offset of 0 or more, with a limit of 1 byte or more")
    for candidate in (folder, *parents):
        with suppress(FileNotFoundError):
            try:
                return _read_part(candidate / FOLDER_NAME, artifact_id, offset, min(limit, MAX_READ_BYTES))
            except FileNotFoundError:
                raise
            except OSError as error:
                raise FileError(
                    f"artifact {artifact_id} cannot be read: {describe_system_error(error).lower()}"
                ) from error
    raise FileMissing(f"there is no artifact {artifact_id} in this session; its id is in the output that names it")


def _read_part(folder: Path, name: str, offset: int, limit: int) -> ArtifactPart:
    with OpenFolder(folder) as opened:
        descriptor = opened.open_file(name, READING | NO_WAIT)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError("not a regular file")
        return read_part(file.fileno(), status.st_size, offset, limit)


def read_part(descriptor: int, size: int, offset: int, limit: int) -> ArtifactPart:
    """Read a part of an open file as UTF-8 without splitting a character. Raises OSError."""
    start = min(offset, size)
    # one more character, so that a limit within it does not give an empty part
    data = read_at(descriptor, limit + 2 * MAX_UTF_8_BYTES, start)
    skipped = next((n for n, byte in enumerate(data[:MAX_UTF_8_BYTES]) if not 0x80 <= byte < 0xC0), 0) if start else 0
    end = min(len(data), max(limit, skipped + 1))
    while end < len(data) and 0x80 <= data[end] < 0xC0 and end < limit + 2 * MAX_UTF_8_BYTES:
        end += 1
    return ArtifactPart(data[skipped:end].decode("utf-8", "replace"), start + end, size)


@contextmanager
def _new_file(name: str, folder: OpenFolder) -> Generator[int]:
    """Yield the descriptor of a new file, which is removed if the caller fails."""
    descriptor = folder.open_file(name, NEW_FILE_FLAGS)
    is_complete = False
    try:
        yield descriptor
        is_complete = True
    finally:
        os.close(descriptor)
        if not is_complete:
            with suppress(OSError):
                folder.remove_file(name)


def _redact_pieces(pieces: Iterator[bytes]) -> Iterator[bytes]:
    secrets = SecretStream()
    for piece in pieces:
        yield secrets.feed(piece)
    yield secrets.finish()
