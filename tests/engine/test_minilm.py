"""Tests of the real sentence encoder: after the conversion, related texts have similar vectors."""

from collections.abc import Callable, Iterator

import pytest

from lsp_harness.engine.embed.encoder import Encoder
from lsp_harness.inference.models.catalogue import card
from lsp_harness.inference.models.pull import pull

pytestmark = pytest.mark.model

Embed = Callable[[str], list[float]]


@pytest.fixture(scope="module")
def encoder() -> Iterator[Encoder]:
    # in the user's own folder, as `make setup` does it: fetched once a machine
    model = Encoder(pull(card("all-minilm-l6-v2")).path, threads=1)
    yield model
    model.close()


@pytest.fixture
def similarity(encoder: Encoder) -> Callable[[str, str], float]:
    """Return a function that computes the cosine of two texts."""

    def cosine(a: str, b: str) -> float:
        first, second = (encoder.encode(encoder.tokenize(text, 128)) for text in (a, b))
        return sum(x * y for x, y in zip(first, second, strict=True))

    return cosine


def test_the_encoder_has_the_size_and_the_tokens_of_minilm(encoder: Encoder):
    assert (encoder.dimensions, encoder.max_text_tokens) == (384, 510)
    assert encoder.tokenize("def read_file(path):", 128) == [101, 13366, 3191, 1035, 5371, 1006, 4130, 1007, 1024, 102]


@pytest.mark.parametrize(
    ("query", "near", "far"),
    [
        ("A man is eating food.", "A man is eating a piece of bread.", "A man is riding a white horse."),
        ("open and load a document", "def read_file(path): return open(path).read()", "def add(a, b): return a + b"),
        ("remove duplicates from a list", "def unique(xs): return list(set(xs))", "def connect(host, port): ..."),
        ("connect to a server", "def dial(host, port): return socket.create_connection((host, port))", "sum(values)"),
        ("sort descending", "sorted(items, reverse=True)", "json.loads(text)"),
    ],
)
def test_texts_that_mean_the_same_are_nearer(similarity: Callable[[str, str], float], query: str, near: str, far: str):
    assert similarity(query, near) > similarity(query, far) + 0.1


def test_a_paraphrase_is_near_and_an_unrelated_text_is_not(similarity: Callable[[str, str], float]):
    assert similarity("How do I read a file?", "How can I read a file?") > 0.9
    assert abs(similarity("How do I read a file?", "The weather is nice in spring.")) < 0.25
    assert similarity("a b", "a b") == pytest.approx(1)
