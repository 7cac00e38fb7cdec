"""Tests that an answer matches its grammar, or begins like a match, at any temperature."""

import re
from pathlib import Path

import numpy as np
import pytest

from lsp_harness.engine.decode.llama import Llama
from lsp_harness.engine.decode.sampler import Sampler
from lsp_harness.errors import EngineRefused
from lsp_harness.inference.request import Sampling

from .conftest import PROMPT, Bench

BLOCK = (Path(__file__).parents[2] / "grammars/gbnf/code_block.gbnf").read_text()


def test_a_grammar_also_holds_at_the_end_of_forced_text(machine: Bench):
    for seed in range(20):
        sampling = Sampling(n_predict=12, temperature=2.0, seed=seed, grammar="root ::= [0-9] [0-9]")
        assert re.fullmatch("[0-9]{2}", machine.run(PROMPT, sampling, b"  valu")[0])


def test_a_grammar_that_allows_no_token_ends_the_answer(machine: Bench):
    for temperature in (0.0, 1.0):
        text, last = machine.run(PROMPT, Sampling(temperature=temperature, grammar='root ::= "ab\\x00"'))
        assert (text.rstrip("\0"), last.stop) in (("ab", "eos"), ("", "eos"))


def block_may_go_on(text: str) -> bool:
    """Return whether a code block may begin with `text`. The function does not use the grammar's parser."""
    if "```".startswith(text):
        return True
    if not text.startswith("```"):
        return False
    tag, newline, body = text[3:].partition("\n")
    if not re.fullmatch("[a-z]*", tag):
        return False
    if not newline:
        return True
    *lines, rest = body.split("\n")
    if any(line.startswith("`") for line in lines):
        return False
    return not rest.startswith("`") or (bool(lines) and "```".startswith(rest))


def test_a_grammar_holds_at_any_temperature(machine: Bench):
    """An answer is a whole match of the grammar, or the beginning of one if the limit ended it."""
    ends = {"eos": 0, "limit": 0}
    for seed in range(200):
        text, last = machine.run(PROMPT, Sampling(n_predict=32, temperature=2.0, seed=seed, grammar=BLOCK))
        assert last.stop in ends
        ends[last.stop] += 1
        if last.stop == "eos":
            assert re.fullmatch(r"```[a-z]*\n(?:(?:[^`\n][^\n]*)?\n)+```", text), text
        else:
            assert block_may_go_on(text), text

    # otherwise this would show less than it seems to
    assert min(ends.values()) > 10, ends


@pytest.mark.parametrize("tries", [0, 8])
@pytest.mark.parametrize("temperature", [0.0, 2.0])
def test_a_special_token_does_not_leave_a_grammar(
    llama: Llama, temperature: float, tries: int, monkeypatch: pytest.MonkeyPatch
):
    """The text of the token is allowed by the grammar, and the token itself would end the answer."""
    monkeypatch.setattr(Sampler, "MAX_REFUSALS", tries)
    grammar = 'root ::= [^\\n]+ "\\n"'
    sampler = Sampler(llama.vocabulary, Sampling(temperature=temperature, seed=1, grammar=grammar), 0)
    logits = np.zeros(llama.n_vocab, np.float32)
    logits[llama.vocabulary.control_tokens] = 9.0
    token = sampler.sample(logits)
    sampler.close()

    assert len(llama.vocabulary.control_tokens)
    assert all(llama.vocabulary.ends_answer(int(mark)) for mark in llama.vocabulary.control_tokens)
    assert token is not None
    assert not llama.vocabulary.ends_answer(token)


def test_an_exhausted_grammar_ends_the_answer(machine: Bench):
    text, last = machine.run(PROMPT, Sampling(n_predict=50, temperature=2.0, grammar='root ::= "value" [0-9] "é"'))

    assert re.fullmatch("value[0-9]é", text)
    assert last.stop == "eos"


@pytest.mark.parametrize("grammar", ["root ::= (", "other ::= [a-z]", "root ::= missing", "root ::= \ud800 ("])
def test_an_invalid_grammar_is_refused(machine: Bench, grammar: str):
    with pytest.raises(EngineRefused, match="grammar"):
        machine.run(PROMPT, Sampling(grammar=grammar))
    assert machine.run(PROMPT)[0]
