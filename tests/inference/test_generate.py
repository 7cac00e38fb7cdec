"""One request from prompt to the last chunk, on real logits."""

import random
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_harness.errors import EngineRefused
from lsp_harness.inference.fim import assemble
from lsp_harness.inference.generate import Text, Work, generate
from lsp_harness.inference.request import Around, Chunk, Infill, Sampling

from .conftest import Machine

PROMPT = "def f(value):\n    return value\n\n"
BLOCK = (Path(__file__).parents[2] / "grammars/gbnf/code_block.gbnf").read_text()


def test_without_temperature_the_answer_is_always_the_same(machine: Machine):
    first, last = machine.run(PROMPT, Sampling(n_predict=40))
    machine.forget()

    assert machine.run(PROMPT, Sampling(n_predict=40, seed=9))[0] == first
    assert (last.stop, last.usage.generated) == ("limit", 40)


def test_the_same_prompt_again_evaluates_one_token(machine: Machine):
    first, cold = machine.run(PROMPT)
    again, warm = machine.run(PROMPT)
    size = len(machine.llama.tokenize(PROMPT))

    assert again == first
    assert (cold.usage.evaluated, cold.usage.reused) == (size, 0)
    assert (warm.usage.evaluated, warm.usage.reused) == (1, size - 1)


def test_a_longer_prompt_evaluates_what_is_new(machine: Machine):
    tokens = machine.llama.tokenize(PROMPT)
    machine.run(tokens)
    resident = machine.kv.slots[0].tokens
    new = [next(token for token in (5, 6) if token != resident[len(tokens)]), 7, 8]

    text, last = machine.run([*tokens, *new])

    assert (last.usage.evaluated, last.usage.reused) == (3, len(tokens))
    machine.forget()
    assert machine.run([*tokens, *new])[0] == text


def test_an_accepted_answer_is_not_evaluated_again(machine: Machine):
    tokens = machine.llama.tokenize(PROMPT)
    machine.run(tokens, Sampling(n_predict=20))
    # the last token sampled was never evaluated
    accepted = list(machine.kv.slots[0].tokens)
    assert len(accepted) == len(tokens) + 19

    _, last = machine.run([*accepted, 7])

    assert (last.usage.evaluated, last.usage.reused) == (1, len(accepted))


def test_whatever_is_resident_the_answer_is_that_of_an_empty_cache(machine: Machine):
    chance = random.Random(3)
    prompts: list[list[int]] = []
    for _ in range(30):
        start = chance.choice(prompts)[: chance.randrange(80)] if prompts else []
        prompts.append([*start, *(chance.randrange(290) for _ in range(chance.randrange(1, 60)))])
    warm = [machine.run(prompt, Sampling(n_predict=8)) for prompt in prompts]

    assert any(last.usage.reused > 10 for _, last in warm)
    for prompt, (text, last) in zip(prompts, warm, strict=True):
        assert last.usage.evaluated + last.usage.reused == len(prompt)
        machine.forget()
        assert machine.run(prompt, Sampling(n_predict=8))[0] == text


def test_seeds_differ_and_each_repeats_itself(machine: Machine):
    def texts() -> list[str]:
        return [machine.run(PROMPT, Sampling(n_predict=16, temperature=1.0, seed=seed))[0] for seed in range(6)]

    first = texts()
    assert len(set(first)) == 6
    assert texts() == first


def test_a_stop_string_ends_the_answer_and_is_not_part_of_it(machine: Machine):
    whole, _ = machine.run(PROMPT, Sampling(n_predict=60))
    words = {whole[at : at + size] for at in range(len(whole)) for size in (1, 2, 3, 6)}
    words = {word for word in words if "�" not in word}
    assert len(words) > 20
    for word in words:
        text, last = machine.run(PROMPT, Sampling(n_predict=60, stop=("never in it", word)))

        assert last.stop == "word"
        # a character that the stop string cut off is not shown
        assert text.rstrip("�") == whole[: whole.index(word)].rstrip("�")


@pytest.mark.parametrize("count", [0, 1, 7])
def test_no_more_tokens_than_asked(machine: Machine, count: int):
    _, last = machine.run(PROMPT, Sampling(n_predict=count))

    assert (last.stop, last.usage.generated) == ("limit", count)


def test_nothing_to_predict_warms_the_cache(machine: Machine):
    text, _ = machine.run(PROMPT, Sampling(n_predict=0))

    assert text == ""
    assert machine.run(PROMPT)[1].usage.evaluated == 1


def test_the_time_limit_keeps_what_there_is(machine: Machine):
    text, last = machine.run(PROMPT, Sampling(n_predict=900, t_max_predict_ms=1))

    assert last.stop == "deadline"
    assert 0 < last.usage.generated < 900
    assert text


def test_an_evaluation_between_tokens_can_be_cancelled(machine: Machine):
    chunks: list[Chunk] = []
    steps = generate(
        machine.llama, machine.kv, Work([1] * 100, Sampling(n_predict=50)), chunks.append, lambda: len(chunks) >= 5
    )

    assert len(list(steps)) == 4 + 5
    assert (chunks[-1].stop, chunks[-1].usage.generated) == ("cancelled", 5)
    assert len(machine.kv.slots[0].tokens) == 105


