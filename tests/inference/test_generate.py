"""One request from prompt to the last chunk, on real logits."""

import math
import random
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lsp_harness.errors import EngineRefused
from lsp_harness.inference.decode import held
from lsp_harness.inference.decode.fim import assemble
from lsp_harness.inference.decode.generate import Prompt, Run, Work
from lsp_harness.inference.decode.llama import Llama, Row
from lsp_harness.inference.decode.parked import Lot
from lsp_harness.inference.decode.sampler import Sampler, confidence
from lsp_harness.inference.decode.text import Text
from lsp_harness.inference.request import Around, Chunk, Infill, Owner, Sampling, Stop

from .conftest import Bench

PROMPT = "def f(value):\n    return value\n\n"
BLOCK = (Path(__file__).parents[2] / "grammars/gbnf/code_block.gbnf").read_text()


def test_without_temperature_the_answer_is_always_the_same(machine: Bench):
    first, last = machine.run(PROMPT, Sampling(n_predict=40))
    machine.forget()

    assert machine.run(PROMPT, Sampling(n_predict=40, seed=9))[0] == first
    assert (last.stop, last.usage.generated) == ("limit", 40)


def test_the_same_prompt_again_evaluates_nothing(machine: Bench):
    first, cold = machine.run(PROMPT)
    again, warm = machine.run(PROMPT)
    size = len(machine.llama.tokenize(PROMPT))

    assert again == first
    assert (cold.usage.evaluated, cold.usage.reused) == (size, 0)
    assert (warm.usage.evaluated, warm.usage.reused) == (0, size)


