"""Tests of one request from the prompt to the last chunk, with real logits."""

import math
import random
from dataclasses import replace

import pytest

from lsp_harness.engine.cache import cached_sequence
from lsp_harness.engine.decode.generation import RunningRequest
from lsp_harness.engine.decode.llama import TokenRow
from lsp_harness.engine.decode.model_runtime import Prompt, TokenRequest
from lsp_harness.errors import EngineRefused
from lsp_harness.inference.request import Chunk, Owner, Sampling, Stop

from .conftest import PROMPT, Bench


def test_without_temperature_the_answer_is_always_the_same(machine: Bench):
    first, last = machine.run(PROMPT, Sampling(n_predict=40))
    machine.forget()

    assert machine.run(PROMPT, Sampling(n_predict=40, seed=9))[0] == first
    assert (last.stop, last.usage.generated) == ("limit", 40)


def test_the_same_prompt_is_not_evaluated_again(machine: Bench):
    first, cold = machine.run(PROMPT)
    again, warm = machine.run(PROMPT)
    size = len(machine.llama.vocabulary.tokenize(PROMPT))

    assert again == first
    assert (cold.usage.evaluated, cold.usage.reused) == (size, 0)
    assert (warm.usage.evaluated, warm.usage.reused) == (0, size)


def test_logits_of_prompts_are_kept_only_for_the_latest_sequences(machine: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cached_sequence, "MAX_LOGITS_ROWS", 1)
    machine.run("def f")
    machine.run("class")

    assert machine.run("class")[1].usage.evaluated == 0
    assert machine.run("def f")[1].usage.evaluated == 1


def test_a_longer_prompt_evaluates_only_its_new_tokens(machine: Bench):
    tokens = machine.llama.vocabulary.tokenize(PROMPT)
    machine.run(tokens)
    resident = machine.kv.slots[0].tokens
    new = [next(token for token in (5, 6) if token != resident[len(tokens)]), 7, 8]

    text, last = machine.run([*tokens, *new])

    assert (last.usage.evaluated, last.usage.reused) == (3, len(tokens))
    machine.forget()
    assert machine.run([*tokens, *new])[0] == text


def test_an_accepted_answer_is_not_evaluated_again(machine: Bench):
    tokens = machine.llama.vocabulary.tokenize(PROMPT)
    machine.run(tokens, Sampling(n_predict=20))
    # the last token sampled was never evaluated
    accepted = list(machine.kv.slots[0].tokens)
    assert len(accepted) == len(tokens) + 19

    _, last = machine.run([*accepted, 7])

    assert (last.usage.evaluated, last.usage.reused) == (1, len(accepted))


def test_an_answer_does_not_depend_on_the_cached_sequences(machine: Bench):
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


def test_an_answer_ends_before_its_stop_string(machine: Bench):
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
def test_an_answer_has_no_more_tokens_than_requested(machine: Bench, count: int):
    _, last = machine.run(PROMPT, Sampling(n_predict=count))

    assert (last.stop, last.usage.generated) == ("limit", count)


def test_a_request_for_no_tokens_warms_the_cache(machine: Bench):
    text, _ = machine.run(PROMPT, Sampling(n_predict=0))

    assert text == ""
    assert machine.run(PROMPT)[1].usage.evaluated == 0


def test_when_the_time_is_over_the_end_of_a_line_ends_the_text(machine: Bench):
    # enough of them that no machine writes them all within a millisecond
    many = 60
    lines = Sampling(n_predict=900, grammar=f'root ::= "{"return" + chr(92) + "n"}"{{{many}}}')

    assert machine.run(PROMPT, lines)[0] == "return\n" * many
    text, last = machine.run(PROMPT, replace(lines, t_max_predict_ms=1))
    whole = text.rstrip("retun")
    assert (whole, last.stop) == ("return\n" * whole.count("\n"), "deadline")
    assert 0 < whole.count("\n") < many


def test_a_line_that_is_not_complete_has_all_the_time(machine: Bench):
    line = Sampling(n_predict=900, grammar='root ::= "return return return"', t_max_predict_ms=1)

    text, last = machine.run(PROMPT, line)

    assert (text, last.stop) == ("return return return", "eos")


