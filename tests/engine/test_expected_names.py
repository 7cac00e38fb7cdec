"""Tests that likely names get a bias where they fit, and only there."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lsp_harness.engine.decode import expected_names as module
from lsp_harness.engine.decode.expected_names import NameBias
from lsp_harness.engine.decode.llama import Llama
from lsp_harness.engine.decode.model_runtime import Prompt, TokenRequest
from lsp_harness.inference.request import Sampling

from .conftest import PROMPT, Bench

NAMES = ("value_of",)


def find_likelier(llama: Llama, sampling: Sampling, before: str, written: str = "", forced: str = "") -> set[str]:
    """Return the texts of the tokens whose logits rise."""
    name_bias = NameBias(llama.vocabulary, sampling, before.encode())
    name_bias.add(written.encode())
    logits = np.zeros(llama.n_vocab, np.float32)
    weighed = name_bias.apply(logits, forced.encode())
    assert not logits.any()
    assert set(np.unique(weighed).tolist()) <= {0.0, module.LIKELY_BIAS, module.BINDING_BIAS}
    return {llama.vocabulary.piece(int(token)).decode() for token in np.flatnonzero(weighed)}


@pytest.mark.parametrize(
    ("before", "written", "forced", "likelier"),
    [
        ("x = ", "", "", True),
        ("x = ", "f(", "", True),
        ("x =", "", "", True),
        ("", "", "", True),
        ("x = val", "", "", True),
        ("x = ", "val", "", True),
        ("x =", "", " val", True),
        # another word, a member, said already
        ("x = var", "", "", False),
        ("x = my", "", "", False),
        ("x = ctx.", "", "", False),
        ("for x in 0..", "", "", True),
        ("def f() -> ", "", "", True),
        ("def f() ->", "", " ", True),
        ("p->", "", "", False),
        ("a::", "", "", False),
        ("x = ctx", ".", "", False),
        ("x = ", "value_of(", "", False),
        ("x =", "", " var", False),
    ],
)
def test_a_name_is_made_likelier_where_it_fits(llama: Llama, before: str, written: str, forced: str, likelier: bool):
    result = find_likelier(llama, Sampling(expected=NAMES), before, written, forced)
    assert bool(result) == likelier
    word = (before + written + forced).rpartition(" ")[2]
    rest = "value_of"[len(word) if "value_of".startswith(word) else 0 :]
    for text in (item.lstrip(" ([{!&<*.:->?") for item in result):
        assert rest.startswith(text) or text.startswith(rest) or "value_of".startswith(text)


@pytest.mark.parametrize(
    ("before", "written", "forced", "likelier"),
    [
        ("    ", "", "", True),
        ("x = 1\n    ", "", "", True),
        ("x = 1\n", "", "    ", False),
        ("x = 1\n   ", "", " ", True),
        ("    val", "", "", True),
        (" ", "", "val", True),
        ("    self, other: int, ", "", "", True),
        ("    for", "", "", True),
        ("    for other, ", "", "", True),
        ("  for (const", "", "", True),
        ("async def", "", "", True),
        ("def f(a, b: int,", "", "", True),
        ("  const {", "", "", True),
        ("    let mut", "", "", True),
        ("    if let Some(", "", "", True),
        ("    with open(a) as", "", "", True),
        ("    for (const", "", "", True),
        ("    x = f(a)", "\n    ", "", True),
        ("x = 1", "\n  ", "", True),
        # how far in a line begins is not known
        ("", "", "", False),
        ("x = 1", "\n", "", False),
        # where something is used
        ("x = ", "", "", False),
        ("return", "", "", False),
        ("f(", "", "", False),
        ("x.", "", "", False),
        ("x", "", "", False),
        ("f(a, ", "", "", False),
        ("for a in", "", "", False),
        ("[a for", "", "", False),
        ("    x =", " f(a,\n        ", "", False),
        ("    await", "", "", False),
        # another word; said already; who knows how the line begins
        ("    vax", "", "", False),
        ("    ", "value_of = 1\n    ", "", False),
        ("a, " * 100, "", "", False),
    ],
)
def test_an_unbound_name_is_made_likelier_where_it_can_be_bound(
    llama: Llama, before: str, written: str, forced: str, likelier: bool
):
    assert bool(find_likelier(llama, Sampling(unbound=NAMES), before, written, forced)) == likelier


@pytest.mark.parametrize(
    ("unbound", "before", "likelier"),
    [
        ("let value_of", "    ", {"let"}),
        ("let value_of", "    le", {"t"}),
        ("let value_of", "    let", {" value"}),
        ("let value_of", "f(", set[str]()),
        (" value_of", "    ", set[str]()),
        (" value_of", "    for", {" value"}),
    ],
)
def test_a_keyword_before_an_unbound_name_is_made_likelier_first(
    llama: Llama, unbound: str, before: str, likelier: set[str]
):
    result = find_likelier(llama, Sampling(unbound=(unbound,)), before)
    assert bool(result) == bool(likelier)
    for text in likelier:
        assert any(text.startswith(item) for item in result), result


def test_only_the_longest_token_of_a_name_is_made_likelier(llama: Llama):
    """Only the longest token rises: after a single letter many other names are possible."""
    whole = find_likelier(llama, Sampling(expected=NAMES), "x = ")
    plain = {text for text in whole if "value_of".startswith(text)}
    result = find_likelier(llama, Sampling(unbound=NAMES), "    ")
    assert len(plain) > 1
    assert {text for text in result if "value_of".startswith(text)} == {max(plain, key=len)}


def test_an_expected_name_is_written_once(machine: Bench, monkeypatch: pytest.MonkeyPatch):
    plain, _ = machine.run(PROMPT, Sampling(n_predict=12))
    monkeypatch.setattr(module, "LIKELY_BIAS", 1000.0)
    text, _ = machine.run(PROMPT, Sampling(n_predict=12, expected=NAMES))
    assert "value_of" not in plain
    # once: what is said is no longer expected
    assert text.count("value_of") == 1
    drawn, _ = machine.run(PROMPT, Sampling(n_predict=12, temperature=0.8, expected=NAMES))
    assert "value_of" in drawn


def test_needed_names_are_bound(machine: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "BINDING_BIAS", 1000.0)

    def complete_text(text: str) -> str:
        prompt = Prompt(machine.llama.vocabulary.tokenize(text), b"", text.encode())
        [chunks] = machine.together(TokenRequest((prompt,), Sampling(n_predict=12, unbound=NAMES)))
        return "".join(chunk.text for chunk in chunks)

    text = complete_text(f"{PROMPT}    ")
    assert text.lstrip().startswith("value_of")
    assert text.count("value_of") == 1
    assert not complete_text(f"{PROMPT}    return").lstrip().startswith("value_of")


def test_a_typed_beginning_continues_with_the_name(machine: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "LIKELY_BIAS", 1000.0)
    tokens = machine.llama.vocabulary.tokenize(PROMPT)
    for typed in ("v", "valu", "value_o"):
        prompt = Prompt(tokens, typed.encode(), (PROMPT + typed).encode())
        [chunks] = machine.together(TokenRequest((prompt,), Sampling(n_predict=10, expected=NAMES)))
        assert "".join(chunk.text for chunk in chunks).startswith("value_of".removeprefix(typed))


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text("abeinrst_ ", min_size=1, max_size=9), min_size=1, max_size=3))
def test_partial_words_get_the_answers_of_an_empty_cache_with_expected_names(machine: Bench, words: list[str]):
    sampling = Sampling(n_predict=6, expected=("best", "interest", "in_a_nest"), unbound=("stairs", "rest"))
    tokens = machine.llama.vocabulary.tokenize(PROMPT)
    typed = [word[:size] for word in words for size in range(1, len(word) + 1)]

    def complete_text(text: str) -> str:
        prompt = Prompt(tokens, text.encode(), (f"{PROMPT} {text}").encode())
        return "".join(chunk.text for chunk in machine.together(TokenRequest((prompt,), sampling))[0])

    machine.forget()
    warm = [complete_text(text) for text in typed]
    for text, answer in zip(typed, warm, strict=True):
        machine.forget()
        assert complete_text(text) == answer