def test_what_the_prompt_predicts_is_kept_for_the_latest_sequences_only(
    machine: Bench, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(held, "ROWS", 1)
    machine.run("def f")
    machine.run("class")

    assert machine.run("class")[1].usage.evaluated == 0
    assert machine.run("def f")[1].usage.evaluated == 1


def test_a_longer_prompt_evaluates_what_is_new(machine: Bench):
    tokens = machine.llama.tokenize(PROMPT)
    machine.run(tokens)
    resident = machine.kv.slots[0].tokens
    new = [next(token for token in (5, 6) if token != resident[len(tokens)]), 7, 8]

    text, last = machine.run([*tokens, *new])

    assert (last.usage.evaluated, last.usage.reused) == (3, len(tokens))
    machine.forget()
    assert machine.run([*tokens, *new])[0] == text


def test_an_accepted_answer_is_not_evaluated_again(machine: Bench):
    tokens = machine.llama.tokenize(PROMPT)
    machine.run(tokens, Sampling(n_predict=20))
    # the last token sampled was never evaluated
    accepted = list(machine.kv.slots[0].tokens)
    assert len(accepted) == len(tokens) + 19

    _, last = machine.run([*accepted, 7])

    assert (last.usage.evaluated, last.usage.reused) == (1, len(accepted))


def test_whatever_is_resident_the_answer_is_that_of_an_empty_cache(machine: Bench):
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


def test_seeds_differ_and_each_repeats_itself(machine: Bench):
    def texts() -> list[str]:
        return [machine.run(PROMPT, Sampling(n_predict=16, temperature=1.0, seed=seed))[0] for seed in range(6)]

    first = texts()
    assert len(set(first)) == 6
    assert texts() == first


def test_a_stop_string_ends_the_answer_and_is_not_part_of_it(machine: Bench):
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
def test_no_more_tokens_than_asked(machine: Bench, count: int):
    _, last = machine.run(PROMPT, Sampling(n_predict=count))

    assert (last.stop, last.usage.generated) == ("limit", count)


def test_nothing_to_predict_warms_the_cache(machine: Bench):
    text, _ = machine.run(PROMPT, Sampling(n_predict=0))

    assert text == ""
    assert machine.run(PROMPT)[1].usage.evaluated == 0


def test_the_time_limit_keeps_what_there_is(machine: Bench):
    text, last = machine.run(PROMPT, Sampling(n_predict=900, t_max_predict_ms=1))

    assert last.stop == "deadline"
    assert 0 < last.usage.generated < 900
    assert text


def test_candidates_share_the_prompt_and_repeat_themselves(machine: Bench):
    work = Work((Prompt(machine.llama.tokenize(PROMPT * 3)),), Sampling(n_predict=12, n=4, temperature=1.0, seed=5))
    size = len(work.prompts[0].tokens)

    def texts() -> list[str]:
        [chunks] = machine.together(work)
        assert {chunk.usage.evaluated for chunk in chunks} == {size}
        assert sorted(chunk.index for chunk in chunks if chunk.stop) == [0, 1, 2, 3]
        return ["".join(c.text for c in chunks if c.index == index) for index in range(4)]

    first = texts()
    assert len(set(first)) == 4
    # the prompt is there four times, and its cells once
    assert sum(len(slot.tokens) for slot in machine.kv.slots) == 4 * (size + 11)
    assert machine.kv.used == size + 4 * 11
    alone = [machine.run(PROMPT * 3, Sampling(n_predict=12, temperature=1.0, seed=5 + n))[0] for n in range(4)]
    assert alone == first


def test_a_candidate_can_be_stopped_alone(machine: Bench):
    def after(step: int, runs: list[Run]) -> None:
        if step == 4:
            runs[0].stop(1, "cancelled")

    work = Work((Prompt([1] * 30),), Sampling(n_predict=20, n=3, temperature=1.0))
    [chunks] = machine.together(work, after=after)

    ends = {chunk.index: (chunk.stop, chunk.usage.generated) for chunk in chunks if chunk.stop}
    assert ends == {0: ("limit", 20), 1: ("cancelled", 5), 2: ("limit", 20)}


def test_a_candidate_stopped_before_the_prompt_is_read_says_nothing(machine: Bench):
    def after(step: int, runs: list[Run]) -> None:
        runs[0].stop(0, "cancelled")

    [chunks] = machine.together(Work((Prompt([1] * 100),), Sampling(n_predict=5, n=2)), after=after)

    assert [(c.stop, c.usage.generated) for c in chunks if c.index == 0] == [("cancelled", 0)]
    assert [c.usage.generated for c in chunks if c.index == 1 and c.stop] == [5]


@pytest.mark.parametrize("at", [0, 6])
def test_a_request_that_is_stopped_ends_all_its_candidates(machine: Bench, at: int):
    def after(step: int, runs: list[Run]) -> None:
        if step == at:
            runs[0].stop(None, "cancelled")

    [chunks] = machine.together(Work((Prompt([1] * 100),), Sampling(n_predict=50, n=2)), after=after)

    ends: list[tuple[int, Stop]] = [(chunk.index, chunk.stop) for chunk in chunks if chunk.stop]
    assert ends == [(0, "cancelled"), (1, "cancelled")]


def test_requests_in_one_batch_get_what_they_get_alone(machine: Bench):
    prompts = [f"def {name}(value):\n    return " for name in ("f", "gg", "hhh", "iiii")]
    alone = [machine.run(prompt, Sampling(n_predict=16))[0] for prompt in prompts]
    machine.forget()
    works = [Work((Prompt(machine.llama.tokenize(prompt)),), Sampling(n_predict=16)) for prompt in prompts]

    said = machine.together(*works)

    assert ["".join(chunk.text for chunk in chunks) for chunks in said] == alone


def test_a_prompt_that_is_being_read_twice_is_read_once(machine: Bench):
    tokens = list(range(2, 202))
    works = [Work((Prompt(tokens),), Sampling(n_predict=1)) for _ in range(2)]

    said = machine.together(*works)

    assert sorted(chunks[-1].usage.evaluated for chunks in said) == [1, 200]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_drafts_change_when_tokens_come_and_never_which(machine: Bench, temperature: float):
    # a random model repeats itself soon
    sampling = Sampling(n_predict=120, temperature=temperature, top_k=3, seed=4)
    prompt = "return value\n" * 6

    text, last = machine.run(prompt, sampling)
    machine.forget()
    plain, slow = machine.run(prompt, replace(sampling, lookup=False))

    assert text == plain
    assert (slow.usage.drafted, slow.usage.generated) == (0, last.usage.generated)
    if not temperature:
        assert 0 < last.usage.accepted <= last.usage.drafted


def test_the_likeliest_tokens_are_told_with_their_probabilities(machine: Bench):
    [chunks] = machine.together(Work((Prompt(machine.llama.tokenize(PROMPT)),), Sampling(n_predict=3, top_logprobs=4)))

    said = [item for chunk in chunks for item in chunk.logprobs]
    assert len(said) == 3
    for item in said:
        assert item.top[0] == (item.text, item.logprob)
        values = [value for _, value in item.top]
        assert values == sorted(values, reverse=True)
        assert len(values) == 4
        assert sum(math.exp(value) for value in values) < 1


def test_of_several_prompts_the_first_that_is_cheap_enough_is_taken(machine: Bench):
    long, short = Prompt([1] * 60), Prompt([2] * 8)
    [cold] = machine.together(Work((long, short), Sampling(n_predict=1), budget_ms=35.0))
    machine.run(long.tokens, Sampling(n_predict=0))
    [warm] = machine.together(Work((long, short), Sampling(n_predict=1), budget_ms=35.0))
    [unhurried] = machine.together(Work((Prompt([3] * 60), short), Sampling(n_predict=1)))

    assert [chunks[-1].usage.rung for chunks in (cold, warm, unhurried)] == [1, 0, 0]
    assert [chunks[-1].usage.evaluated for chunks in (cold, warm, unhurried)] == [8, 0, 60]


def test_only_what_every_request_allowed_may_be_saved(machine: Bench):
    machine.run([1] * 20, owner=Owner(persist=True))
    assert [slot.persist for slot in machine.kv.slots if slot.tokens] == [True]
    machine.run([1] * 20 + [2], owner=Owner(persist=False))
    machine.run([1] * 20 + [2, 3], owner=Owner(persist=True))

    # what continues a sequence that may not be written may not either
    assert [slot.persist for slot in machine.kv.slots if slot.tokens] == [True, False, False]


@pytest.mark.parametrize("prefix", ["def f():\n    ret", "def f():\n    ", "x = valu", "print(va", "a\t\t", "é"])
def test_the_healed_text_comes_first_and_is_not_part_of_the_answer(machine: Bench, prefix: str):
    sampling = Sampling(n_predict=12)
    work = assemble(machine.llama, Infill(Around(prefix, "\n\nprint(f())\n"), sampling=sampling), "suffix-first")
    [prompt] = work.prompts
    text, last = machine.run(prompt.tokens, sampling, prompt.forced)

    slot = max(machine.kv.slots, key=lambda slot: slot.used)
    resident = b"".join(machine.llama.piece(token) for token in slot.tokens[len(prompt.tokens) :])
    assert resident.startswith(prompt.forced)
    assert prompt.forced
    shown = Text(()).add(resident[len(prompt.forced) :])
    assert text.startswith(shown)
    assert last.stop == "limit"
    assert last.usage.generated == 12


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text("abeinrst_ ", min_size=1, max_size=9), min_size=1, max_size=4), st.booleans())
def test_keys_of_a_word_are_answered_as_if_nothing_had_been_typed_before(
    machine: Bench, words: list[str], deleted: bool
):
    sampling = Sampling(n_predict=6)
    typed = [word[:size] for word in words for size in range(1, len(word) + 1)]
    typed += reversed(typed) if deleted else ()
    machine.forget()
    warm = [machine.run(PROMPT, sampling, text.encode()) for text in typed]

    size = len(machine.llama.tokenize(PROMPT))
    for number, (text, (said, last)) in enumerate(zip(typed, warm, strict=True)):
        machine.forget()
        alone, fresh = machine.run(PROMPT, sampling, text.encode())
        assert alone == said
        assert last.usage.evaluated <= fresh.usage.evaluated - (size if number else 0)
        # the same key again has nothing to spell
        again = machine.run(PROMPT, sampling, text.encode())[1].usage
        assert (again.evaluated, again.evaluated + again.reused) == (0, fresh.usage.evaluated)


