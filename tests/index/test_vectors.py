"""Vectors of texts, in a matrix on disk."""

import math
from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.index.vectors import MIN_ROWS_TO_COMPACT, Vectors


def make_unit_vector(*numbers: float) -> list[float]:
    length = math.hypot(*numbers)
    return [number / length for number in numbers]


@pytest.fixture
def vectors(tmp_path: Path):
    with closing(Vectors(tmp_path)) as result:
        yield result


def test_the_most_alike_come_first(vectors: Vectors):
    vectors.add("small", {b"x": make_unit_vector(1, 0, 0), b"y": make_unit_vector(0, 1, 0)}, text_count=3)
    vectors.add("small", {b"xy": make_unit_vector(1, 1, 0)}, text_count=3)
    assert vectors.read_model() == ("small", 3)
    assert vectors.find_nearest(make_unit_vector(1, 0.1, 0), 2) == [b"x", b"xy"]
    assert vectors.find_nearest(make_unit_vector(0, 1, 0.1), 9) == [b"y", b"xy", b"x"]


def test_without_vectors_no_text_is_near(vectors: Vectors):
    assert vectors.read_model() is None
    assert vectors.find_nearest([1.0, 0.0], 3) == []


def test_another_reader_sees_the_added_vectors(vectors: Vectors, tmp_path: Path):
    vectors.add("small", {b"x": make_unit_vector(1, 0)}, text_count=1)
    with closing(Vectors(tmp_path)) as other:
        assert other.find_nearest([1.0, 0.0], 9) == [b"x"]
        vectors.add("small", {b"y": make_unit_vector(1, 1), b"x": make_unit_vector(0, 1)}, text_count=2)
        # what is known is not made again
        assert other.find_nearest([1.0, 0.0], 9) == [b"x", b"y"]


def test_vectors_of_two_models_are_never_mixed(vectors: Vectors):
    vectors.add("small", {b"x": make_unit_vector(1, 0)}, text_count=1)
    vectors.add("other", {b"y": make_unit_vector(1, 0)}, text_count=1)
    assert vectors.read_model() == ("other", 2)
    assert vectors.find_nearest([1.0, 0.0], 9) == [b"y"]
    vectors.add("other", {b"z": make_unit_vector(1, 0, 0)}, text_count=1)
    assert vectors.read_model() == ("other", 3)
    # a question of the wrong length finds nothing
    assert vectors.find_nearest([1.0, 0.0], 9) == []


def test_a_crash_during_a_write_loses_only_the_unfinished_vectors(vectors: Vectors):
    vectors.add("small", {b"x": make_unit_vector(1, 0)}, text_count=1)
    with vectors.matrix_path.open("ab") as matrix:
        matrix.write(b"\0" * 7)
    assert vectors.find_nearest([1.0, 0.0], 9) == [b"x"]
    vectors.add("small", {b"y": make_unit_vector(0, 1)}, text_count=1)
    assert vectors.find_nearest([0.0, 1.0], 9) == [b"y", b"x"]


def test_without_the_matrix_no_text_is_found(vectors: Vectors):
    vectors.add("small", {b"x": make_unit_vector(1, 0)}, text_count=1)
    vectors.matrix_path.unlink()
    assert vectors.find_nearest([1.0, 0.0], 9) == []


def test_many_vectors_without_a_text_are_removed(vectors: Vectors):
    many = {b"%d" % n: make_unit_vector(1, n) for n in range(MIN_ROWS_TO_COMPACT + 1)}
    vectors.add("small", many, text_count=1)
    assert len(vectors.read_digests()) == MIN_ROWS_TO_COMPACT + 1
    vectors.add("small", {b"new": make_unit_vector(0, 1)}, text_count=1)
    assert list(vectors.read_digests().values()) == [b"new"]
    assert vectors.find_nearest([0.0, 1.0], 9)[0] == b"new"


def test_code_that_is_like_a_text_that_has_a_vector(vectors: Vectors):
    vectors.add(
        "small",
        {b"x": make_unit_vector(1, 0), b"y": make_unit_vector(0, 1), b"xy": make_unit_vector(2, 1)},
        text_count=3,
    )
    assert vectors.find_similar(b"x", 2) == [b"xy", b"y"]
    assert vectors.find_similar(b"x", 1) == [b"xy"]
    assert vectors.find_similar(b"none", 2) == []