@pytest.mark.parametrize("prefix", ["def f():\n    ret", "def f():\n    ", "x = valu", "print(va", "a\t\t", "é"])
def test_the_healed_text_comes_first_and_is_not_part_of_the_answer(machine: Machine, prefix: str):
    sampling = Sampling(n_predict=12)
    work = assemble(machine.llama, Infill(Around(prefix, "\n\nprint(f())\n"), sampling=sampling), "suffix-first")
    assert work.forced

    text, last = machine.run(work.tokens, sampling, work.forced)

    slot = max(machine.kv.slots, key=lambda slot: slot.used)
    resident = b"".join(machine.llama.piece(token) for token in slot.tokens[len(work.tokens) :])
    assert resident.startswith(work.forced)
    shown = Text(()).add(resident[len(work.forced) :])
    assert text.startswith(shown)
    assert last.stop == "limit"
    assert last.usage.generated <= 12 + len(work.forced)


def test_forced_text_longer_than_the_limit_gives_nothing(machine: Machine):
    forced = "é = 日本".encode()

    text, last = machine.run(PROMPT, Sampling(n_predict=1), forced)

    assert text == ""
    assert last.stop == "limit"


def block_may_go_on(text: str) -> bool:
    """Whether a code block may begin like this; written without a look at the grammar's parser."""
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


def test_a_grammar_holds_at_any_temperature(machine: Machine):
    """The whole of it, or a beginning of it when the limit came first."""
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


def test_an_exhausted_grammar_ends_the_answer(machine: Machine):
    text, last = machine.run(PROMPT, Sampling(n_predict=50, temperature=2.0, grammar='root ::= "value" [0-9] "é"'))

    assert re.fullmatch("value[0-9]é", text)
    assert last.stop == "eos"


@pytest.mark.parametrize("grammar", ["root ::= (", "other ::= [a-z]", "root ::= missing", "root ::= \ud800 ("])
def test_a_grammar_that_is_none_is_refused(machine: Machine, grammar: str):
    with pytest.raises(EngineRefused, match="grammar"):
        machine.run(PROMPT, Sampling(grammar=grammar))
    assert machine.run(PROMPT)[0]


def test_a_prompt_that_cannot_fit_is_refused(machine: Machine):
    with pytest.raises(EngineRefused, match="1024"):
        machine.run([5] * 1000, Sampling(n_predict=100))


def test_a_stop_string_without_an_encoding_occupies_nothing_for_ever(machine: Machine):
    for _ in range(machine.llama.n_seq + 1):
        assert machine.run(PROMPT, Sampling(n_predict=3, stop=("\ud800",)))[1].stop == "limit"


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:end] for start, end in pairwise(edges)]


CUTS = st.lists(st.integers(0, 1000), max_size=40)
LETTERS = st.text("ab`\né日😀", max_size=40)


@given(text=st.text(max_size=40), cuts=CUTS)
def test_characters_are_shown_whole(text: str, cuts: list[int]):
    shown = Text(())
    parts = [shown.add(piece) for piece in pieces(text.encode(), cuts)]

    assert "".join(parts) == text
    assert shown.flush() == ""


@given(text=LETTERS, cut=st.integers(0, 200))
def test_an_incomplete_character_at_the_end_is_not_shown(text: str, cut: int):
    data = text.encode()[:cut]
    shown = Text(())

    assert shown.add(data) + shown.flush() == data.decode("utf-8", "ignore")


@given(data=st.binary(max_size=40), cuts=CUTS)
def test_bytes_that_are_no_text_are_replaced_wherever_they_are_cut(data: bytes, cuts: list[int]):
    shown = Text(())
    got = "".join(shown.add(piece) for piece in pieces(data, cuts)) + shown.flush()

    assert data.decode("utf-8", "replace").rstrip("�") == got.rstrip("�")


@given(text=LETTERS, stop=st.text("ab`\né日", min_size=1, max_size=4), cuts=CUTS)
def test_a_stop_string_never_leaks_however_it_is_split(text: str, stop: str, cuts: list[int]):
    shown, parts = Text((stop, "")), list[str]()
    for piece in pieces(text.encode(), cuts):
        parts.append(shown.add(piece))
        if shown.stopped:
            break
    else:
        parts.append(shown.flush())

    assert "".join(parts) == text.split(stop, 1)[0]
    assert shown.stopped == (stop in text)


@given(text=LETTERS, stops=st.lists(st.text("ab`é", min_size=1, max_size=4), max_size=4), cuts=CUTS)
def test_none_of_several_stop_strings_leaks(text: str, stops: list[str], cuts: list[int]):
    shown, got = Text(stops), ""
    for piece in pieces(text.encode(), cuts):
        got += shown.add(piece)
        if shown.stopped:
            break
    else:
        got += shown.flush()

    assert text.startswith(got)
    assert not any(stop in got for stop in stops)
    assert shown.stopped == any(stop in text for stop in stops)