def test_what_healing_spelled_is_not_spelled_again(machine: Bench):
    sampling = Sampling(n_predict=6)
    machine.run(PROMPT, sampling, b"abeinrst")
    _, first = machine.run(PROMPT, sampling, b"abeinrst_")
    _, second = machine.run(PROMPT, sampling, b"abeinrst_")

    before = len(machine.llama.tokenize(PROMPT))
    # of the ninth letter nothing was known, of all nine everything
    assert before < first.usage.reused < second.usage.reused
    assert first.usage.evaluated + first.usage.reused == second.usage.reused
    assert second.usage.evaluated == 0


def test_who_wants_no_tokens_has_the_healing_evaluated(machine: Bench):
    text, warmed = machine.run(PROMPT, Sampling(n_predict=0), b"abeinrst")
    [*chunks, last] = machine.together(
        Work((Prompt(machine.llama.tokenize(PROMPT), b"abeinrst"),), Sampling(n_predict=6))
    )[0]

    assert (text, warmed.usage.generated, warmed.stop) == ("", 0, "limit")
    assert warmed.usage.evaluated > len(machine.llama.tokenize(PROMPT))
    assert (last.usage.evaluated, last.usage.reused) == (0, warmed.usage.evaluated)
    # what comes first is of the answer
    assert chunks[0].text
    machine.forget()
    alone = machine.run(PROMPT, Sampling(n_predict=6), b"abeinrst")[0]
    assert "".join(chunk.text for chunk in (*chunks, last)) == alone


