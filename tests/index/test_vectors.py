"""Vectors of texts, in a matrix on disk."""

import math
from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.index.vectors import LEAST, Vectors


def towards(*numbers: float) -> list[float]:
    length = math.hypot(*numbers)
    return [number / length for number in numbers]


@pytest.fixture
def vectors(tmp_path: Path):
    with closing(Vectors(tmp_path)) as made:
        yield made


def test_the_most_alike_come_first(vectors: Vectors):
    vectors.put("small", {b"x": towards(1, 0, 0), b"y": towards(0, 1, 0)}, living=3)
    vectors.put("small", {b"xy": towards(1, 1, 0)}, living=3)
    assert vectors.model() == ("small", 3)
    assert vectors.nearest(towards(1, 0.1, 0), 2) == [b"x", b"xy"]
    assert vectors.nearest(towards(0, 1, 0.1), 9) == [b"y", b"xy", b"x"]


def test_where_there_are_none_nothing_is_near(vectors: Vectors):
    assert vectors.model() is None
    assert vectors.nearest([1.0, 0.0], 3) == []


def test_another_reader_sees_what_is_added(vectors: Vectors, tmp_path: Path):
    vectors.put("small", {b"x": towards(1, 0)}, living=1)
    with closing(Vectors(tmp_path)) as other:
        assert other.nearest([1.0, 0.0], 9) == [b"x"]
        vectors.put("small", {b"y": towards(1, 1), b"x": towards(0, 1)}, living=2)
        # what is known is not made again
        assert other.nearest([1.0, 0.0], 9) == [b"x", b"y"]


def test_vectors_of_two_models_are_never_mixed(vectors: Vectors):
    vectors.put("small", {b"x": towards(1, 0)}, living=1)
    vectors.put("other", {b"y": towards(1, 0)}, living=1)
    assert vectors.model() == ("other", 2)
    assert vectors.nearest([1.0, 0.0], 9) == [b"y"]
    vectors.put("other", {b"z": towards(1, 0, 0)}, living=1)
    assert vectors.model() == ("other", 3)
    # a question of the wrong length finds nothing
    assert vectors.nearest([1.0, 0.0], 9) == []


def test_a_crash_between_the_matrix_and_its_table_loses_what_was_not_said(vectors: Vectors):
    vectors.put("small", {b"x": towards(1, 0)}, living=1)
    with vectors.matrix.open("ab") as matrix:
        matrix.write(b"\0" * 7)
    assert vectors.nearest([1.0, 0.0], 9) == [b"x"]
    vectors.put("small", {b"y": towards(0, 1)}, living=1)
    assert vectors.nearest([0.0, 1.0], 9) == [b"y", b"x"]


def test_a_matrix_that_is_gone_finds_nothing(vectors: Vectors):
    vectors.put("small", {b"x": towards(1, 0)}, living=1)
    vectors.matrix.unlink()
    assert vectors.nearest([1.0, 0.0], 9) == []


def test_vectors_of_no_text_any_more_are_thrown_away_when_they_are_many(vectors: Vectors):
    many = {b"%d" % n: towards(1, n) for n in range(LEAST + 1)}
    vectors.put("small", many, living=1)
    assert len(vectors.texts()) == LEAST + 1
    vectors.put("small", {b"new": towards(0, 1)}, living=1)
    assert list(vectors.texts().values()) == [b"new"]
    assert vectors.nearest([0.0, 1.0], 9)[0] == b"new"


def test_what_is_like_a_text_that_has_a_vector(vectors: Vectors):
    vectors.put("small", {b"x": towards(1, 0), b"y": towards(0, 1), b"xy": towards(2, 1)}, living=3)
    assert vectors.like(b"x", 2) == [b"xy", b"y"]
    assert vectors.like(b"x", 1) == [b"xy"]
    assert vectors.like(b"none", 2) == []