def test_candidates_share_the_prompt_and_repeat_themselves(machine: Bench):
    work = TokenRequest(
        (Prompt(machine.llama.vocabulary.tokenize(PROMPT * 3)),), Sampling(n_predict=12, n=4, temperature=1.0, seed=5)
    )
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
    assert machine.kv.used_cells == size + 4 * 11
    alone = [machine.run(PROMPT * 3, Sampling(n_predict=12, temperature=1.0, seed=5 + n))[0] for n in range(4)]
    assert alone == first


def test_a_candidate_can_be_stopped_alone(machine: Bench):
    def after(step: int, runs: list[RunningRequest]) -> None:
        if step == 4:
            runs[0].stop(1, "cancelled")

    work = TokenRequest((Prompt([1] * 30),), Sampling(n_predict=20, n=3, temperature=1.0))
    [chunks] = machine.together(work, after=after)

    ends = {chunk.index: (chunk.stop, chunk.usage.generated) for chunk in chunks if chunk.stop}
    assert ends == {0: ("limit", 20), 1: ("cancelled", 5), 2: ("limit", 20)}


def test_a_candidate_that_is_stopped_before_the_prompt_is_read_has_no_text(machine: Bench):
    def after(step: int, runs: list[RunningRequest]) -> None:
        runs[0].stop(0, "cancelled")

    [chunks] = machine.together(TokenRequest((Prompt([1] * 100),), Sampling(n_predict=5, n=2)), after=after)

    assert [(c.stop, c.usage.generated) for c in chunks if c.index == 0] == [("cancelled", 0)]
    assert [c.usage.generated for c in chunks if c.index == 1 and c.stop] == [5]


@pytest.mark.parametrize("at", [0, 6])
def test_stopping_a_request_ends_all_its_candidates(machine: Bench, at: int):
    def after(step: int, runs: list[RunningRequest]) -> None:
        if step == at:
            runs[0].stop(None, "cancelled")

    [chunks] = machine.together(TokenRequest((Prompt([1] * 100),), Sampling(n_predict=50, n=2)), after=after)

    ends: list[tuple[int, Stop]] = [(chunk.index, chunk.stop) for chunk in chunks if chunk.stop]
    assert ends == [(0, "cancelled"), (1, "cancelled")]


def test_requests_in_one_batch_get_the_same_answers_as_alone(machine: Bench):
    prompts = [f"def {name}(value):\n    return " for name in ("f", "gg", "hhh", "iiii")]
    alone = [machine.run(prompt, Sampling(n_predict=16))[0] for prompt in prompts]
    machine.forget()
    works = [
        TokenRequest((Prompt(machine.llama.vocabulary.tokenize(prompt)),), Sampling(n_predict=16)) for prompt in prompts
    ]

    result = machine.together(*works)

    assert ["".join(chunk.text for chunk in chunks) for chunks in result] == alone


def test_a_prompt_that_is_being_read_twice_is_read_once(machine: Bench):
    tokens = list(range(2, 202))
    works = [TokenRequest((Prompt(tokens),), Sampling(n_predict=1)) for _ in range(2)]

    result = machine.together(*works)

    assert sorted(chunks[-1].usage.evaluated for chunks in result) == [1, 200]


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


def test_the_likeliest_tokens_are_returned_with_their_probabilities(machine: Bench):
    [chunks] = machine.together(
        TokenRequest((Prompt(machine.llama.vocabulary.tokenize(PROMPT)),), Sampling(n_predict=3, top_logprobs=4))
    )

    result = [item for chunk in chunks for item in chunk.logprobs]
    assert len(result) == 3
    for item in result:
        assert item.top[0] == (item.text, item.logprob)
        values = [value for _, value in item.top]
        assert values == sorted(values, reverse=True)
        assert len(values) == 4
        assert sum(math.exp(value) for value in values) < 1