def test_who_asks_for_probabilities_gets_those_of_every_token(machine: Bench):
    told = Sampling(n_predict=6, top_logprobs=0)
    machine.run(PROMPT, Sampling(n_predict=6), b"abeinrst")

    assert machine.run(PROMPT, told, b"abeinrst")[1].usage.reused == len(machine.llama.tokenize(PROMPT))


def test_where_nothing_can_be_taken_back_nothing_is_spelled_ahead(machine: Bench):
    machine.kv.cuts = False
    size = len(machine.llama.tokenize(PROMPT))
    _, warmed = machine.run(PROMPT, Sampling(n_predict=0), b"abeinrst")
    _, other = machine.run(PROMPT, Sampling(n_predict=2), b"xyz")

    assert (warmed.usage.evaluated, other.usage.reused) == (size, size)


def test_what_was_spelled_is_known_after_it_was_parked(machine: Bench):
    sampling = Sampling(n_predict=6)
    machine.lot = machine.model.lot = Lot(machine.llama, 1024)
    machine.kv.leaving = lambda slot: machine.lot.take(slot, machine.kv.slots) if machine.lot else None
    said, first = machine.run(PROMPT * 3, sampling, b"abeinrst")
    [used] = [slot for slot in machine.kv.slots if slot.tokens]
    machine.kv.leaving(used)
    machine.kv.forget(used)
    again, last = machine.run(PROMPT * 3, sampling, b"abeinrst")

    assert (again, last.usage.evaluated, last.usage.reused) == (said, 0, first.usage.evaluated)


def test_what_was_drawn_is_no_guide_to_what_is_likeliest(machine: Bench):
    alone = machine.run(PROMPT, Sampling(n_predict=6), b"abe")[0]
    machine.forget()
    drawn = Sampling(n_predict=6, temperature=2.0)
    first = machine.run(PROMPT, drawn, b"ab")[0]
    assert machine.run(PROMPT, Sampling(n_predict=6), b"abe")[0] == alone
    assert machine.run(PROMPT, drawn, b"ab")[0] == first


@pytest.mark.parametrize("forced", ["é = 日本", "q", " return"])
def test_forced_text_is_no_part_of_what_was_asked_for(machine: Bench, forced: str):
    text, last = machine.run(PROMPT, Sampling(n_predict=1), forced.encode())

    assert text
    assert last.stop == "limit"
    assert last.usage.generated == 1


def test_a_grammar_is_not_passed_by_on_the_way_out_of_forced_text(machine: Bench):
    for seed in range(20):
        sampling = Sampling(n_predict=12, temperature=2.0, seed=seed, grammar="root ::= [0-9] [0-9]")
        assert re.fullmatch("[0-9]{2}", machine.run(PROMPT, sampling, b"  valu")[0])


def test_a_grammar_that_allows_no_token_ends_the_answer(machine: Bench):
    for temperature in (0.0, 1.0):
        text, last = machine.run(PROMPT, Sampling(temperature=temperature, grammar='root ::= "ab\\x00"'))
        assert (text.rstrip("\0"), last.stop) in (("ab", "eos"), ("", "eos"))


def test_a_prompt_that_took_long_to_read_has_its_own_logits(machine: Bench, monkeypatch: pytest.MonkeyPatch):
    """While it was read, more sequences were done than logits are kept for."""
    monkeypatch.setattr(held, "ROWS", 1)
    slow = Work((Prompt(list(range(5, 105))),), Sampling(n_predict=6))
    [alone] = machine.together(slow)
    machine.forget()

    def after(step: int, runs: list[Run]) -> None:
        if step == 0:
            for kind in (110, 120):
                run = Run(machine.model, Work((Prompt([kind] * 5),), Sampling(n_predict=0)), lambda _: None)
                while not run.done:
                    slot, tokens, _ = run.part(5)
                    machine.llama.decode([Row(slot.seq, len(slot.tokens), tokens)])
                    run.evaluated(tokens, len(tokens) - 1)

    [beside] = machine.together(slow, after=after)
    assert [chunk.text for chunk in beside] == [chunk.text for chunk in alone]


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


