"""Tests of pulls: afterwards the file is right or does not exist, whatever a source sends."""

import hashlib
import os
import threading
from pathlib import Path

import pytest

from lsp_harness.disk.file_lock import FileLock
from lsp_harness.errors import ModelError, PullFailed, UsageError
from lsp_harness.inference.models import model_files
from lsp_harness.inference.models import pull as pulling
from lsp_harness.inference.models.catalogue import ModelCard
from lsp_harness.inference.models.model_sources import LocalFile
from lsp_harness.inference.models.partial_file import PartialFile
from lsp_harness.inference.models.pull import PullResult, pull

from .conftest import DATA, RecordingReport, make_card

GGUF = b"GGUF a model of its own"
WRONG = b"GGUF" + b"x" * (len(DATA) - 4)


class ScriptedSource:
    """A source that serves given bytes, or fails with a given error."""

    def __init__(self, name: str, serves: bytes | PullFailed) -> None:
        self.name = name
        self.serves = serves
        self.asked = 0

    def __str__(self) -> str:
        return self.name

    def fetch(self, part: PartialFile) -> None:
        self.asked += 1
        if isinstance(self.serves, PullFailed):
            raise self.serves
        with part.append(self.name, 0) as write:
            write(self.serves)


def list_remaining_files(folder: Path) -> set[str]:
    return {p.name for p in folder.iterdir()} - {"tiny.gguf.lock"}


def test_sources_are_tried_in_order_until_one_serves_the_right_bytes(models: Path, report: RecordingReport):
    down = ScriptedSource("down", PullFailed("is down"))
    wrong = ScriptedSource("wrong", WRONG)
    right = ScriptedSource("right", DATA)
    unasked = ScriptedSource("unasked", DATA)

    done = pull(make_card(down, wrong, right, unasked), report=report)

    assert (done.source, done.path) == ("right", models / "tiny.gguf")
    assert done.path.read_bytes() == DATA
    assert [s.asked for s in (down, wrong, right, unasked)] == [1, 1, 1, 0]
    assert list_remaining_files(models) == {"tiny.gguf", "tiny.gguf.json"}
    assert report.notes[1] == "is down"
    assert report.notes[3].startswith("served a different file (SHA-256 ")


@pytest.mark.parametrize(
    ("serves", "reason"),
    [
        (WRONG, "served a different file"),
        (DATA[:-1], f"served {len(DATA) - 1} bytes instead of {len(DATA)}"),
        (DATA + b"!", f"sent more than the {len(DATA)} bytes"),
    ],
)
def test_bytes_that_are_not_the_model_are_refused_and_deleted(models: Path, serves: bytes, reason: str):
    with pytest.raises(PullFailed, match=r"^tiny could not be downloaded from any source \(bad: ") as failure:
        pull(make_card(ScriptedSource("bad", serves)))
    assert reason in failure.value.message
    assert not (models / "tiny.gguf").exists()
    assert not any((models / "tiny.gguf.part").read_bytes() for _ in list_remaining_files(models) & {"tiny.gguf.part"})


def test_files_of_a_killed_pull_are_cleared_away(models: Path):
    (models / "tiny.gguf.wheel").mkdir(parents=True)
    (models / "tiny.gguf.part").write_bytes(b"of nobody")
    assert pull(make_card(ScriptedSource("right", DATA))).path.read_bytes() == DATA
    assert list_remaining_files(models) == {"tiny.gguf", "tiny.gguf.json"}


def test_the_error_names_every_source_and_its_reason(models: Path):
    with pytest.raises(PullFailed) as failure:
        pull(make_card(ScriptedSource("one", PullFailed("is down")), LocalFile("/nowhere/at/all")))
    assert (
        failure.value.message
        == "tiny could not be downloaded from any source (one: is down; /nowhere/at/all: cannot be read)"
    )


def test_a_local_file_is_copied(models: Path, tmp_path: Path):
    original = tmp_path / "original.gguf"
    original.write_bytes(DATA)
    assert pull(make_card(LocalFile(str(original)))).path.read_bytes() == DATA
    assert original.exists()


def test_a_file_found_right_once_is_not_read_again_unless_asked_to(models: Path):
    source = ScriptedSource("right", DATA)
    path = pull(make_card(source)).path
    before = path.stat()
    # The same size and time: only reading it can tell.
    path.write_bytes(WRONG)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert pull(make_card(source)).source == ""
    assert path.read_bytes() == WRONG
    assert pull(make_card(source), verify=True).source == "right"
    assert path.read_bytes() == DATA
    assert source.asked == 2


def test_a_file_that_was_placed_by_hand_is_checked_once_and_kept(models: Path):
    models.mkdir()
    (models / "tiny.gguf").write_bytes(DATA)
    source = ScriptedSource("unasked", DATA)
    assert pull(make_card(source)).source == ""
    assert (source.asked, list_remaining_files(models)) == (0, {"tiny.gguf", "tiny.gguf.json"})


@pytest.mark.parametrize("wrong", [WRONG, DATA[:100]])
def test_a_file_that_is_not_the_model_is_replaced(models: Path, report: RecordingReport, wrong: bytes):
    models.mkdir()
    (models / "tiny.gguf").write_bytes(wrong)
    assert pull(make_card(ScriptedSource("right", DATA)), report=report).path.read_bytes() == DATA
    assert report.notes[0] == "tiny.gguf has the wrong contents; it is downloaded again"