def test_the_first_prompt_that_fits_the_time_budget_is_evaluated(machine: Bench):
    long, short = Prompt([1] * 60), Prompt([2] * 8)
    [cold] = machine.together(TokenRequest((long, short), Sampling(n_predict=1), budget_ms=35.0))
    machine.run(long.tokens, Sampling(n_predict=0))
    [warm] = machine.together(TokenRequest((long, short), Sampling(n_predict=1), budget_ms=35.0))
    [unhurried] = machine.together(TokenRequest((Prompt([3] * 60), short), Sampling(n_predict=1)))

    assert [chunks[-1].usage.rung for chunks in (cold, warm, unhurried)] == [1, 0, 0]
    assert [chunks[-1].usage.evaluated for chunks in (cold, warm, unhurried)] == [8, 0, 60]


def test_a_sequence_may_be_saved_only_if_every_request_allows_it(machine: Bench):
    machine.run([1] * 20, owner=Owner(persist=True))
    assert [slot.persist for slot in machine.kv.slots if slot.tokens] == [True]
    machine.run([1] * 20 + [2], owner=Owner(persist=False))
    machine.run([1] * 20 + [2, 3], owner=Owner(persist=True))

    # what continues a sequence that may not be written may not either
    assert [slot.persist for slot in machine.kv.slots if slot.tokens] == [True, False, False]


def test_a_prompt_that_took_long_to_read_is_answered_by_its_own_logits(machine: Bench, monkeypatch: pytest.MonkeyPatch):
    """While the prompt was read, more sequences ended than logits are kept for."""
    monkeypatch.setattr(cached_sequence, "MAX_LOGITS_ROWS", 1)
    slow = TokenRequest((Prompt(list(range(5, 105))),), Sampling(n_predict=6))
    [alone] = machine.together(slow)
    machine.forget()

    def after(step: int, runs: list[RunningRequest]) -> None:
        if step == 0:
            for kind in (110, 120):
                run = RunningRequest(
                    machine.model, TokenRequest((Prompt([kind] * 5),), Sampling(n_predict=0)), lambda _: None
                )
                while not run.is_done:
                    slot, tokens, _ = run.next_part(5)
                    machine.llama.decode([TokenRow(slot.seq, len(slot.tokens), tokens)])
                    run.on_evaluated(tokens, len(tokens) - 1)

    [beside] = machine.together(slow, after=after)
    assert [chunk.text for chunk in beside] == [chunk.text for chunk in alone]


def test_a_prompt_that_cannot_fit_is_refused(machine: Bench):
    with pytest.raises(EngineRefused, match="1024"):
        machine.run([5] * 1000, Sampling(n_predict=100))


def test_a_stop_string_without_an_encoding_keeps_no_sequence_busy(machine: Bench):
    for _ in range(machine.llama.n_seq + 1):
        assert machine.run(PROMPT, Sampling(n_predict=3, stop=("\ud800",)))[1].stop == "limit"


def test_the_first_candidate_can_be_the_most_likely_text(machine: Bench):
    greedy, _ = machine.run(PROMPT, Sampling(n_predict=12))
    sampling = Sampling(n_predict=12, temperature=2.0, seed=4, n=3)

    def texts(sampling: Sampling) -> list[str]:
        machine.forget()
        [chunks] = machine.together(TokenRequest((Prompt(machine.llama.vocabulary.tokenize(PROMPT)),), sampling))
        return ["".join(chunk.text for chunk in chunks if chunk.index == index) for index in range(3)]

    first, *others = texts(sampling)
    assert first != greedy
    assert texts(replace(sampling, greedy_first=True)) == [greedy, *others]


def test_confidence_is_the_probability_of_each_token_and_costs_no_evaluation(machine: Bench):
    prompt = Prompt(machine.llama.vocabulary.tokenize(PROMPT))
    [exact] = machine.together(TokenRequest((prompt,), Sampling(n_predict=6, top_logprobs=0)))
    [chunks] = machine.together(TokenRequest((prompt,), Sampling(n_predict=6, confidence=True)))

    def rounded_logprobs(chunks: list[Chunk]) -> list[tuple[str, float]]:
        return [(item.text, round(item.logprob, 4)) for chunk in chunks for item in chunk.logprobs]

    assert rounded_logprobs(chunks) == rounded_logprobs(exact)
    assert len(rounded_logprobs(chunks)) == 6
    assert chunks[-1].usage.evaluated == 0