def test_a_grammar_holds_at_any_temperature(machine: Bench):
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


@pytest.mark.parametrize("tries", [0, 8])
@pytest.mark.parametrize("temperature", [0.0, 2.0])
def test_a_mark_is_no_way_out_of_a_grammar(
    llama: Llama, temperature: float, tries: int, monkeypatch: pytest.MonkeyPatch
):
    """It is written as text that the grammar allows, and would end the answer in the middle of it."""
    monkeypatch.setattr(Sampler, "TRIES", tries)
    grammar = 'root ::= [^\\n]+ "\\n"'
    sampler = Sampler(llama, temperature=temperature, seed=1, top_k=40, top_p=0.95, grammar=grammar)
    logits = np.zeros(llama.n_vocab, np.float32)
    logits[llama.marks] = 9.0
    token = sampler.sample(logits)
    sampler.close()

    assert len(llama.marks)
    assert all(llama.ends(int(mark)) for mark in llama.marks)
    assert token is not None
    assert not llama.ends(token)


def test_an_exhausted_grammar_ends_the_answer(machine: Bench):
    text, last = machine.run(PROMPT, Sampling(n_predict=50, temperature=2.0, grammar='root ::= "value" [0-9] "é"'))

    assert re.fullmatch("value[0-9]é", text)
    assert last.stop == "eos"


@pytest.mark.parametrize("grammar", ["root ::= (", "other ::= [a-z]", "root ::= missing", "root ::= \ud800 ("])
def test_a_grammar_that_is_none_is_refused(machine: Bench, grammar: str):
    with pytest.raises(EngineRefused, match="grammar"):
        machine.run(PROMPT, Sampling(grammar=grammar))
    assert machine.run(PROMPT)[0]


def test_a_prompt_that_cannot_fit_is_refused(machine: Bench):
    with pytest.raises(EngineRefused, match="1024"):
        machine.run([5] * 1000, Sampling(n_predict=100))


def test_a_stop_string_without_an_encoding_occupies_nothing_for_ever(machine: Bench):
    for _ in range(machine.llama.n_seq + 1):
        assert machine.run(PROMPT, Sampling(n_predict=3, stop=("\ud800",)))[1].stop == "limit"


def test_confidence_is_the_probability_of_each_token_and_costs_no_evaluation(machine: Bench):
    prompt = Prompt(machine.llama.tokenize(PROMPT))
    [exact] = machine.together(Work((prompt,), Sampling(n_predict=6, top_logprobs=0)))
    [chunks] = machine.together(Work((prompt,), Sampling(n_predict=6, confidence=True)))

    def said(chunks: list[Chunk]) -> list[tuple[str, float]]:
        return [(item.text, round(item.logprob, 4)) for chunk in chunks for item in chunk.logprobs]

    assert said(chunks) == said(exact)
    assert len(said(chunks)) == 6
    assert chunks[-1].usage.evaluated == 0


def test_confidence_in_a_healed_word_is_among_what_agrees_with_it(machine: Bench):
    told = Sampling(n_predict=6, confidence=True)
    machine.run(PROMPT, Sampling(n_predict=6), b"abeinrst")
    size = len(machine.llama.tokenize(PROMPT))
    [healed] = machine.together(Work((Prompt(machine.llama.tokenize(PROMPT), b"abeinrst"),), told))
    [plain] = machine.together(Work((Prompt(machine.llama.tokenize(PROMPT)),), told))

    # what healing evaluated before is had again, as it is without
    assert healed[-1].usage.reused > size
    assert all(item.logprob <= 1e-6 for chunk in (*healed, *plain) for item in chunk.logprobs)
    [first, *_] = healed[0].logprobs
    row = np.array([0.0, 1.0, 2.0, 8.0], np.float32)
    assert confidence(row, 2) < confidence(row, 2, np.array([1, 2], np.int32)) < 0
    assert first.text.endswith(healed[0].text)
