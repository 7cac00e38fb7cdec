"""Secrets are removed from a text in pieces as from the whole text."""

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lsp_harness.files.secret_stream import MAX_HELD_BYTES, SecretStream
from lsp_harness.files.secret_values import hide_variables
from lsp_harness.files.secrets import redact

TOKEN = "ghp_" + "a1B2" * 9
BODY = "".join(f"{chr(65 + n % 26) * 64}\n" for n in range(20))
KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}QUJDRA==\n-----END RSA PRIVATE KEY-----\n"


def redact_in_pieces(text: str, *cuts: int) -> str:
    data, secrets = text.encode(), SecretStream()
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [secrets.feed(data[start:end]) for start, end in pairwise(places)]
    return b"".join([*pieces, secrets.finish()]).decode()


PARTS = st.sampled_from(
    ["a b\n", "ä", TOKEN, KEY, "https://u:hunter22@h/ ", "\n", " ", "-----BEGIN ", "x" * 40 + "\n", "word\n"]
)


@given(st.lists(PARTS, max_size=6).map("".join), st.lists(st.integers(0, 3000), max_size=6))
def test_pieces_and_the_whole_give_the_same(text: str, cuts: list[int]):
    assert redact_in_pieces(text, *cuts) == redact(text)


@given(st.sampled_from(["", "a b\n", "+", " ", "a ", f"{TOKEN}\n"]), st.lists(st.integers(0, 1500), max_size=6))
def test_the_end_of_a_key_is_hidden(before: str, cuts: list[int]):
    shown = redact_in_pieces(f"{before}{KEY[40:]}after\n", *cuts)

    assert TOKEN not in shown
    assert shown.endswith("…\nafter\n")
    # a first line that does not look like one of a key may be shown
    assert len(shown) < len(before) + 80


@given(st.integers(0, len(KEY)))
def test_a_key_in_two_pieces_is_hidden(cut: int):
    assert redact_in_pieces(f"before\n{KEY}after\n", cut) == "before\n…\nafter\n"


def test_complete_words_are_shown_at_once():
    secrets = SecretStream()

    assert secrets.feed(b"Go on? [y/N] ") == b"Go on? [y/N] "
    assert secrets.feed(b"10%\r") == b"10%\r"
    assert secrets.feed(b"hal") == b""
    assert secrets.feed(b"f\n") == b"half\n"


def test_a_key_without_an_end_hides_all_following_lines():
    secrets = SecretStream()
    first = secrets.feed(b"before\n-----BEGIN PRIVATE KEY-----\n" + b"A" * MAX_HELD_BYTES)

    assert first + secrets.feed(b"B" * 1000) == "before\n…".encode()
    assert secrets.feed(b"C\n-----END PRIV") == b""
    assert secrets.feed(b"ATE KEY-----\nafter\n") == b"\nafter\n"
    assert secrets.finish() == b""


def test_a_line_without_an_end_is_shown():
    secrets = SecretStream()

    assert secrets.feed(b"." * (MAX_HELD_BYTES + 1)) == b"." * (MAX_HELD_BYTES + 1)


def test_invalid_bytes_are_passed_through():
    assert SecretStream().feed(b"\xff\xfe \xe4\n") == b"\xff\xfe \xe4\n"


VALUES = {"A_KEY": "v4lue with\nblanks", "B_TOKEN": "v4lue v4lue!"}
NEAR_VALUES = st.sampled_from([*VALUES.values(), "v4lue ", "v4lue with\n", "blanks", "\n", "word ", TOKEN, "v"])


@given(st.lists(NEAR_VALUES, max_size=6).map("".join), st.lists(st.integers(0, 100), max_size=6))
def test_a_value_of_a_variable_in_pieces_is_hidden(text: str, cuts: list[int]):
    with hide_variables(VALUES):
        shown, whole = redact_in_pieces(text, *cuts), redact(text)

    # two values without anything between them may become one sign or two
    assert re.sub("…+", "…", shown) == re.sub("…+", "…", whole)
    assert not any(value in shown for value in VALUES.values())