def test_a_model_without_a_recorded_hash_is_what_the_user_says(models: Path):
    known = make_card()
    unknown = make_card(ScriptedSource("right", DATA), size=0, sha256="")
    result = pull(unknown, sha256=known.sha256.upper())
    assert (result.path.read_bytes(), result.is_pinned) == (DATA, False)
    with pytest.raises(PullFailed, match="served a different file"):
        pull(unknown, sha256="0" * 64)


def test_the_first_download_of_a_model_without_a_hash_is_pinned(models: Path):
    first = pull(make_card(ScriptedSource("right", GGUF), size=0, sha256=""))
    assert first.is_pinned
    assert first.sha256 == hashlib.sha256(GGUF).hexdigest()
    assert pull(make_card(ScriptedSource("right", GGUF), size=0, sha256="")).is_pinned is False
    # a later download must be the same file, also after the first one was removed
    first.path.unlink()
    replaced = make_card(ScriptedSource("other", GGUF + b"other"), size=0, sha256="")
    with pytest.raises(PullFailed, match="the first download is pinned, so pass --sha256 if its publisher"):
        pull(replaced)
    assert pull(replaced, sha256=hashlib.sha256(GGUF + b"other").hexdigest()).path.read_bytes() == GGUF + b"other"
    assert pull(replaced).source == ""


def test_a_file_without_a_hash_that_is_no_model_is_refused(models: Path):
    with pytest.raises(PullFailed, match="served a file that is no GGUF file"):
        pull(make_card(ScriptedSource("page", b"<html>log in</html>"), size=0, sha256=""))
    assert not list(models.glob("*.gguf"))


def test_a_file_that_the_user_has_put_there_is_pinned_and_kept(models: Path):
    models.mkdir()
    (models / "tiny.gguf").write_bytes(GGUF)
    source = ScriptedSource("other", GGUF + b"other")
    result = pull(make_card(source, size=0, sha256=""))
    assert (result.source, result.is_pinned, source.asked) == ("", True, 0)
    assert result.path.read_bytes() == GGUF


def test_damaged_pins_are_named(models: Path):
    models.mkdir()
    (models / "pins.json").write_text("{")
    with pytest.raises(ModelError, match=r"pins\.json cannot be read; remove it, and check the files of your models"):
        pull(make_card(ScriptedSource("right", GGUF), size=0, sha256=""))


@pytest.mark.parametrize(("sha256", "reason"), [("abc", "64 hexadecimal digits"), ("0" * 64, "in the catalogue is")])
def test_an_impossible_hash_is_refused(models: Path, sha256: str, reason: str):
    with pytest.raises(UsageError, match=reason):
        pull(make_card(ScriptedSource("right", DATA)), sha256=sha256)


def test_a_full_disk_is_reported_before_the_download(models: Path):
    source = ScriptedSource("right", DATA)
    with pytest.raises(ModelError, match=r"has \d+ MiB free, but \d+ are needed"):
        pull(make_card(source, size=1 << 60))
    assert source.asked == 0


def test_a_folder_that_cannot_be_one_is_named(models: Path):
    models.write_text("a file")
    with pytest.raises(ModelError, match=r"cannot save tiny\.gguf in "):
        pull(make_card(ScriptedSource("right", DATA)))


class SlowSource(ScriptedSource):
    """A source that begins, and continues when the test says so."""

    began = threading.Event()
    go = threading.Event()

    def fetch(self, part: PartialFile) -> None:
        self.began.set()
        assert self.go.wait(30)
        super().fetch(part)


class NoticingReport(RecordingReport):
    """A report that lets the first pull continue once the second says that it waits."""

    def note(self, text: str) -> None:
        super().note(text)
        if "waiting" in text:
            SlowSource.go.set()


def test_the_second_of_two_pulls_waits_and_finds_the_work_done(models: Path):
    source = SlowSource("slow", DATA)
    model, second = make_card(source), NoticingReport()
    done: dict[str, PullResult] = {}

    def run(name: str, what: ModelCard, report: RecordingReport) -> None:
        done[name] = pull(what, report=report)

    threads = [threading.Thread(target=run, args=("first", model, RecordingReport()))]
    threads[0].start()
    assert SlowSource.began.wait(30)
    threads.append(threading.Thread(target=run, args=("second", model, second)))
    threads[1].start()
    for thread in threads:
        thread.join(60)

    assert {name: result.source for name, result in done.items()} == {"first": "slow", "second": ""}
    assert source.asked == 1
    assert second.notes == ["tiny.gguf is being downloaded by another process; waiting for it"]


def test_a_stalled_pull_of_another_process_is_not_waited_for(
    models: Path, report: RecordingReport, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pulling, "WAIT_POLL_S", 0.01)
    monkeypatch.setattr(pulling, "MAX_IDLE_POLLS", 2)
    models.mkdir(parents=True, exist_ok=True)
    with (
        FileLock(model_files.lock_file(models / "tiny.gguf")).hold(),
        pytest.raises(PullFailed, match="end that process and pull again"),
    ):
        pull(make_card(ScriptedSource("right", DATA)), report=report)
