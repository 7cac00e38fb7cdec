"""Tests of downloads over HTTP: a broken download continues, or begins again if the server cannot continue."""

from pathlib import Path

import pytest

from lsp_harness.errors import PullFailed
from lsp_harness.inference.models.model_sources import Hub, Url
from lsp_harness.inference.models.partial_file import PartialFile
from lsp_harness.inference.models.pull import pull

from .conftest import DATA, FakeWebServer, RecordingReport, make_card

CUT = 70_000


def test_a_broken_download_continues_at_its_end(models: Path, web_server: FakeWebServer, report: RecordingReport):
    web_server.files["/m"] = DATA
    web_server.cuts = [CUT]
    assert pull(make_card(Url(f"{web_server.base}/m")), report=report).path.read_bytes() == DATA
    assert web_server.asked == [("/m", None), ("/m", f"bytes={CUT}-")]
    assert report.done == sorted(report.done)
    assert report.done[-1] == len(DATA)


def test_the_next_pull_continues_the_last_one(models: Path, web_server: FakeWebServer):
    web_server.files["/m"] = DATA
    web_server.cuts = [CUT, 0]
    with pytest.raises(PullFailed, match=f"stopped after {CUT} bytes"):
        pull(make_card(Url(f"{web_server.base}/m")))
    assert (models / "tiny.gguf.part").read_bytes() == DATA[:CUT]

    assert pull(make_card(Url(f"{web_server.base}/m"))).path.read_bytes() == DATA
    assert web_server.asked[-1] == ("/m", f"bytes={CUT}-")
    assert not (models / "tiny.gguf.part").exists()


def test_a_complete_but_unchecked_file_is_not_downloaded_again(
    models: Path, web_server: FakeWebServer, report: RecordingReport
):
    url = f"{web_server.base}/m"
    models.mkdir()
    with PartialFile(models / "tiny.gguf", len(DATA), report).append(url, 0) as write:
        write(DATA)
    assert pull(make_card(Url(url))).path.read_bytes() == DATA
    assert web_server.asked == []


def test_a_server_without_ranges_is_read_from_the_beginning(models: Path, web_server: FakeWebServer):
    web_server.files["/m"] = DATA
    web_server.ranges = False
    web_server.cuts = [CUT]
    assert pull(make_card(Url(f"{web_server.base}/m"))).path.read_bytes() == DATA


def test_a_beginning_that_was_bad_does_not_spoil_the_source(models: Path, web_server: FakeWebServer):
    web_server.files["/m"] = b"x" * len(DATA)
    web_server.cuts = [CUT, 0]
    with pytest.raises(PullFailed):
        pull(make_card(Url(f"{web_server.base}/m")))

    web_server.files["/m"] = DATA
    assert pull(make_card(Url(f"{web_server.base}/m"))).path.read_bytes() == DATA
    assert web_server.asked[2:] == [("/m", f"bytes={CUT}-"), ("/m", None)]


def test_a_download_of_one_source_is_continued_by_no_other(models: Path, web_server: FakeWebServer):
    web_server.files = {"/one": DATA, "/two": DATA}
    web_server.cuts = [CUT, 0]
    assert (
        pull(make_card(Url(f"{web_server.base}/one"), Url(f"{web_server.base}/two"))).source == f"{web_server.base}/two"
    )
    assert web_server.asked[-1] == ("/two", None)


def test_a_file_that_became_shorter_is_started_over(models: Path, web_server: FakeWebServer):
    unknown, sha256 = make_card(Url(f"{web_server.base}/m"), size=0, sha256=""), make_card().sha256
    web_server.files["/m"] = b"x" * (2 * len(DATA))
    web_server.cuts = [len(DATA) + 1, 0]
    with pytest.raises(PullFailed):
        pull(unknown, sha256=sha256)

    web_server.files["/m"] = DATA
    assert pull(unknown, sha256=sha256).path.read_bytes() == DATA
    assert web_server.asked[2:] == [("/m", f"bytes={len(DATA) + 1}-"), ("/m", None)]


def test_a_web_page_instead_of_the_file_is_refused_by_its_size(models: Path, web_server: FakeWebServer):
    web_server.files["/m"] = b"<html>please log in</html>"
    with pytest.raises(PullFailed, match=f"serves 26 bytes instead of {len(DATA)}"):
        pull(make_card(Url(f"{web_server.base}/m")))
    assert not (models / "tiny.gguf.part").exists()


def test_a_stream_without_an_end_is_cut_off(models: Path, web_server: FakeWebServer):
    web_server.files["/m"] = DATA * 3
    web_server.lengths = False
    with pytest.raises(PullFailed, match="sent more than"):
        pull(make_card(Url(f"{web_server.base}/m")))
    assert (models / "tiny.gguf.part").read_bytes() == b""


def test_the_hub_is_asked_at_the_set_address_and_then_the_next_source(
    models: Path, web_server: FakeWebServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HF_ENDPOINT", f"{web_server.base}/")
    web_server.files["/else"] = DATA
    model = make_card(Hub("some/repo", revision="v1"), Url(f"{web_server.base}/else"))

    assert pull(model).source == f"{web_server.base}/else"
    assert web_server.asked == [("/some/repo/resolve/v1/tiny.gguf", None), ("/else", None)]

    (models / "tiny.gguf").unlink()
    web_server.files["/some/repo/resolve/v1/tiny.gguf"] = DATA
    assert pull(model).source == "hub some/repo"


def test_reasons_are_for_a_person(models: Path, web_server: FakeWebServer):
    web_server.broken = True
    web_server.files["/m"] = DATA
    nobody = Url("http://127.0.0.1:1/m")
    with pytest.raises(PullFailed) as failure:
        pull(make_card(Url(f"{web_server.base}/m"), nobody, Url("gopher://x/m"), Url("http://[/m")))
    reasons = failure.value.message
    assert "answers 503 Service Unavailable" in reasons
    assert reasons.count("cannot be reached") == 3
