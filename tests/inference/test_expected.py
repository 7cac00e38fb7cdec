"""Names that are known to be likely are made likelier, where they fit and nowhere else."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lsp_harness.inference.decode import expected as module
from lsp_harness.inference.decode.expected import Expectation
from lsp_harness.inference.decode.generate import Prompt, Work
from lsp_harness.inference.decode.llama import Llama
from lsp_harness.inference.request import Sampling

from .conftest import PROMPT, Bench

NAMES = ("value_of",)


def raised(llama: Llama, expected: tuple[str, ...], before: str, written: str = "", forced: str = "") -> set[str]:
    """What the tokens say that are likelier."""
    found = Expectation(llama, expected, before.encode())
    found.add(written.encode())
    logits = np.zeros(llama.n_vocab, np.float32)
    weighed = found.weighed(logits, forced.encode())
    assert not logits.any()
    assert set(np.unique(weighed).tolist()) <= {0.0, module.BIAS}
    return {llama.piece(int(token)).decode() for token in np.flatnonzero(weighed)}


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
def test_where_a_name_fits(llama: Llama, before: str, written: str, forced: str, likelier: bool):
    found = raised(llama, NAMES, before, written, forced)
    assert bool(found) == likelier
    word = (before + written + forced).rpartition(" ")[2]
    rest = "value_of"[len(word) if "value_of".startswith(word) else 0 :]
    for text in (each.lstrip(" ([{!&<*.:->?") for each in found):
        assert rest.startswith(text) or text.startswith(rest) or "value_of".startswith(text)


def test_it_is_what_is_written(machine: Bench, monkeypatch: pytest.MonkeyPatch):
    plain, _ = machine.run(PROMPT, Sampling(n_predict=12))
    monkeypatch.setattr(module, "BIAS", 1000.0)
    text, _ = machine.run(PROMPT, Sampling(n_predict=12, expected=NAMES))
    assert "value_of" not in plain
    # once: what is said is no longer expected
    assert text.count("value_of") == 1
    drawn, _ = machine.run(PROMPT, Sampling(n_predict=12, temperature=0.8, expected=NAMES))
    assert "value_of" in drawn


def test_a_typed_beginning_goes_on_as_the_name(machine: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "BIAS", 1000.0)
    tokens = machine.llama.tokenize(PROMPT)
    for typed in ("v", "valu", "value_o"):
        prompt = Prompt(tokens, typed.encode(), (PROMPT + typed).encode())
        [chunks] = machine.together(Work((prompt,), Sampling(n_predict=10, expected=NAMES)))
        assert "".join(chunk.text for chunk in chunks).startswith("value_of".removeprefix(typed))


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text("abeinrst_ ", min_size=1, max_size=9), min_size=1, max_size=3))
def test_keys_of_a_word_are_answered_as_if_nothing_had_been_typed_before(machine: Bench, words: list[str]):
    sampling = Sampling(n_predict=6, expected=("best", "interest", "in_a_nest"))
    tokens = machine.llama.tokenize(PROMPT)
    typed = [word[:size] for word in words for size in range(1, len(word) + 1)]

    def said(text: str) -> str:
        prompt = Prompt(tokens, text.encode(), (PROMPT + text).encode())
        return "".join(chunk.text for chunk in machine.together(Work((prompt,), sampling))[0])

    machine.forget()
    warm = [said(text) for text in typed]
    for text, answer in zip(typed, warm, strict=True):
        machine.forget()
        assert said(text) == answer
