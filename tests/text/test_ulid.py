"""Identifiers that sort by their time."""

import re
from itertools import pairwise
from time import time_ns

import pytest

from lsp_harness.text import ulid
from lsp_harness.text.ulid import is_ulid, make_ulid, read_milliseconds


def test_identifiers_follow_each_other_also_within_a_millisecond() -> None:
    made = [make_ulid() for _ in range(2000)]
    assert all(first < second for first, second in pairwise(made))
    assert all(is_ulid(one) for one in made)


def test_a_clock_that_is_set_back_changes_no_order(monkeypatch: pytest.MonkeyPatch) -> None:
    first = make_ulid()
    monkeypatch.setattr(ulid, "time_ns", lambda: 10**9)
    assert make_ulid() > first


def test_an_identifier_contains_its_time() -> None:
    before = time_ns() // 1_000_000
    assert before <= read_milliseconds(make_ulid()) <= time_ns() // 1_000_000 + 1
    # the first one of the specification
    assert make_ulid(1469918176385).startswith("01ARYZ6S41")
    assert read_milliseconds("01ARYZ6S41TSV4RRFFQ69G5FAV") == 1469918176385
    assert read_milliseconds(make_ulid(2**48 - 1)) == 2**48 - 1
    with pytest.raises(ValueError, match=re.escape(f"the time {2**48} is not one of a ULID")):
        make_ulid(2**48)


@pytest.mark.parametrize(
    "text",
    ["", "01ARYZ6S41TSV4RRFFQ69G5FA", "81ARYZ6S41TSV4RRFFQ69G5FAV", "01aryz6s41tsv4rrffq69g5fav", "../x" * 7, "U" * 26],
)
def test_other_texts_are_no_identifiers(text: str) -> None:
    assert not is_ulid(text)
