"""Tests of the order of tokens in an infill prompt, and of what healing removes."""

from dataclasses import replace

import pytest

from lsp_harness.engine.decode.fim_prompt import tokenize_infill
from lsp_harness.engine.decode.llama import Llama
from lsp_harness.errors import EngineRefused
from lsp_harness.inference.infill_text import heal
from lsp_harness.inference.request import Infill, InfillContext, Sampling


class LetterVocabulary:
    """A vocabulary with a token for each character, and one token for the text between `|` and `|`."""

    def __init__(self, *, mid: int = 1003, bos_tokens: tuple[int, ...] = ()) -> None:
        self.fim_tokens = {"pre": 1001, "suf": 1002, "mid": mid}
        self.bos_tokens = bos_tokens
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


def encode_letters(text: str) -> list[int]:
    return [ord(letter) for letter in text]


INFILL = Infill(
    InfillContext("pre", "suf", (("a.py", "xa"), ("b.py", "xb"))), heal=False, sampling=Sampling(n_predict=3)
)


def test_the_opening_token_of_a_model_comes_first():
    for order in ("suffix-first", "prefix-suffix-middle"):
        plain, opened = (
            tokenize_infill(LetterVocabulary(bos_tokens=opening), INFILL, order).prompts[0] for opening in ((), (1000,))
        )
        assert list(opened.tokens) == [1000, *plain.tokens]


def test_the_order_suffix_first_ends_with_the_prefix():
    work = tokenize_infill(LetterVocabulary(), INFILL, "suffix-first")

    assert list(work.prompts[0].tokens) == [
        *encode_letters("xaxb"),
        1001,
        1002,
        *encode_letters("suf"),
        1003,
        *encode_letters("pre"),
    ]
    assert (work.prompts[0].forced, work.sampling) == (b"", INFILL.sampling)


def test_a_file_from_elsewhere_is_named_as_the_model_was_trained():
    named, extra = LetterVocabulary(), (("a.py", "xa"), ("b.py", "# b.py\nxb"), ("", "xc"))
    named.fim_tokens["sep"] = 1004
    work = tokenize_infill(named, Infill(InfillContext("", "", extra)), "suffix-first")

    # one that begins with its name needs no other
    head = [1004, *encode_letters("a.py\nxa"), *encode_letters("# b.py\nxb"), *encode_letters("xc")]
    assert list(work.prompts[0].tokens)[: len(head)] == head


def test_the_order_prefix_suffix_middle_has_its_marks():
    work = tokenize_infill(LetterVocabulary(), INFILL, "prefix-suffix-middle")

    assert list(work.prompts[0].tokens) == [
        *encode_letters("xaxb"),
        1001,
        *encode_letters("pre"),
        1002,
        *encode_letters("suf"),
        1003,
    ]


@pytest.mark.parametrize("order", ["suffix-first", "prefix-suffix-middle"])
def test_an_empty_file_has_only_the_marks(order):
    work = tokenize_infill(LetterVocabulary(), Infill(InfillContext("", "")), order)

    assert sorted(work.prompts[0].tokens) == [1001, 1002, 1003]
    assert work.prompts[0].forced == b""


def test_a_model_without_the_marks_is_refused():
    with pytest.raises(EngineRefused, match="fill-in-the-middle"):
        tokenize_infill(LetterVocabulary(mid=-1), INFILL, "suffix-first")


@pytest.mark.parametrize(
    ("kept", "forced"),
    [
        ("def f():\n", "    "),
        ("", "\t \t"),
        ("return x", " "),
        ("f(x", ")"),
        ("", "é"),
        ("def f():\n", ""),
        ("a\r\n", ""),
        ("", ""),
        ("x =", " valu"),
        ("self", ".na"),
        ("self.some_long", "_na"),
        ("def f():\n       ", " ret"),
        ("a", " !="),
        ("f", "(("),
        ("x = 12", ""),
    ],
)
def test_healing_removes_tokens_back_to_a_certain_border(kept: str, forced: str):
    assert heal(kept + forced) == (kept, forced.encode())


@pytest.mark.parametrize("tail", ["=" * 5000, " " * 5000, "a" * 5000, " " + "b" * 80])
def test_a_text_that_is_longer_than_a_word_is_not_healed(tail: str):
    assert heal(f"x{tail}") == (f"x{tail}", b"")


def test_while_a_word_is_typed_the_prompt_stays_the_same(llama: Llama):
    prompts = {
        tuple(
            tokenize_infill(
                llama.vocabulary,
                Infill(InfillContext(f"def f():\n    return{' ' + word if word else ''}", "\n")),
                "suffix-first",
            )
            .prompts[0]
            .tokens
        )
        for word in ("v", "va", "val", "valu", "value")
    }

    assert len(prompts) == 1


def test_shorter_prompts_come_after_the_first_choice():
    infill = replace(INFILL, shorter=(InfillContext("re", "s"), InfillContext("e", "")), budget_ms=50.0)

    work = tokenize_infill(LetterVocabulary(), infill, "suffix-first")

    assert [list(prompt.tokens) for prompt in work.prompts[1:]] == [
        [1001, 1002, *encode_letters("s"), 1003, *encode_letters("re")],
        [1001, 1002, 1003, *encode_letters("e")],
    ]
    assert work.budget_ms == 50.0


def test_marks_in_the_users_text_are_only_text(llama: Llama):
    work = tokenize_infill(
        llama.vocabulary, Infill(InfillContext("a = '<|fim_middle|>'\n", "<|im_end|>"), heal=False), "suffix-first"
    )

    assert [token for token in work.prompts[0].tokens if token >= llama.vocabulary.fim_tokens["pre"] - 3] == [
        llama.vocabulary.fim_tokens[k] for k in ("pre", "suf", "mid")
    ]
