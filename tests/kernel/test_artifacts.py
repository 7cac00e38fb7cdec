"""Large outputs are in files, and are read in parts."""

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_harness.errors import FileError, FileMissing, UsageError
from lsp_harness.events.tool_events import ArtifactCreated
from lsp_harness.kernel import artifacts
from lsp_harness.kernel.artifacts import THRESHOLD_BYTES, ArtifactStore, read_artifact, read_part
from lsp_harness.text.ulid import is_ulid

TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def events() -> list[ArtifactCreated]:
    return []


@pytest.fixture
def store(tmp_path: Path, events: list[ArtifactCreated]) -> ArtifactStore:
    return ArtifactStore(tmp_path / "session", events.append)


@pytest.mark.parametrize("content", ["text ä", b"\xff\0bytes", "", "lone \udcff"])
def test_an_output_is_saved_in_a_file(
    store: ArtifactStore, tmp_path: Path, events: list[ArtifactCreated], content: str | bytes
):
    artifact = store.store(content, "tool_output", "c1")

    file = tmp_path / "session" / artifact.path
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape")
    assert file.read_bytes() == data
    assert artifact == ArtifactCreated(
        file.name, f"artifacts/{file.name}", "tool_output", len(data), hashlib.sha256(data).hexdigest(), "c1"
    )
    assert events == [artifact]
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700


async def test_a_large_file_is_copied_in_pieces(store: ArtifactStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(artifacts, "CHUNK_BYTES", 1000)
    source = tmp_path / "source"
    source.write_bytes(b"line\n" * 300_000)
    artifact = await store.store_file(source, "task_output")

    assert artifact.bytes == 1_500_000
    assert artifact.sha256 == hashlib.sha256(source.read_bytes()).hexdigest()


def test_secrets_are_not_written(store: ArtifactStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(artifacts, "CHUNK_BYTES", 7)
    artifact = store.store(f"a {TOKEN} b", "tool_output")

    data = (tmp_path / "session" / artifact.path).read_bytes()
    assert data == "a … b".encode()
    assert artifact.sha256 == hashlib.sha256(data).hexdigest()


def test_a_stub_says_where_the_rest_is(store: ArtifactStore, events: list[ArtifactCreated]):
    text = "".join(f"line {n}\n" for n in range(10_000))
    stub, artifact_id = store.shorten(text, "tool_output", "c1")

    [artifact] = events
    assert artifact.artifact_id == artifact_id
    assert stub == (
        f"{text[:400]}\n[{len(text):,} bytes, of which the first 400 characters are shown. The whole output is in "
        f'artifacts/{artifact_id}. To read more, call read_artifact with artifact_id "{artifact_id}", offset and '
        "limit.]"
    )
    assert store.shorten("a" * THRESHOLD_BYTES, "tool_output") == ("a" * THRESHOLD_BYTES, "")
    assert len(events) == 1
    assert TOKEN not in store.shorten(TOKEN + " a" * THRESHOLD_BYTES, "tool_output")[0]


@given(text=st.text(alphabet="aä€😀\n", max_size=60), limit=st.integers(1, 9))
def test_parts_make_the_whole(text: str, limit: int, tmp_path_factory: pytest.TempPathFactory):
    file = tmp_path_factory.getbasetemp() / "parts"
    data = text.encode()
    file.write_bytes(data)
    descriptor, cursor, parts = os.open(file, os.O_RDONLY), 0, list[str]()
    try:
        while True:
            part = read_part(descriptor, len(data), cursor, limit)
            parts.append(part.text)
            assert part.next_offset > cursor or part.is_end
            if part.is_end:
                break
            cursor = part.next_offset
    finally:
        os.close(descriptor)
    assert "".join(parts) == text


def test_a_part_begins_with_a_whole_character(store: ArtifactStore):
    artifact = store.store("aäb", "x")

    assert store.read(artifact.artifact_id, 2).text == "b"
    assert store.read(artifact.artifact_id, 1, 1).text == "ä"
    end = store.read(artifact.artifact_id, 10**12)
    assert (end.text, end.next_offset, end.size, end.is_end) == ("", 4, 4, True)


@pytest.mark.parametrize(
    "artifact_id",
    [
        *("", ".", "..", "../events.jsonl", "/etc/passwd", "a" * 26, "01arz3ndektsv4rrffq69g5fav"),
        *("8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "01ARZ3NDEKTSV4RRFFQ69G5FAV\n", "01ARZ3NDEKTSV4RRFFQ69G5FA\0"),
    ],
)
def test_an_id_is_no_path(store: ArtifactStore, artifact_id: str):
    assert not is_ulid(artifact_id)
    with pytest.raises(UsageError):
        store.read(artifact_id)


def test_an_unreadable_artifact_is_an_error(store: ArtifactStore, tmp_path: Path):
    artifact_id = store.store("a", "x").artifact_id
    for offset, limit in ((-1, 1), (0, 0), (0, -1)):
        with pytest.raises(UsageError):
            store.read(artifact_id, offset, limit)
    with pytest.raises(FileMissing):
        store.read("01ARZ3NDEKTSV4RRFFQ69G5FAV")
    file = tmp_path / "session" / "artifacts" / artifact_id
    file.unlink()
    (tmp_path / "secret").write_text("secret")
    file.symlink_to(tmp_path / "secret")
    with pytest.raises(FileError):
        store.read(artifact_id)
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(FileError, match="not a regular file"):
        store.read(artifact_id)


def test_a_folder_that_is_a_link_is_not_followed(store: ArtifactStore, tmp_path: Path):
    artifact_id = store.store("a", "x").artifact_id
    (tmp_path / "session" / "artifacts").rename(tmp_path / "elsewhere")
    (tmp_path / "session" / "artifacts").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(FileError):
        store.read(artifact_id)
    with pytest.raises(FileError):
        store.store("b", "x")


def test_a_forked_session_reads_the_artifacts_of_its_parents(store: ArtifactStore, tmp_path: Path):
    artifact_id = store.store("of the parent", "x").artifact_id
    fork = ArtifactStore(tmp_path / "fork", lambda event: None, parents=[tmp_path / "none", tmp_path / "session"])

    assert fork.read(artifact_id).text == "of the parent"
    assert read_artifact(tmp_path / "fork", artifact_id, parents=[tmp_path / "session"]).size == 13
    with pytest.raises(FileMissing):
        read_artifact(tmp_path / "fork", artifact_id)


def test_a_failure_leaves_no_file(tmp_path: Path):
    def refuse(event: ArtifactCreated) -> None:
        raise FileError("the disk is full")

    with pytest.raises(FileError, match="the disk is full"):
        ArtifactStore(tmp_path, refuse).store("a", "x")
    assert list((tmp_path / "artifacts").iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="an output was not saved"):
        ArtifactStore(tmp_path / "file", refuse).store("a", "x")


async def test_a_missing_source_is_an_error(store: ArtifactStore, tmp_path: Path):
    with pytest.raises(FileMissing):
        await store.store_file(tmp_path / "none", "x")
