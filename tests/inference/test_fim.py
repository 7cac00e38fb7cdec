"""The order of an infill prompt's tokens, and what healing takes off."""

import pytest

from lsp_harness.errors import EngineRefused
from lsp_harness.inference.fim import assemble, heal
from lsp_harness.inference.llama import Llama
from lsp_harness.inference.request import Around, Infill, Sampling


class Letters:
    """A token for each character; what stands between `|` and `|` is one token."""

    def __init__(self, *, mid: int = 1003) -> None:
        self.fim = {"pre": 1001, "suf": 1002, "mid": mid}
        self.words: dict[int, str] = {}

    def tokenize(self, text: str, *, special: bool = False) -> list[int]:
        tokens: list[int] = []
        for number, part in enumerate(text.split("|")):
            if number % 2:
                self.words[2000 + len(self.words)] = part
                tokens.append(max(self.words))
            else:
                tokens += map(ord, part)
        return tokens

    def piece(self, token: int, *, special: bool = False) -> bytes:
        return self.words.get(token, chr(token)).encode()


def ids(text: str) -> list[int]:
    return [ord(letter) for letter in text]


INFILL = Infill(Around("pre", "suf", (("a.py", "xa"), ("b.py", "xb"))), heal=False, sampling=Sampling(n_predict=3))


def test_suffix_first_lets_the_middle_continue_the_prefix():
    work = assemble(Letters(), INFILL, "suffix-first")

    assert work.tokens == [*ids("xaxb"), 1001, 1002, *ids("suf"), 1003, *ids("pre")]
    assert (work.forced, work.sampling) == (b"", INFILL.sampling)


def test_prefix_suffix_middle_is_what_most_models_were_trained_on():
    work = assemble(Letters(), INFILL, "prefix-suffix-middle")

    assert work.tokens == [*ids("xaxb"), 1001, *ids("pre"), 1002, *ids("suf"), 1003]


@pytest.mark.parametrize("order", ["suffix-first", "prefix-suffix-middle"])
def test_an_empty_file_has_only_the_marks(order):
    work = assemble(Letters(), Infill(Around("", "")), order)

    assert sorted(work.tokens) == [1001, 1002, 1003]
    assert work.forced == b""


def test_a_model_without_the_marks_is_refused():
    with pytest.raises(EngineRefused, match="fill-in-the-middle"):
        assemble(Letters(mid=-1), INFILL, "suffix-first")


@pytest.mark.parametrize(
    ("prefix", "kept", "forced"),
    [
        ("def f():\n    ", "def f():\n", b"    "),
        ("\t \t", "", b"\t \t"),
        ("return x ", "return x", b" "),
        ("f(x)", "f(x", b")"),
        ("é", "", "é".encode()),
        ("def f():\n", "def f():\n", b""),
        ("a\r\n", "a\r\n", b""),
        ("", "", b""),
    ],
)
def test_healing_goes_back_to_a_token_boundary(prefix: str, kept: str, forced: bytes):
    assert heal(Letters(), prefix) == (ids(kept), forced)


def test_healing_takes_a_word_as_the_tokenizer_cuts_it():
    assert heal(Letters(), "x =| valu|") == (ids("x ="), b" valu")


def test_marks_in_the_users_text_are_only_text(llama: Llama):
    work = assemble(llama, Infill(Around("a = '<|fim_middle|>'\n", "<|im_end|>"), heal=False), "suffix-first")

    assert [token for token in work.tokens if token >= llama.fim["pre"] - 3] == [
        llama.fim[k] for k in ("pre", "suf", "mid")
    ]
