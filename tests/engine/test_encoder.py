"""Tests of llama.cpp with an encoder of a few kilobytes, from load to vector."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lsp_harness.engine.embed.encoder import Encoder
from lsp_harness.errors import ModelError
from lsp_harness.inference.embedding_recipe import POOLINGS
from lsp_harness.inference.models.bert import convert
from tests.support.encoder import CONTEXT, SPECIAL, WIDTH, make_tiny_encoder

CLS, SEP = SPECIAL.index("[CLS]"), SPECIAL.index("[SEP]")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Encoder]:
    path = tmp_path_factory.mktemp("encoder") / "tiny.gguf"
    convert(make_tiny_encoder(), path, name="Tiny", license="mit")
    model = Encoder(path, threads=1)
    yield model
    model.close()


@pytest.fixture
def embed(encoder: Encoder) -> Callable[[str], list[float]]:
    return lambda text: encoder.encode(encoder.tokenize(text, encoder.max_text_tokens))


def test_the_encoder_reads_its_size_from_its_file(encoder: Encoder):
    assert (encoder.max_text_tokens, encoder.dimensions) == (CONTEXT - 2, WIDTH)


@pytest.mark.parametrize("text", ["", " ", "read files", "日本 é \0 😀 \ud800", "reading " * 5000, "\n\t" * 5000])
def test_any_text_has_one_vector_of_length_1(embed: Callable[[str], list[float]], text: str):
    vector = embed(text)
    assert len(vector) == WIDTH
    assert math.hypot(*vector) == pytest.approx(1)
    assert vector == embed(text)


def test_different_texts_have_different_vectors(embed: Callable[[str], list[float]]):
    assert embed("read") != embed("file") != embed("")


def test_a_text_is_cut_after_whole_tokens_and_stays_framed(encoder: Encoder):
    inner = encoder.tokenize("reading files read a b", 100)[1:-1]
    assert len(inner) == 7
    assert encoder.tokenize("reading files read a b", 3) == [CLS, *inner[:3], SEP]
    assert len(encoder.tokenize("a " * 500, 500)) == CONTEXT
    assert encoder.tokenize("", 100) == [CLS, SEP]


def test_text_behind_the_cut_does_not_change_the_vector(encoder: Encoder):
    vector = encoder.encode(encoder.tokenize("a b c", 2))
    assert vector == encoder.encode(encoder.tokenize("a b and so on", 2))
    assert vector != encoder.encode(encoder.tokenize("a b c", 3))


def test_marks_in_a_text_are_text(encoder: Encoder):
    assert encoder.tokenize("[CLS]", 100)[1:-1].count(CLS) == 0


def test_the_file_or_the_caller_chooses_the_pooling(tmp_path: Path):
    vectors: dict[str, list[float]] = {}
    for mean in (True, False):
        path = tmp_path / f"{mean}.gguf"
        convert(make_tiny_encoder(mean=mean), path, name="Tiny", license="mit")
        for pooling in POOLINGS:
            model = Encoder(path, threads=1, pooling=pooling)
            vectors[f"{mean} {pooling}"] = model.encode(model.tokenize("read a file", 8))
            model.close()
    assert vectors["True auto"] == vectors["True mean"] == vectors["False mean"]
    assert vectors["False auto"] == vectors["False cls"] == vectors["True cls"]
    assert vectors["False last"] == vectors["True last"]
    assert vectors["True mean"] != vectors["True cls"] != vectors["True last"] != vectors["True mean"]


def test_an_invalid_pooling_is_refused(tmp_path: Path):
    with pytest.raises(ModelError, match=r"index\.embedding_pooling must be one of auto, mean, .* not 'max'"):
        Encoder(tmp_path / "absent.gguf", threads=1, pooling="max")


def test_a_model_that_generates_is_refused(tiny_model: Path):
    with pytest.raises(ModelError, match=r"tiny\.gguf is not an embedding model: set index\.embedding_model"):
        Encoder(tiny_model, threads=1)


def test_a_damaged_file_is_refused(tmp_path: Path):
    path = tmp_path / "damaged.gguf"
    path.write_bytes(b"GGUF")
    with pytest.raises(ModelError, match=r"cannot load damaged\.gguf"):
        Encoder(path, threads=1)
